import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { generatedWorkload } from "@/solver/workload/generated";
import { weirIn } from "../testing/testWeir";

const folder = mkdtempSync(join(tmpdir(), "weir-compare-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, "outcomes.csv");
const { outcomes } = generatedWorkload({ prompts: 300, seed: 3 });
const rows = outcomes.models.slice(0, 2).flatMap(({ model, label, outputTokens }, rank) =>
  outcomes.promptIds.map((id, prompt) => {
    const lengths = [outcomes.inputTokens[prompt], "Fam", rank, model];
    return ["t", "correct", id, "t", ...lengths, (label[prompt] ?? 0) / 100, outputTokens[prompt]].join(",");
  }),
);
writeFileSync(file, `task,metric,prompt_id,category,in_tok,family,size_rank,model,score,out_tok\n${rows.join("\n")}\n`);

const weir = weirIn(folder);
const hardware = ["--gpu", "h100-sxm", "--nodes", "2", "--gpus-per-node", "4"];
const compare = (...args: readonly string[]) =>
  weir("compare", "--baselines", "--outcomes", file, ...hardware, "--requests", "400", ...args);

test("compare measures the plan and its baselines on the same traffic, the same each time, and says which cannot reach a floor", async () => {
  const asked = ["--rate", "40", "--quality", "40,100", "--json"] as const;
  const [first, second] = await Promise.all([compare(...asked), compare(...asked)]);
  expect(first.code).toBe(0);
  expect(second.stdout).toBe(first.stdout);
  expect(first.stderr).toContain("floor 40");
  const { cases, means } = JSON.parse(first.stdout);
  const [reached, missed] = cases;
  expect(reached.systems[0].kind).toBe("Weir");
  expect(reached.systems.map((system: { kind: string }) => system.kind)).toEqual(expect.arrayContaining(["stand-alone", "router"]));
  for (const system of reached.systems) {
    expect(system.sloScale).toBeCloseTo(system.p95Seconds / reached.baseSeconds, 9);
    expect(system.against.sloScale).toBeCloseTo(system.sloScale / reached.systems[0].sloScale, 9);
    expect(system.gpus).toBeLessThanOrEqual(8);
  }
  expect(reached.oracle.gain).toBeGreaterThan(0);
  expect(reached.oracle.noiseFloor).toBe(null);
  expect(missed.systems).toEqual([]);
  expect(missed.refused[0].reason).toContain("floor of 100");
  expect(means.find((mean: { kind: string }) => mean.kind === "Weir").sloScale).toBe(1);
});

test("a load in place of a rate finds one that loads the plan's busiest stage so far", async () => {
  const { code, stdout } = await compare("--load", "0.6..0.9", "--quality", "40", "--json");
  expect(code).toBe(0);
  const [ours] = JSON.parse(stdout).cases[0].systems;
  // Found on the planning half, read on the other: its answers may be slightly longer or shorter.
  expect(ours.busiestLoad).toBeGreaterThan(0.5);
  expect(ours.busiestLoad).toBeLessThan(1);
});

test("flags that do not go together are refused with a sentence, and a floor that nothing reaches exits with 3", async () => {
  const both = await compare("--rate", "40", "--load", "0.6..0.9", "--quality", "40");
  expect([both.code, both.stderr]).toEqual([2, "Give one of --rate and --load.\n"]);
  const backwards = await compare("--load", "0.9..0.6", "--quality", "40");
  expect(backwards.code).toBe(2);
  expect(backwards.stderr).toContain("the lower first");
  const judging = await compare("--rate", "40", "--quality", "40", "--judge-engine", "llama-3.1-8b");
  expect([judging.code, judging.stderr]).toEqual([
    2,
    "--judge-engine: baselines are planned with a judge outside the cluster: give its time by --judge-seconds.\n",
  ]);
  const unreachable = await compare("--rate", "40", "--quality", "100");
  expect(unreachable.code).toBe(3);
  expect(unreachable.stdout).toContain("floor of 100");
  expect(unreachable.stdout).toMatch(/The best answer to each prompt: quality \d.* above the best model alone; no model answered twice/);
});
