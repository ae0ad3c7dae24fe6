import { expect, it } from "vitest";
import { planSchema } from "@/solver/plan/plan";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { generatedWorkload } from "@/solver/workload/generated";
import { loadGlpkEngine } from "../planner/glpkEngine";
import { sealPlan } from "../planner/sealPlan";
import type { MixTask } from "./mixTask";
import { planMix } from "./planMix";

const engine = await loadGlpkEngine();
const plan = (task: MixTask) => planMix(task, { engine, nowSeconds: () => performance.now() / 1000, progress: () => undefined });

const workload = generatedWorkload({ prompts: 600, seed: 9 });
const solve = workflowDocumentSchema.parse({
  name: "solve",
  agents: [
    { name: "draft" },
    { name: "check", reads: ["draft"], part: "checks" },
    { name: "revise", reads: ["draft", "check"], part: "revises" },
  ],
});
const vote = workflowDocumentSchema.parse({
  name: "trio",
  agents: [
    ...["a", "b", "c"].map((name) => ({ name, models: ["qwen2.5-7b"] })),
    { name: "tally", reads: ["a", "b", "c"], part: "votes", models: ["qwen2.5-32b"], skip: { extraction: { kind: "choice" }, tau: 0.6 } },
  ],
});
const cluster = {
  ...{ id: "described", name: "2 x 4 l40s", kind: "described" as const, gpu: "l40s", usdPerGpuHour: 1 },
  nodes: [1, 2].map((at) => ({ name: `node${at}`, gpus: 4 })),
};
const task: MixTask = {
  situation: { workload, workloadId: "abc", cluster },
  mix: {
    singles: { requestsPerSecond: 4, qualityFloor: 60 },
    workflows: [
      { workflow: solve, programsPerSecond: 1, qualityFloor: 60 },
      { workflow: vote, programsPerSecond: 0.5, qualityFloor: 40 },
    ],
    selection: { kind: "worth", rightSeconds: 0, delayWeight: 4 },
  },
};

it("plans engines, a policy and its figures for single requests, a workflow and an ensemble on one cluster", () => {
  const made = plan(task);
  if (!made.ok) throw new Error(made.message);
  const sealed = planSchema.parse(sealPlan(made.draft, new Date(0)));
  const { deployment, policy, predictions, inputs } = sealed;
  expect(deployment.reduce((sum, { gpus }) => sum + gpus, 0)).toBeLessThanOrEqual(8);
  expect(inputs.mix).toMatchObject({ singles: task.mix.singles, workflows: [{ name: "solve" }, { name: "trio" }] });
  if (policy.kind !== "just-in-time") throw new Error(policy.kind);
  // Without a predictor each agent has its planned model, on engines of the plan; the ensemble stays as it was declared.
  const deployed = deployment.map(({ model }) => model);
  for (const { workflow } of policy.workflows)
    for (const { models = [] } of workflow.agents) expect([models.length, deployed.includes(models[0] ?? "")]).toEqual([1, true]);
  expect(policy.workflows[1]?.workflow).toEqual(vote);
  expect(policy.singles?.kind).toMatch(/cascade|fixed/);
  const { mix } = predictions;
  expect(mix?.factor).toBeGreaterThan(1.4);
  expect(mix?.unserved).toBe(0);
  for (const { quality, plannedQuality, qualityFloor, p95Seconds, meanSeconds } of mix?.classes ?? []) {
    expect(plannedQuality).toBeGreaterThanOrEqual(qualityFloor - 1e-3);
    expect(quality).toBeGreaterThan(plannedQuality - 5);
    expect(p95Seconds).toBeGreaterThan(meanSeconds);
  }
  expect(mix?.classes.map(({ name }) => name)).toEqual(["single requests", "solve", "trio"]);
  expect(predictions.notes.join(" ")).toContain("Modelled: outcomes of workflows");
  // The same question has the same answer, and the same id.
  const again = plan(task);
  expect(again.ok && sealPlan(again.draft, new Date(0)).id).toBe(sealed.id);
});

it("prices the tokens of a model by the load that the mix puts on it, where that was asked for", () => {
  const made = plan({ ...task, mix: { ...task.mix, selection: { kind: "worth", rightSeconds: 0, delayWeight: 4, priced: true } } });
  if (!made.ok) throw new Error(made.message);
  const { policy, predictions } = planSchema.parse(sealPlan(made.draft, new Date(0)));
  if (policy.kind !== "just-in-time" || policy.selection.kind !== "worth") throw new Error(policy.kind);
  const prices = policy.selection.price?.models ?? [];
  expect(prices.map(({ model }) => model)).toEqual(policy.models.map(({ model }) => model));
  for (const { model, secondsPerToken } of prices)
    expect(secondsPerToken > 0).toBe((predictions.mix?.models.find((own) => own.model === model)?.load ?? 0) > 0);
});

it("leaves a workflow with a predictor its models, and says that its figures know more than a predictor", () => {
  const predictor = "a".repeat(64);
  const made = plan({
    ...task,
    mix: { ...task.mix, singles: null, workflows: [{ workflow: solve, programsPerSecond: 1, qualityFloor: 60, predictor }] },
  });
  if (!made.ok) throw new Error(made.message);
  expect(made.draft.policy).toMatchObject({ workflows: [{ predictor, workflow: solve }] });
  expect(made.draft.policy.singles).toBeUndefined();
  expect(made.draft.predictions.notes.join(" ")).toContain("as no predictor knows it");
});

it("says in a sentence what cannot be planned, and by which kind", () => {
  const asked = (mix: Partial<MixTask["mix"]>, situation: Partial<MixTask["situation"]> = {}) => {
    const made = plan({ ...task, situation: { ...task.situation, ...situation }, mix: { ...task.mix, ...mix } });
    return made.ok ? made : [made.kind, made.message];
  };
  const singles = { requestsPerSecond: 4, qualityFloor: 60 };
  expect(asked({ singles: null, workflows: [] })).toEqual(["malformed", "The mix has neither single requests nor workflows."]);
  expect(asked({ singles: { ...singles, qualityFloor: 99 }, workflows: [] })).toEqual([
    "floor",
    expect.stringMatching(
      /^The quality of single requests reaches \d+\.\d at most by its lower 90 % bound on planning prompts, under the floor of 99: lower it\.$/,
    ),
  ]);
  expect(asked({ singles: { ...singles, requestsPerSecond: 4000 }, workflows: [] })).toEqual([
    "overloaded",
    expect.stringMatching(
      /^2 x 4 l40s carries \d+ % of these rates at most with its 8 GPUs loaded to 85 %: add GPUs, or lower rates or floors\.$/,
    ),
  ]);
  const small = { ...cluster, name: "one l40s", nodes: [{ name: "node1", gpus: 1 }] };
  expect(asked({}, { cluster: small })).toEqual(["malformed", "tally of trio may run on qwen2.5-32b, which fits no node of one l40s."]);
  expect(asked({ workflows: [...task.mix.workflows, ...task.mix.workflows] })).toEqual([
    "malformed",
    "The workflow solve is in the mix twice.",
  ]);
  expect(asked({}, { topology: "given" })).toEqual(["malformed", expect.stringContaining("Others operate these engines")]);
});

it("simulates the same mix on what runs, with what is best there, and says what these engines do not carry", () => {
  const replica = (model: string, tp: number, node: string, first: number) => ({
    ...{ model, shape: { tp, pp: 1 } },
    placements: [{ node, gpus: Array.from({ length: tp }, (_, at) => first + at) }],
  });
  const large = [replica("qwen2.5-32b", 4, "node1", 0), replica("qwen2.5-32b", 4, "node2", 0)];
  const besideOf = (running: typeof large, mix: Partial<MixTask["mix"]> = {}) => {
    const made = plan({ ...task, situation: { ...task.situation, running }, mix: { ...task.mix, ...mix } });
    if (!made.ok) throw new Error(made.message);
    return { beside: made.beside, own: made.draft.predictions };
  };
  const [solveOnly] = [{ workflows: task.mix.workflows.slice(0, 1) }];
  const { beside, own } = besideOf(large, solveOnly);
  if (beside?.kind !== "served") throw new Error(JSON.stringify(beside));
  expect(beside.classes.map(({ name }) => name)).toEqual(["single requests", "solve"]);
  expect(beside.gpus).toBe(8);
  // All is answered by the largest model there.
  expect(beside.meanSeconds).toBeGreaterThan(own.meanSeconds);
  expect(besideOf(large).beside).toEqual({
    kind: "not-served",
    gpus: 8,
    message: "a of trio may run on qwen2.5-7b, of which nothing runs.",
  });
  const small = [replica("qwen2.5-3b", 1, "node1", 0)];
  expect(besideOf(small, solveOnly).beside).toMatchObject({ kind: "not-served", message: expect.stringContaining("under the floor of") });
});
