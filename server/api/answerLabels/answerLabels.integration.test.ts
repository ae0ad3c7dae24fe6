import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import type { EmulatedEngine } from "@/server/contracts/engine/emulatorAdmin";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { ask, engineOn, isReady, MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { hashed, startTestGateway, testConfig, until } from "@/server/gateway/testing/testGateway";
import { createPlanner } from "@/server/planning/planner/planner";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { createPlanningService } from "@/server/planning/planningService";
import { openStore, type Store } from "@/server/store/store";
import { freePort } from "@/server/testing/freePorts";
import type { Plan } from "@/solver/plan/plan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { createPlanService } from "../plans/planService";
import { createAnswerLabelService } from "./answerLabelService";

const LADDER = [MODEL, "gemma-2-9b"] as const;
const CLUSTER = "c";

/** Raw scores of the small model's answers, and how often such an answer is right: half of those that score 70. */
const kinds = [
  { kind: "wrong", raw: 40, prompts: 5, isRight: () => false },
  { kind: "overconfident", raw: 70, prompts: 24, isRight: (at: number) => at % 2 === 0 },
  { kind: "right", raw: 84, prompts: 16, isRight: () => true },
];
const prompts = kinds.flatMap(({ kind, raw, prompts: count, isRight }) =>
  Array.from({ length: count }, (_, at) => ({ id: `${kind}-${at}`, kind, raw, label: isRight(at) ? 100 : 0 })),
);

let emulators: TestEmulators;
let folder: string;
let store: Store;
let planner: ReturnType<typeof createPlanner>;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
  folder = mkdtempSync(join(tmpdir(), "weir-answer-labels-"));
  store = openStore(folder);
  planner = createPlanner();
});
afterEach(async () => {
  await planner.close();
  store.close();
  rmSync(folder, { recursive: true });
  await emulators.end();
});

/** A plan in force whose confidence gate serves raw scores. */
function planInForce(): Plan {
  const draft = examplePlanDraft();
  const deployment = draft.deployment.map((own, at) => ({ ...own, model: LADDER[at] ?? "" }));
  const gates = [{ kind: "confidence" as const, measure: "minimum" as const }];
  const policy = { ...draft.policy, stages: LADDER.map((model) => ({ model })), gates } as typeof draft.policy;
  const plan = sealPlan({ ...draft, deployment, policy }, new Date(0));
  store.plans.keep(plan);
  store.clusters.insert(plan.inputs.cluster, new Date(0).toISOString());
  store.clusters.setRunning(CLUSTER, { planId: plan.id, since: new Date(0).toISOString() });
  return plan;
}

async function engines(): Promise<readonly string[]> {
  const { call } = await emulators.start(20);
  await call("PUT", "/outcomes", {
    name: "served",
    promptIds: prompts.map(({ id }) => id),
    inputTokens: prompts.map(() => 30),
    models: [
      {
        model: LADDER[0],
        outputTokens: prompts.map(() => 6),
        label: prompts.map(({ label }) => label),
        judged: prompts.map(({ raw }) => raw),
      },
      { model: LADDER[1], outputTokens: prompts.map(() => 6), label: prompts.map(() => 100), judged: prompts.map(() => 84) },
    ],
  });
  const started = await Promise.all(LADDER.map((model, gpu) => call("POST", "/engines", engineOn(gpu, { model }))));
  const urls = (await Promise.all(started.map(async (answer) => (await answer.json()) as EmulatedEngine))).map(({ url }) => url);
  await until(async () => (await Promise.all(urls.map(isReady))).every(Boolean));
  return urls;
}

it("labels of served answers recalibrate the gate in force, by a plan that is approved before the gateway's scores change", async () => {
  const plan = planInForce();
  const urls = await engines();
  const gateway = await startTestGateway();
  const configOf = ({ id, policy }: Plan) => ({
    ...testConfig({ stages: LADDER.map((model, at) => ({ model, urls: [urls[at] ?? ""] })) }),
    ...{ ...hashed(policy), planId: id, timeScale: 20 },
  });
  await gateway.put(configOf(plan));
  const serve = async (prompt: string) => {
    const answer = await gateway.chat({ ...ask(prompt), model: "cascade/test" });
    await answer.text();
    return {
      decisionId: answer.headers.get("x-weir-decision-id") ?? "",
      model: answer.headers.get("x-weir-model"),
      score: answer.headers.get("x-weir-judge-score"),
    };
  };
  let decisions: readonly Decision[] = [];
  const planning = createPlanningService(store, planner, createCardStore(folder));
  const plans = createPlanService({ store, clusterOf: () => null, planning });
  const labels = createAnswerLabelService({ store, plans, answersOf: () => ({ decisions: () => decisions, routing: () => null }) });

  const served = [];
  for (const prompt of prompts) served.push({ ...prompt, ...(await serve(prompt.id)) });
  decisions = await gateway.decisions();
  const accepted = served.filter(({ model }) => model === MODEL);
  expect(accepted.map(({ kind }) => kind)).toEqual(prompts.flatMap(({ kind, raw }) => (raw >= 60 ? [kind] : [])));
  expect(decisions.flatMap(({ stages }) => stages[0]?.gate?.raw ?? [])).toEqual(prompts.map(({ raw }) => expect.closeTo(raw, 3)));

  // The client gets the large model's answer where the small one's was refused, and no gate scored that.
  const refused = served.find(({ model }) => model !== MODEL);
  const unscored = { decisionId: refused?.decisionId ?? "", quality: 100 };
  expect(labels.label(CLUSTER, [unscored], "ada")).toEqual({
    ok: false,
    message: `The label cannot count: no gate scored the answer (${unscored.decisionId}).`,
  });
  const given = accepted.map(({ decisionId, label }) => ({ decisionId, quality: label }));
  expect(labels.label(CLUSTER, [unscored, ...given.slice(0, 20)], "ada")).toEqual({
    ...{ ok: true, kept: 20, leftOut: [{ kind: "no-gate", labels: 1, first: [unscored.decisionId] }] },
    note: `1 of 21 labels cannot count and is left out: 1 because no gate scored the answer (${unscored.decisionId}).`,
  });
  const cluster = plan.inputs.cluster.name;
  const noted = { actor: "ada", action: "label served answers", subject: cluster, objectKind: "cluster", clusterId: CLUSTER };
  expect(store.audit.list(1)).toMatchObject([{ ...noted, outcome: "done", detail: `20 of ${MODEL} (confidence), 1 left out` }]);
  expect(labels.recalibrate({ clusterId: CLUSTER, planId: plan.id }, "ada")).toMatchObject({
    ok: false,
    message: expect.stringContaining("has 40 new labels yet"),
  });
  labels.label(CLUSTER, given, "ada");
  expect(labels.ofDecision(CLUSTER, given[0]?.decisionId ?? "")).toMatchObject([
    { model: MODEL, quality: given[0]?.quality, actor: "ada" },
  ]);

  const known = labels.gates(CLUSTER);
  if (!known.ok) throw new Error(known.message);
  expect(known.labelled).toMatchObject({ planId: plan.id, gates: [{ stage: 1, model: MODEL, labels: 40, good: 28, bad: 12 }] });
  const { before, after, accepted: share } = known.labelled.gates[0]?.fitted ?? {};
  expect(before?.error).toBeGreaterThan(15);
  expect(after?.error).toBeLessThan(before?.error ?? 0);
  expect(share).toEqual({ before: 1, after: 0.4 });

  const offered = labels.recalibrate({ clusterId: CLUSTER, planId: plan.id }, "ada");
  if (!offered.ok) throw new Error(offered.message);
  const offer = plans.get(offered.id);
  expect(offer?.plan).toMatchObject({
    deployment: plan.deployment,
    policy: { ...plan.policy, gates: [{ calibration: expect.any(Object) }] },
  });
  expect(offer?.plan.predictions.notes[1]).toContain("is calibrated on 40 labels of served answers");
  // Nothing that is served has changed.
  expect(offer?.approvals).toEqual([]);
  expect(store.clusters.get(CLUSTER)?.runningPlanId).toBe(plan.id);
  expect(await serve("overconfident-0")).toMatchObject({ model: MODEL, score: "70" });

  const hash = offer?.approvalHashes[CLUSTER] ?? "";
  expect(plans.approve({ planId: offered.id, clusterId: CLUSTER, hash: `${hash}0`, reason: "" }, "bob")).toMatchObject({ ok: false });
  expect(plans.approve({ planId: offered.id, clusterId: CLUSTER, hash, reason: "" }, "bob")).toMatchObject({ ok: true });
  if (offer === null) throw new Error("The offered plan is not kept");
  await gateway.put(configOf(offer.plan));
  const [doubtful, right, wrong] = [await serve("overconfident-0"), await serve("right-0"), await serve("wrong-0")];
  expect([doubtful.model, right.model, wrong.model]).toEqual([LADDER[1], MODEL, LADDER[1]]);
  // Above its raw score of 84: every such answer was right.
  expect(Number(right.score)).toBeGreaterThan(97);
  const scores = (await gateway.decisions()).slice(-3).map(({ stages }) => stages[0]?.judgedScore ?? Number.NaN);
  expect(scores[0]).toBeGreaterThan(40);
  expect(scores[0]).toBeLessThan(60);
  expect(scores[2]).toBeLessThan(45);

  // Labels under the new plan count beside the earlier ones, to which its calibration was fitted: the raw scores are the same.
  decisions = await gateway.decisions();
  store.clusters.setRunning(CLUSTER, { planId: offered.id, since: new Date(0).toISOString() });
  expect(labels.label(CLUSTER, [{ decisionId: right.decisionId, quality: 100 }], "bob")).toEqual({
    ok: true,
    kept: 1,
    leftOut: [],
    note: null,
  });
  const later = labels.gates(CLUSTER);
  expect(later).toMatchObject({ labelled: { planId: offered.id, gates: [{ labels: 1, earlier: 40, calibrated: true, fitted: null }] } });
});
