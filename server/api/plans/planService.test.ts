import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import { createPlanner } from "@/server/planning/planner/planner";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { createPlanningService } from "@/server/planning/planningService";
import { openStore, type Store } from "@/server/store/store";
import { storeWorkload } from "@/server/workloads/storedWorkloads";
import type { Plan } from "@/solver/plan/plan";
import { roundChoices } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { generatedWorkload } from "@/solver/workload/generated";
import { removalRefusal } from "../lab/removalRefusal";
import { createPlanService } from "./planService";

/** Not in order of size, which a plan does not require. */
const models = ["qwen2.5-7b", "qwen2.5-3b"];
const workload = generatedWorkload({ prompts: 300, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 4 });
const predictor = "c".repeat(64);
const vote = workflowDocumentSchema.parse({
  name: "vote",
  agents: [{ name: "one" }, { name: "two" }, { name: "tally", reads: ["one", "two"], part: "votes", models: ["qwen2.5-7b"] }],
});

let folder: string;
let store: Store;
let planner: ReturnType<typeof createPlanner>;
let plans: ReturnType<typeof createPlanService>;
let base: Plan;

/** The example on real models, and with more shapes of the first if requested. */
function planOf(name: string, deployed: readonly string[], shapes: readonly number[] = [1]): Plan {
  const draft = examplePlanDraft();
  return sealPlan(
    {
      ...draft,
      metadata: { name },
      policy: { kind: "fixed", model: deployed[0] ?? "", order: { kind: "fcfs" }, place: { kind: "least-load" } },
      inputs: { ...draft.inputs, workload: { ...draft.inputs.workload, id: store.workloads.list()[0]?.id ?? "" } },
      deployment: deployed.map((model, at) => ({
        ...{ model, precision: "bf16", gpu: "l40s", gpus: 4 },
        replicas: (at === 0 ? shapes : [1]).map((tp) => ({ tp, pp: 1, count: 1, shareEach: 1, placements: [] })),
      })),
    },
    new Date(0),
  );
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-just-in-time-"));
  store = openStore(folder);
  planner = createPlanner();
  plans = createPlanService({ store, clusterOf: () => null, planning: createPlanningService(store, planner, createCardStore(folder)) });
  storeWorkload(store, workload);
  base = planOf("base", models);
  store.plans.keep(base);
  store.clusters.insert(base.inputs.cluster, new Date(0).toISOString());
  const by = { createdAt: new Date(0).toISOString(), actor: "ada" };
  store.declaredWorkflows.put({ document: vote, origin: "weir", ...by });
  store.declaredWorkflows.put({
    document: { ...vote, name: "elsewhere", agents: vote.agents.map((agent) => ({ ...agent, models: ["gemma-2-2b"] })) },
    ...{ origin: "weir", ...by },
  });
  store.artefacts.insert(
    {
      ...{ hash: predictor, kind: "configurations", ...by, heldOut: { prompts: 1 } },
      training: {
        ...{ workloadId: "w", workloadName: "w", models: ["qwen2.5-3b", "qwen2.5-7b"], workflows: ["vote"], correlation: 0.5, prompts: 1 },
        ...{ requests: 1, texts: true, encoder: null, source: "modelled outcomes", workflow: vote, emulated: false },
      },
    },
    new Uint8Array([1]),
  );
});
afterAll(async () => {
  await planner.close();
  store.close();
  rmSync(folder, { recursive: true });
});

const asked = (workflows: readonly { readonly name: string; readonly predictor: string | null }[], planId = base.id) => ({
  ...{ planId, name: "just in time", workflows: [...workflows], selection: roundChoices.beam },
});
const keptPlan = (outcome: ReturnType<typeof plans.justInTime>): Plan => {
  const plan = outcome.ok ? store.plans.get(outcome.id) : null;
  if (plan === null) throw new Error(outcome.ok ? "not kept" : outcome.message);
  return plan;
};
const refusal = (...of: Parameters<typeof asked>): string => {
  const outcome = plans.justInTime(asked(...of), "ada");
  return outcome.ok ? "" : outcome.message;
};

it("keeps a plan on the same engines with models by size, their own curves and a copy of the workflow, and says whose figures it has", () => {
  const plan = keptPlan(plans.justInTime(asked([{ name: "vote", predictor }]), "ada"));
  const { policy } = plan;
  if (policy.kind !== "just-in-time") throw new Error(policy.kind);
  expect(plan.deployment).toEqual(base.deployment);
  expect(policy.models.map(({ model }) => model)).toEqual(["qwen2.5-3b", "qwen2.5-7b"]);
  const [small, large] = policy.models.map(({ cost }) => cost) as [number, number];
  expect(small).toBeCloseTo(3.1, 0);
  expect(large).toBeCloseTo(7.6, 0);
  for (const { throughput, saturationBatch } of policy.models) expect(throughput.at(-1)?.batch).toBe(saturationBatch);
  expect(policy.workflows).toEqual([{ workflow: vote, predictor }]);
  expect(policy.selection).toEqual({ kind: "beam", width: 4 });
  expect(plan.predictions.notes[0]).toMatch(/nothing predicts this policy/);
  expect(plan.predictions.notes[1]).toMatch(/^Requests of no declared workflow all go to qwen2.5-7b/);
  expect(plan.predictions.notes[2]).toMatch(/^Saturation and throughput of each model are modelled for vote on/);
  for (const { endedBy } of policy.models) expect(["throughput", "sequences", "memory"]).toContain(endedBy);
  const listed = plans.list(null).find(({ id }) => id === plan.id);
  expect(listed).toMatchObject({ quality: null, p95Seconds: null, costUsdPerRequest: null });
  expect(plans.list(null).find(({ id }) => id === base.id)?.quality).toBe(base.predictions.quality);
  expect(store.plans.withPredictors()).toMatchObject([{ id: plan.id, predictors: [predictor] }]);
  expect(store.audit.list(1)[0]).toMatchObject({ action: "plan just in time", actor: "ada", subject: plan.id });
  expect(removalRefusal(store, predictor)).toBeNull();
  store.clusters.setRunning(base.inputs.cluster.id, { planId: plan.id, since: new Date(1).toISOString() });
  expect(removalRefusal(store, predictor)).toContain("names this predictor");
  store.clusters.setRunning(base.inputs.cluster.id, null);
});

it("says that without a predictor there is nothing to choose, and that shapes of one model count as their mean", () => {
  const mixed = planOf("mixed", models, [1, 2]);
  store.plans.keep(mixed);
  const { notes } = keptPlan(plans.justInTime(asked([{ name: "vote", predictor: null }], mixed.id), "ada")).predictions;
  expect(notes).toContainEqual(expect.stringMatching(/^vote: without a predictor only the largest models/));
  expect(notes).toContainEqual(expect.stringMatching(/^Engines of qwen2.5-7b have several shapes/));
});

it("has agents' answers scored where that is asked for, and says beforehand whose, or why none", () => {
  const confident = {
    ...workload,
    name: "confident",
    outcomes: { ...workload.outcomes, models: workload.outcomes.models.map((own) => ({ ...own, confidence: own.judged })) },
  };
  const id = storeWorkload(store, confident);
  const scorable = sealPlan(
    { ...base, metadata: { name: "scorable" }, inputs: { ...base.inputs, workload: { ...base.inputs.workload, id, name: "confident" } } },
    new Date(0),
  );
  store.plans.keep(scorable);
  const workflows = [{ name: "vote", predictor }];
  expect(plans.answerScores({ planId: scorable.id, workflows })).toEqual({
    ok: true,
    scored: [{ model: "qwen2.5-3b", by: "smallest token probability" }],
  });
  const { policy, predictions } = keptPlan(plans.justInTime({ ...asked(workflows, scorable.id), answerScores: true }, "ada"));
  if (policy.kind !== "just-in-time") throw new Error(policy.kind);
  expect(policy.callGates).toMatchObject([{ model: "qwen2.5-3b", gate: { kind: "confidence" } }]);
  expect(predictions.notes).toContainEqual(expect.stringMatching(/^Answers of agents by qwen2.5-3b/));
  const without = keptPlan(plans.justInTime(asked(workflows, scorable.id), "ada"));
  expect(without.policy).not.toHaveProperty("callGates");

  const refused = { ok: false, message: expect.stringContaining("no column of confidence for the answers of qwen2.5-3b") };
  expect(plans.answerScores({ planId: base.id, workflows })).toEqual(refused);
  expect(plans.justInTime({ ...asked(workflows), answerScores: true }, "ada")).toEqual(refused);
  expect(plans.answerScores({ planId: "no such plan", workflows })).toEqual({ ok: false, message: "There is no plan no such plan." });
});

it("refuses a plan of one model, a workflow that nobody declared or that needs other models, and a plan whose workload is gone", () => {
  const lone = planOf("lone", ["qwen2.5-7b"]);
  store.plans.keep(lone);
  expect(refusal([{ name: "vote", predictor: null }], lone.id)).toMatch(/engines of qwen2.5-7b only: there is nothing to choose/);
  expect(refusal([{ name: "never", predictor: null }])).toBe("There is no declared workflow never.");
  expect(refusal([{ name: "elsewhere", predictor: null }])).toMatch(/may run on gemma-2-2b, which is not among/);
  expect(refusal([{ name: "vote", predictor: null }], "no such plan")).toMatch(/There is no plan/);
  expect(refusal([{ name: "vote", predictor: "d".repeat(64) }])).toMatch(/dddddddd.*not kept here/);
  const strange = sealPlan(
    { ...base, metadata: { name: "strange" }, inputs: { ...base.inputs, workload: { ...base.inputs.workload, id: "gone" } } },
    new Date(0),
  );
  store.plans.keep({ ...strange, id: "f".repeat(64) });
  expect(refusal([{ name: "vote", predictor: null }], "f".repeat(64))).toMatch(/which is not kept any more/);
});
