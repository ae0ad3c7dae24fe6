import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { brokenConstraints } from "@/solver/deployment/testing/testBrokenConstraints";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import { planSchema } from "@/solver/plan/plan";
import { modelsOf } from "@/solver/plan/policySchema";
import { describePlan } from "./describe/describePlan";
import { generatedTable, writeOutcomes } from "./testing/outcomesCsv";
import { weirIn } from "./testing/testWeir";
import { writeShortTrace } from "./testing/writeShortTrace";

const folder = mkdtempSync(join(tmpdir(), "weir-constraints-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const weir = weirIn(folder);

const written = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

const [small = "", middle = "", large = ""] = generatedTable.models.map(({ model }) => model);
const outcomes = writeOutcomes(folder, "outcomes.csv");
const hardware = ["--gpu", "l40s", "--nodes", "2", "--gpus-per-node", "4"];
const workload = ["--outcomes", outcomes, "--arrivals", writeShortTrace(folder)];
const asked = [...workload, "--rate", "20", "--quality", "40"];
const plan = (...more: readonly string[]) => weir("plan", ...asked, ...hardware, ...more);

const planned = async (...more: readonly string[]) => {
  const { code, stdout, stderr } = await plan(...more, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return planSchema.parse(JSON.parse(stdout));
};

test("a file and flags add up, the plan keeps them all and says what was asked", async () => {
  const file = written("asked.yaml", `excluded: [${small}]\nmaxUsdPerHour: 1000\n`);
  const document = await planned("--constraints", file, "--pin", `${large}:1`, "--max-gpus", "6");
  expect(document.inputs.constraints).toMatchObject({ excluded: [small], pinned: [{ model: large, replicas: 1 }], maxGpus: 6 });
  const models = document.deployment.map(({ model }) => model);
  expect(models).toContain(large);
  expect(models).not.toContain(small);
  expect(document.deployment.reduce((sum, { gpus }) => sum + gpus, 0)).toBeLessThanOrEqual(6);
  expect(describePlan(document)).toContain(`asked: at least 1 of ${large}; no replica of ${small}; at most 1000 USD/hour; at most 6 GPUs`);
});

test("every kind of constraint of a file binds", async () => {
  const constraints = planConstraintsSchema.parse({
    ...{ excluded: [small], pinned: [{ model: middle, replicas: 2 }], shapes: [{ model: large, tp: 2 }] },
    ...{ nodes: [{ model: middle, only: ["node1", "node2"] }], minReplicasPerModel: 2, surviveNodeLoss: true },
    ...{ maxUsdPerHour: 1000, maxGpus: 8, idleGpus: false },
  });
  const document = await planned("--constraints", written("every.yaml", JSON.stringify(constraints)));
  expect(document.inputs.constraints).toEqual(constraints);
  expect(brokenConstraints(document, constraints, [])).toEqual([]);
}, 60_000);

test("a plan with at most no change against what runs is what runs", async () => {
  const before = await planned("--shape", `${middle}:tp2`);
  const file = written("before.json", JSON.stringify(before));
  const after = await planned("--running", file, "--max-changes", "0");
  expect(after.deployment.map(({ model, replicas }) => [model, replicas.map(({ placements }) => placements)])).toEqual(
    before.deployment.map(({ model, replicas }) => [model, replicas.map(({ placements }) => placements)]),
  );
  expect(describePlan(after)).toMatch(/of (\d+) replicas that ran \1 stay, 0 stop; 0 start/);
});

test("a cluster of two GPU types is planned as its file describes it", async () => {
  const file = written(
    "mixed.yaml",
    "gpu: l40s\nnodes:\n  - {name: cheap, gpus: 4}\n  - {name: dear, gpus: 2, gpu: h100-sxm}\nusdPerGpuHour: 1\nprices: {h100-sxm: 5}\n",
  );
  const { code, stdout } = await weir("plan", ...asked, "--cluster", file, "--only-nodes", `${middle}:dear`, "--exclude", large, "--json");
  expect(code).toBe(0);
  const { inputs, deployment } = planSchema.parse(JSON.parse(stdout));
  expect(inputs.cluster).toMatchObject({ gpu: "l40s", usdPerGpuHour: 1, otherUsdPerGpuHour: { "h100-sxm": 5 } });
  const group = deployment.find(({ model }) => model === middle);
  expect(group?.replicas.map(({ gpu }) => gpu ?? group.gpu)).toEqual(["h100-sxm"]);
});

test("constraints that conflict end with exit code 3, the conflict and what would do", async () => {
  const conflicting = ["--pin", `${large}:2`, "--max-gpus", "1"];
  const { code, stdout, stderr } = await plan(...conflicting, "--json");
  expect(code).toBe(3);
  expect(stderr).toContain(`at least 2 of ${large}`);
  expect(stderr).toContain("at most 1 GPU (needs ");
  const answer = JSON.parse(stdout);
  expect(answer.outcome).toBe("infeasible");
  expect(answer.conflict.map(({ kind }: { kind: string }) => kind).sort()).toEqual(["maxGpus", "pinned"]);
});

test("the lowest cost keeps the floor and the budget, and costs no more than the lowest latency", async () => {
  const fast = await planned();
  const latency = String(2 * fast.predictions.p95Seconds);
  const cheap = await planned("--cost", "--latency", latency);
  expect(cheap.inputs.objective.kind).toBe("cost-under-both");
  expect(cheap.predictions.qualityBand.low).toBeGreaterThanOrEqual(40);
  expect(cheap.predictions.p95Seconds).toBeLessThanOrEqual(Number(latency));
  expect(cheap.predictions.costUsdPerHour).toBeLessThan(fast.predictions.costUsdPerHour);
});

test("a slack buys a higher bound, or with --cost a lower cost, with the p95 that it allows, and says so", async () => {
  const fast = await planned("--quality", "56");
  const most = 1.5 * fast.predictions.p95Seconds;
  const better = await planned("--quality", "56", "--slack", "0.5");
  expect(better.inputs.objective).toEqual({ ...fast.inputs.objective, slack: 0.5 });
  expect(better.solver.slack).toMatchObject({ slack: 0.5, limitSeconds: most });
  expect(better.predictions.qualityBand.low).toBeGreaterThan(fast.predictions.qualityBand.low);
  expect(better.predictions.p95Seconds).toBeLessThanOrEqual(most);
  const cheap = await planned("--quality", "56", "--slack", "0.5", "--cost");
  expect(cheap.predictions.costUsdPerHour).toBeLessThanOrEqual(fast.predictions.costUsdPerHour);
  expect(cheap.predictions.p95Seconds).toBeLessThanOrEqual(most);
  expect(describePlan(better)).toMatch(/- Slack 50 %: p95 may rise from .*; it buys .* points/);
});

test("a slack without a quality is refused in one sentence", async () => {
  const slack = ["--latency", "5", "--slack", "0.2"];
  const { code, stdout, stderr } = await weir("plan", ...workload, "--rate", "20", ...hardware, ...slack);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("--slack is counted from the fastest plan at a quality: give --quality.");
  expect(stderr.trim().split("\n")).toHaveLength(1);
});

test("a judge that runs as an engine of the plan has GPUs and replicas of its own", async () => {
  // With generated arrivals, under which a cascade is the best plan.
  const judge = ["--judge-engine", "gemma-2-2b", "--judge-rubric-tokens", "200"];
  const { stdout } = await weir("plan", "--outcomes", outcomes, "--rate", "20", "--quality", "56", ...hardware, ...judge, "--json");
  const document = planSchema.parse(JSON.parse(stdout));
  expect(modelsOf(document.policy).length).toBeGreaterThan(1);
  expect(document.policy).toMatchObject({ judge: { model: "gemma-2-2b", engine: { rubricTokens: 200, outputTokens: 8 } } });
  expect(document.deployment.map(({ model }) => model)).toContain("gemma-2-2b");
});

test("the frontier leaves excluded models out and says which constraints its tables do not know", async () => {
  const { code, stdout, stderr } = await weir(
    ...["frontier", ...workload, "--rate", "20", ...hardware, "--json", "--exclude", small, "--survive-node-loss"],
  );
  expect(code).toBe(0);
  expect(stderr).toBe("Estimates by tables, which do not know: the loss of a node. `weir plan` holds them.\n");
  const points: { stages: string[] }[] = JSON.parse(stdout);
  expect(points.length).toBeGreaterThan(0);
  expect(points.flatMap(({ stages }) => stages)).not.toContain(small);
});

test("an explained plan comes with its prices, its sensitivity and what baselines reach", { timeout: 120_000 }, async () => {
  const { code, stdout } = await plan("--explain", "--json");
  expect(code).toBe(0);
  const json = JSON.parse(stdout);
  expect(json.examinations.map(({ kind }: { kind: string }) => kind)).toEqual(["prices", "sensitivity", "baselines"]);
  expect(planSchema.parse(json.plan).inputs.objective.qualityFloor).toBe(40);
});

test("an explained plan comes all the same where a question about it cannot be answered, with the reason", async () => {
  const { code, stdout } = await plan("--explain", "--min-replicas", "1");
  expect(code).toBe(0);
  for (const title of ["Plan ", "Prices", "Baselines"]) expect(stdout).toMatch(new RegExp(`^${title}`, "m"));
  expect(stdout).toContain("this plan keeps constraints on replicas");
});
