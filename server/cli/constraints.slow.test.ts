import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { brokenConstraints } from "@/solver/deployment/testing/testBrokenConstraints";
import { planConstraintsSchema } from "@/solver/plan/constraints";
import { planSchema } from "@/solver/plan/plan";
import { modelsOf } from "@/solver/plan/policySchema";
import { generatedWorkload } from "@/solver/workload/generated";
import { weirIn } from "./testing/testWeir";

const folder = mkdtempSync(join(tmpdir(), "weir-constraints-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const weir = weirIn(folder);

const written = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

const { outcomes: table } = generatedWorkload({ prompts: 300, seed: 3 });
const [small = "", middle = "", large = ""] = table.models.map(({ model }) => model);
const rows = table.models.flatMap(({ model, label, outputTokens }, rank) =>
  table.promptIds.map((id, prompt) => {
    const lengths = [table.inputTokens[prompt], "Fam", rank, model];
    return ["t", "correct", id, "t", ...lengths, (label[prompt] ?? 0) / 100, outputTokens[prompt]].join(",");
  }),
);
const outcomes = written(
  "outcomes.csv",
  `task,metric,prompt_id,category,in_tok,family,size_rank,model,score,out_tok\n${rows.join("\n")}\n`,
);
const hardware = ["--gpu", "l40s", "--nodes", "2", "--gpus-per-node", "4"];
const asked = ["--outcomes", outcomes, "--rate", "20", "--quality", "40"];
const plan = (...more: readonly string[]) => weir("plan", ...asked, ...hardware, ...more);

const planned = async (...more: readonly string[]) => {
  const { code, stdout, stderr } = await plan(...more, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return planSchema.parse(JSON.parse(stdout));
};

describe("constraints that cannot be meant are refused in one sentence that names flag, or file, line and field, with exit code 2", () => {
  const constraints = (name: string, text: string): readonly string[] => ["--constraints", written(name, text)];
  test.each([
    ["a model that is not there", ["--exclude", "qwen"], `--exclude: there is no model "qwen"; known: ${small}, ${middle}, ${large}.`],
    ["a pin without a number", ["--pin", `${small}:two`], "Write model or model:replicas"],
    ["a shape in other words", ["--shape", `${small}:4x2`], "Write model:tpN or model:tpNppM"],
    [
      "a node that is not there",
      ["--never-nodes", `${small}:node1,node9`],
      '--never-nodes: there is no node "node9"; known: node1, node2.',
    ],
    ["a limit on changes against nothing", ["--max-changes", "2"], "name its plan with --running"],
    ["a plan in force that is none", ["--running", written("none.json", '{"kind": "Plan"}')], "none.json line 1: apiVersion: "],
    ["a model pinned and excluded", ["--exclude", small, "--pin", small], `${small} is both pinned and excluded`],
    ["two shapes", ["--shape", `${small}:tp1`, ...constraints("two.yaml", `shapes: [{model: ${small}, tp: 2}]`)], "has two shapes"],
    [
      "two limits",
      ["--max-gpus", "4", ...constraints("limits.yaml", "maxGpus: 6")],
      "--max-gpus 4 contradicts maxGpus 6 of the constraints file",
    ],
    [
      "an unknown field",
      constraints("field.yaml", "excluded: []\npinned:\n  - model: x\n    replica: 2\n"),
      "field.yaml line 4: pinned.0.replica: ",
    ],
    ["a missing field", constraints("missing.yaml", `shapes:\n  - model: ${small}\n`), "missing.yaml line 2: shapes.0.tp: it is missing"],
    ["text that is not YAML", constraints("broken.yaml", "excluded: [a\nnodes: b"), "broken.yaml line 2: not YAML: "],
    ["a judge's tokens without its engine", ["--judge-output-tokens", "8"], "go with --judge-engine"],
    ["a judge of both kinds", ["--judge-engine", small, "--judge-seconds", "1"], "leave out --judge-seconds, --judge-p95 and --judge-usd"],
    ["a judge faster in its slowest calls than on average", ["--judge-seconds", "1", "--judge-p95", "0.5"], "--judge-p95 must lie between"],
    ["a judge without a card", ["--judge-engine", "sage-1b"], '--judge-engine: there is no model card "sage-1b"'],
    ["the lowest cost under one promise only", ["--cost"], "give --quality and --latency"],
    ["a slack above one", ["--slack", "1.5"], "'1.5' is invalid"],
  ] as const)("%s", async (_, more, expected) => {
    const { code, stdout, stderr } = await plan(...more);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(expected);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test.each([
    [
      "a type without a card",
      "gpu: l40s\nnodes:\n  - {name: a, gpus: 4}\n  - {name: b, gpus: 4, gpu: h100x}\n",
      'cluster.yaml line 4: nodes.1.gpu: there is no GPU card "h100x"',
    ],
    [
      "two nodes of one name",
      "gpu: l40s\nnodes:\n  - {name: a, gpus: 4}\n  - {name: a, gpus: 4}\n",
      "cluster.yaml line 4: nodes.1.name: another node is called a",
    ],
    [
      "a price of nothing",
      "gpu: l40s\nnodes: [{name: a, gpus: 4}]\nprices:\n  h100-sxm: 2\n",
      "cluster.yaml line 4: prices.h100-sxm: no node has",
    ],
    ["no nodes", "gpu: l40s\n", "cluster.yaml line 1: nodes: it is missing"],
  ] as const)("a cluster file with %s", async (_, text, expected) => {
    const { code, stderr } = await weir("plan", ...asked, "--cluster", written("cluster.yaml", text));
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
  });

  test("a cluster by file and by flags, and by neither", async () => {
    const file = written("whole.yaml", "gpu: l40s\nnodes: [{name: a, gpus: 4}]\n");
    expect((await plan("--cluster", file)).stderr).toBe("--cluster describes the whole cluster: leave out --gpu.\n");
    expect((await weir("plan", ...asked, "--gpu", "l40s")).stderr).toBe("Give --cluster, or --gpu, --nodes and --gpus-per-node.\n");
  });
});

test("a file and flags add up, the plan keeps them all and says what was asked", async () => {
  const file = written("asked.yaml", `excluded: [${small}]\nmaxUsdPerHour: 1000\n`);
  const document = await planned("--constraints", file, "--pin", `${large}:1`, "--max-gpus", "6");
  expect(document.inputs.constraints).toMatchObject({ excluded: [small], pinned: [{ model: large, replicas: 1 }], maxGpus: 6 });
  const models = document.deployment.map(({ model }) => model);
  expect(models).toContain(large);
  expect(models).not.toContain(small);
  expect(document.deployment.reduce((sum, { gpus }) => sum + gpus, 0)).toBeLessThanOrEqual(6);
  const { stdout } = await plan("--constraints", file, "--pin", `${large}:1`, "--max-gpus", "6");
  expect(stdout).toContain(`asked: at least 1 of ${large}; no replica of ${small}; at most 1000 USD/hour; at most 6 GPUs`);
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
  expect((await plan("--running", file, "--max-changes", "0")).stdout).toMatch(/of (\d+) replicas that ran \1 stay, 0 stop; 0 start/);
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
  const { code, stderr } = await plan(...conflicting);
  expect(code).toBe(3);
  expect(stderr).toContain(`at least 2 of ${large}`);
  expect(stderr).toContain("at most 1 GPU (needs ");
  const json = await plan(...conflicting, "--json");
  expect(json.code).toBe(3);
  const answer = JSON.parse(json.stdout);
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
  expect((await plan("--quality", "56", "--slack", "0.5")).stdout).toMatch(/- Slack 50 %: p95 may rise from .*; it buys .* points/);
});

test("a slack without a quality is refused in one sentence", async () => {
  const slack = ["--latency", "5", "--slack", "0.2"];
  const { code, stdout, stderr } = await weir("plan", "--outcomes", outcomes, "--rate", "20", ...hardware, ...slack);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("--slack is counted from the fastest plan at a quality: give --quality.");
  expect(stderr.trim().split("\n")).toHaveLength(1);
});

test("a judge that runs as an engine of the plan has GPUs and replicas of its own", async () => {
  const document = await planned("--judge-engine", "gemma-2-2b", "--judge-rubric-tokens", "200", "--quality", "56");
  expect(modelsOf(document.policy).length).toBeGreaterThan(1);
  expect(document.policy).toMatchObject({ judge: { model: "gemma-2-2b", engine: { rubricTokens: 200, outputTokens: 8 } } });
  expect(document.deployment.map(({ model }) => model)).toContain("gemma-2-2b");
});

test("the frontier leaves excluded models out and says which constraints its tables do not know", async () => {
  const { code, stdout, stderr } = await weir(
    ...["frontier", "--outcomes", outcomes, "--rate", "20", ...hardware, "--json", "--exclude", small, "--survive-node-loss"],
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
