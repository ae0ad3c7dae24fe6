import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { workloadLines } from "@/server/workloads/workloadLines";
import { generatedWorkload } from "@/solver/workload/generated";
import { weirIn } from "../testing/testWeir";

const folder = mkdtempSync(join(tmpdir(), "weir-gates-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const weir = weirIn(folder);

function workloadFile(prompts: number): string {
  const workload = generatedWorkload({ prompts, seed: 1 });
  const models = workload.outcomes.models.map((model) => ({ ...model, confidence: model.label.map((label) => (label === 100 ? 90 : 40)) }));
  const path = join(folder, `${prompts}.jsonl`);
  writeFileSync(path, [...workloadLines({ ...workload, outcomes: { ...workload.outcomes, models } })].join(""));
  return path;
}

test("gates of each stage are compared, and the surest wins", async () => {
  const path = workloadFile(300);
  const { code, stdout, stderr } = await weir("gates", "--workload", path, "--judge-seconds", "0.3");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("calibrated on 210 prompts, measured on 90 others");
  expect(stdout).toMatch(/qwen2\.5-3b \(quality [\d.]+\) before qwen2\.5-7b/);
  expect(stdout).toMatch(/judge \(modelled\) .* tokens, 0\.30 s/);
  const json = await weir("gates", "--workload", path, "--share", "0.3", "--json");
  const { share, stages } = JSON.parse(json.stdout);
  expect(share).toBe(0.3);
  expect(stages).toHaveLength(2);
  expect(stages[0].gates[0]).toMatchObject({ name: "confidence", modelled: false, auc: { value: 1 } });
  expect(stages[0].gates[0].riskCoverage.curve).toHaveLength(20);
});

test("too few prompts, and a share that sends nothing on, are refused with a reason", async () => {
  const few = await weir("gates", "--workload", workloadFile(40));
  expect([few.code, few.stderr]).toEqual([2, "40 prompts are too few: gates are compared on at least 20 held-out prompts.\n"]);
  expect((await weir("gates", "--workload", workloadFile(40), "--share", "0")).code).toBe(2);
});
