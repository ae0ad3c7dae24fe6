import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { workloadLines } from "@/server/workloads/workloadLines";
import { policySchema } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
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

test("the winner is written into a policy with its calibration, and flags that write nothing are refused", async () => {
  const workload = workloadFile(300);
  const policy = join(folder, "policy.json");
  const stages = ["qwen2.5-3b", "qwen2.5-7b"].map((model) => ({ model }));
  writeFileSync(policy, JSON.stringify({ ...examplePlanDraft().policy, stages }));
  const { code, stderr } = await weir("gates", "--workload", workload, "--write", policy);
  expect([code, stderr]).toEqual([0, "Stage 1, qwen2.5-3b: smallest token probability, calibrated on 210 prompts.\n"]);
  expect(policySchema.parse(JSON.parse(readFileSync(policy, "utf8")))).toMatchObject({ gates: [{ kind: "confidence", calibration: {} }] });
  const agreement = await weir("gates", "--workload", workload, "--write", policy, "--gate", "agreement");
  expect([agreement.code, agreement.stderr]).toEqual([2, expect.stringContaining("stage 1: there is no gate agreement in the tournament")]);
  const nowhere = await weir("gates", "--workload", workload, "--stage", "1");
  expect([nowhere.code, nowhere.stderr]).toEqual([
    2,
    "--stage and --gate say which gate is written: give the plan or policy with --write.\n",
  ]);
});
