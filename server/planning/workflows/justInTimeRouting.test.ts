import { describe, expect, it } from "vitest";
import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import type { CascadePolicy } from "@/solver/plan/plan";
import { cascadeOf, type PolicyDocument, roundChoices, singlesPolicyOf } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflowOfDocument } from "@/solver/workflow/workflowDocuments";
import { generatedWorkload } from "@/solver/workload/generated";
import { type EnginesOfPlan, type JustInTimeAsked, justInTimeRouting, plannedModels, scoredAnswers } from "./justInTimeRouting";

const models = ["qwen2.5-7b", "qwen2.5-32b"];
const workload = generatedWorkload({ prompts: 600, ladder: models, seed: 4 });
const told = (instructions: string) =>
  workflowDocumentSchema.parse({
    name: "vote",
    agents: [
      { name: "one", instructions },
      { name: "two", instructions },
      { name: "three", instructions },
      { name: "tally", reads: ["one", "two", "three"], part: "votes" },
    ],
  });
const workflow = told("Answer.");
const asked = (workflows: JustInTimeAsked["workflows"] = [{ workflow }]): JustInTimeAsked => ({
  workflows,
  selection: { kind: "beam", width: 4 },
});

const draft = examplePlanDraft();
const planAt = (requestsPerSecond: number): EnginesOfPlan => ({
  inputs: { ...draft.inputs, workload: { ...draft.inputs.workload, requestsPerSecond } },
  policy: { kind: "fixed", model: "qwen2.5-32b", order: { kind: "fcfs" }, place: { kind: "least-load" } },
  deployment: models.map((model, at) => ({
    ...{ model, precision: "bf16" as const, gpu: "l40s", gpus: at + 1 },
    replicas: [{ tp: at + 1, pp: 1, count: 1, shareEach: 1, placements: [] }],
  })),
  predictions: { stages: draft.predictions.stages.slice(0, 1).map((stage) => ({ ...stage, model: "qwen2.5-32b", utilisation: 0.8 })) },
});

function routed(plan: EnginesOfPlan, of = asked()) {
  const made = justInTimeRouting(plan, workload, of);
  if (!made.ok) throw new Error(made.message);
  return made;
}

/** Many concurrent programs on the plan's engines, all with their largest model; in flight are `times` as many as its stated saturation. */
function overloaded(times: number) {
  const { policy } = routed(planAt(4));
  const scaled = {
    ...policy,
    models: policy.models.map(({ saturationBatch, throughput, ...model }) => ({
      ...model,
      saturationBatch: times * saturationBatch,
      throughput: throughput.map((point, at) => (at === throughput.length - 1 ? { ...point, batch: times * saturationBatch } : point)),
    })),
  };
  const planned = plannedModels(planAt(4), workload, [workflow]);
  if (!planned.ok) throw new Error(planned.message);
  const replicas = planned.models.flatMap(({ model, replica: shapes }) =>
    shapes.map(({ replica }, at): ClusterReplica => ({ id: `${model} ${at}`, model, replica, maxInFlight: 1024 })),
  );
  const sample = drawPrograms({
    outcomes: {
      ...workload.outcomes,
      models: models.flatMap((name) => workload.outcomes.models.find(({ model }) => model === name) ?? []),
    },
    prompts: Int32Array.from({ length: 600 }, (_, prompt) => prompt),
    mix: [{ workflow: workflowOfDocument(workflow), share: 1 }],
    correlation: 0.5,
    arrivalSeconds: Float64Array.from({ length: 400 }, (_, at) => at * 1e-6),
    seed: 9,
  });
  const { preemptions, horizonSeconds } = simulatePrograms({ policy: buildPolicy(scaled), sample, replicas });
  return { preemptions, horizonSeconds };
}

it("finds a saturation at which its engines preempt nothing under programs of the workflow, and twice which is hardly faster", () => {
  const [at, twice] = [overloaded(1), overloaded(2)];
  expect(at.preemptions).toBe(0);
  expect(twice.preemptions).toBeGreaterThan(50);
  expect(at.horizonSeconds / twice.horizonSeconds).toBeLessThan(1.03);
});

it("is profiled with what agents read of others, which holds an engine's cache", () => {
  const inputs = (workflows: Parameters<typeof plannedModels>[2]) => {
    const planned = plannedModels(planAt(4), workload, workflows);
    if (!planned.ok) throw new Error(planned.message);
    return Array.from(planned.models[1]!.requests.inputTokens);
  };
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(inputs([])).toEqual(Array.from(workload.outcomes.inputTokens));
  expect(mean(inputs([workflow]))).toBeGreaterThan(mean(inputs([])) + 50);
});

it("says what becomes of the traffic that the plan is made for where it names no workflow, loudly where its largest model is too slow for it", () => {
  const [enough, tooMuch] = [routed(planAt(0.1)), routed(planAt(500))];
  expect(enough.notes[0]).toMatch(
    /^Requests of no declared workflow all go to qwen2.5-32b: its engines write [\d,]+ tokens\/s at saturation/,
  );
  expect(tooMuch.notes[0]).toMatch(/^Too much for qwen2.5-32b unless requests name a workflow.*at 500 requests\/s asks for [\d,]+\.$/);
});

it("prices the tokens of the models that the plan loads, where that was asked for", () => {
  const selectionOf = (choice: JustInTimeAsked["selection"]) => routed(planAt(4), { ...asked(), selection: choice }).policy.selection;
  expect(selectionOf(roundChoices.worth)).toEqual(roundChoices.worth);
  const priced = selectionOf({ ...roundChoices.worth, priced: true });
  if (priced.kind !== "worth") throw new Error(priced.kind);
  const { models: of = [] } = priced.price ?? {};
  expect(of.map(({ model, secondsPerToken, waiting }) => [model, secondsPerToken > 0, waiting > 0])).toEqual([
    ["qwen2.5-7b", false, false],
    ["qwen2.5-32b", true, true],
  ]);
  expect(priced).not.toHaveProperty("priced");
});

describe("scores of agents' answers", () => {
  const predicted = [{ workflow, predictor: "a".repeat(64) }];
  const confident = {
    ...workload,
    outcomes: { ...workload.outcomes, models: workload.outcomes.models.map((own) => ({ ...own, confidence: own.judged })) },
  };
  const scoredBy = (of: typeof workload, workflows: JustInTimeAsked["workflows"] = predicted, silent: readonly string[] = []) =>
    justInTimeRouting(planAt(4), of, { ...asked(workflows), answerScores: { silent } });

  it("are in the policy where they are asked for, of all models but the largest, and its notes say what scores them", () => {
    const made = scoredBy(confident);
    if (!made.ok) throw new Error(made.message);
    const { policy, notes } = made;
    expect(policy.callGates?.map(({ model, gate }) => [model, gate.kind])).toEqual([["qwen2.5-7b", "confidence"]]);
    expect(policy.workflows[0]?.answers?.map(({ agent }) => agent)).toEqual(expect.arrayContaining(["one", "two", "three"]));
    expect(notes).toContainEqual(expect.stringMatching(/^Answers of agents by qwen2.5-7b \(smallest token probability\) are scored/));
    expect(scoredAnswers(planAt(4), confident, { workflows: predicted, silent: [] })).toEqual({
      ok: true,
      scored: [{ model: "qwen2.5-7b", by: "smallest token probability" }],
    });
    const { callGates: _, workflows, ...rest } = policy;
    const { workflows: without, ...same } = justInTimeRouted(confident);
    expect(rest).toEqual(same);
    expect(workflows.map(({ answers: __, ...own }) => own)).toEqual(without);
  });

  it("are refused in the same sentence as when it is asked beforehand", () => {
    for (const [of, workflows, silent, reason] of [
      [workload, predicted, [], /no column of confidence for the answers of qwen2.5-7b/],
      [confident, [{ workflow }], [], /^No workflow has a predictor/],
      [confident, predicted, ["qwen2.5-7b"], /^The engines of qwen2.5-7b report no log probabilities/],
    ] as const) {
      const refused = scoredBy(of, [...workflows], silent);
      expect(refused).toEqual({ ok: false, message: expect.stringMatching(reason) });
      expect(scoredAnswers(planAt(4), of, { workflows: [...workflows], silent })).toEqual(refused);
    }
  });

  function justInTimeRouted(of: typeof workload) {
    const made = justInTimeRouting(planAt(4), of, asked(predicted));
    if (!made.ok) throw new Error(made.message);
    return made.policy;
  }
});

describe("requests of no declared workflow", () => {
  const cascade: CascadePolicy = {
    ...{ kind: "cascade", stages: models.map((model) => ({ model })), thresholds: [60], order: { kind: "fcfs" } },
    judge: { model: "gemma-2-9b", secondsPerCall: 0.1, usdPerCall: 0, engine: { rubricTokens: 100, outputTokens: 4 } },
    ...{ place: { kind: "least-load" }, approvedRanges: { thresholds: [{ min: 40, max: 80 }] } },
  };
  const { order: _, place: __, ...route } = cascade;
  const judged = (policy: PolicyDocument): EnginesOfPlan => {
    const plan = planAt(4);
    const [first] = plan.deployment;
    return { ...plan, policy, deployment: [...plan.deployment, { ...first!, model: cascade.judge.model }] };
  };

  it("go by the plan's cascade, whose judge alone serves no rounds", () => {
    const { policy, notes } = routed(judged(cascade));
    expect(policy.singles).toEqual(route);
    expect(policy.models.map(({ model }) => model)).toEqual(models);
    expect(policy.models.every(({ meanOutputTokens = 0 }) => meanOutputTokens > 0)).toBe(true);
    expect(notes[0]).toMatch(
      /^Requests of no declared workflow are served by the plan's cascade over qwen2.5-7b, qwen2.5-32b, in one queue/,
    );
    expect(cascadeOf(policy)).toEqual(cascade);
  });

  it("keep their route when a just-in-time plan is the base of another", () => {
    const { policy } = routed(judged(cascade));
    const again = routed(judged(policy), { ...asked(), selection: roundChoices.worth }).policy;
    expect(again).toEqual({ ...policy, selection: { kind: "worth", rightSeconds: 0, delayWeight: 4 } });
  });

  it("all go to the largest where the plan balances, or to the plan's one model", () => {
    const balanced = routed({
      ...planAt(4),
      policy: { ...cascade, kind: "balanced", models: models.map((model) => ({ model, maxBatchSize: 8 })) } as PolicyDocument,
    });
    expect(balanced.policy.singles).toBeUndefined();
    expect(balanced.notes[0]).toContain("all go to qwen2.5-32b");
    const fixed = routed({ ...planAt(4), policy: { kind: "fixed", model: "qwen2.5-7b", order: cascade.order, place: cascade.place } });
    expect(fixed.policy.singles).toEqual({ kind: "fixed", model: "qwen2.5-7b" });
    expect(fixed.notes[0]).toContain("all go to qwen2.5-7b");
  });

  it("keep the predictors that their slack dispatch reads", () => {
    const slack: PolicyDocument = {
      ...{ kind: "slack", tau: 0.5, deltaScore: 0, floorSeconds: 1, order: cascade.order, place: cascade.place },
      models: models.map((model) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 8, confidence: 0.5 })),
      approvedRanges: { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } },
      learnt: { lengths: "a".repeat(64), confidence: "b".repeat(64) },
    };
    const { policy, notes } = routed({ ...planAt(4), policy: slack });
    expect(singlesPolicyOf(policy)).toEqual(slack);
    expect(notes[0]).toContain("by the plan's slack dispatch over");
    const reading = { ...cascade, order: { kind: "sjf", agingThreshold: 9 }, learnt: { lengths: "a".repeat(64) } } as const;
    expect(routed(judged(reading)).policy.learnt).toBeUndefined();
    expect(routed(judged(reading), { ...asked(), selection: roundChoices.worth }).policy.learnt).toEqual(reading.learnt);
  });
});

it("names the agents that nobody told what to do", () => {
  expect(routed(planAt(4)).notes.at(-1)).toMatch(/^vote: no instructions for tally\. /);
  expect(routed(planAt(4), asked([{ workflow: told(" ") }])).notes.at(-1)).toMatch(/^vote: no instructions for one, two, three, tally\. /);
});
