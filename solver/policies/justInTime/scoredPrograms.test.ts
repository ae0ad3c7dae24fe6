import { expect, it } from "vitest";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { configurationMargins, countOf, fullSet } from "@/solver/workflow/configurationSet";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { buildPolicy } from "../buildPolicy";
import type { Action, ReplicaView, WaitingWork } from "../core/policy";
import { declared, justInTime } from "../testing/testJustInTime";

const pair = declared("pair", [{ name: "first" }, { name: "second", reads: ["first"] }]);
const names = ["small", "medium", "large"];
const space = configurationSpace(pair, names);
const gate: GateDocument = { kind: "confidence", measure: "minimum", calibration: { raw: [0, 100], calibrated: [0, 100] } };
const document = justInTime(
  { kind: "cheapest" },
  {
    workflows: [{ workflow: pair, answers: [{ agent: "first", model: "small", rightIfAccurate: 0.95, rightIfNot: 0.1 }] }],
    callGates: [{ model: "small", gate, prior: 0.5 }],
  },
);
/** Logits: the larger the second agent's model, the surer. */
const margins = configurationMargins([0.1, 0.8, 6, 1, 2, 6, 3, 4], 0);

const work = (id: string, agent: string, state: WaitingWork["state"] = { kind: "queued" }): WaitingWork => ({
  ...{ id, programId: "p", stage: 2, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 5, state },
  ...{ call: { workflow: "pair", agent }, accurate: fullSet(space.size), margins },
});
const replicas: readonly ReplicaView[] = names.map((model) => ({
  ...{ id: model, model, inFlight: 0, maxInFlight: 9, accepting: true, kvUse: { state: "absent" } },
}));

/** Where the second agent goes after an answer of the first with that score; null: its gate gave none. */
function secondAfter(score: number | null): { readonly model: string; readonly left: number; readonly accepts: Action } {
  const policy = buildPolicy(document);
  const decide = (...waiting: readonly WaitingWork[]) => policy.decide({ nowSeconds: 1, waiting, replicas });
  const first = work("a", "first");
  policy.observe({ kind: "queued", work: first });
  const [sent] = decide(first);
  expect(sent).toMatchObject({ kind: "dispatch", replicaId: "small", stage: 0 });
  policy.observe({ kind: "finished", workId: "a", replicaId: "small", nowSeconds: 2, failed: false });
  const [accepts] = decide({ ...work("a", "first", { kind: "answered", judgedScore: score }), stage: 0 });
  const second = work("b", "second");
  policy.observe({ kind: "queued", work: second });
  const [path] = policy.rounds!().programs;
  const [goes] = decide(second);
  if (goes?.kind !== "dispatch") throw new Error("It goes nowhere.");
  return { model: goes.replicaId, left: countOf(path!.left), accepts: accepts! };
}

it("a bad answer leaves the later agent a larger model than a good one, whose agent may have the smallest", () => {
  expect(secondAfter(50)).toMatchObject({ model: "small", left: 3 });
  expect(secondAfter(99)).toMatchObject({ model: "small", left: 3 });
  expect(secondAfter(5)).toMatchObject({ model: "large", left: 1 });
  expect(secondAfter(35)).toMatchObject({ model: "medium", left: 2 });
});

it("an answer is accepted whatever its score, and one without a score changes nothing", () => {
  expect(secondAfter(5).accepts).toEqual({ kind: "accept", workId: "a", reason: "scored-for-later-agents" });
  expect(secondAfter(null)).toMatchObject({ model: "small", left: 3, accepts: { kind: "accept", workId: "a", reason: "no-gate-score" } });
});

it("answers of models without a gate are not scored", () => {
  const policy = buildPolicy(document);
  expect([0, 1, 2].map((stage) => policy.judges(stage))).toEqual([true, false, false]);
  expect(policy.scoresCallsFrom).toBe(0);
  expect(buildPolicy(justInTime({ kind: "cheapest" })).scoresCallsFrom).toBeUndefined();
});
