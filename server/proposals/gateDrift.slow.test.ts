import { expect, test } from "vitest";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { driftedIn, driftReference, observeWindow, steadyState } from "@/solver/numeric/drift";
import { quantile } from "@/solver/numeric/quantile";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { gateCandidates } from "@/solver/stageGates/gateCandidates";
import { isRefused } from "@/solver/stageGates/gateRefusal";
import { stageGate } from "@/solver/stageGates/stageGate";
import { withColumns } from "@/solver/stageGates/testing/gateColumns";
import { generatedWorkload } from "@/solver/workload/generated";
import { gateScoresOf } from "./gateScores";
import { observedRequests, trafficWindow } from "./observedRequests";
import { plannedTraffic } from "./plannedTraffic";
import { testDecisions } from "./testing/testDecisions";

const workload = { ...withColumns(generatedWorkload({ prompts: 4000, seed: 2 }), { samples: 4 }), judge: { kind: "measured" as const } };
const models = workload.outcomes.models.map(({ model }) => model).slice(0, 2);
const [small = "", large = ""] = models;
const candidates = gateCandidates(workload, models, () => true);
const kinds = ["confidence", "agreement", "scorer", "sequence"] as const;
const START_MS = Date.parse("2026-01-01T12:00:00Z");

/** A plan whose first stage accepts some half of the answers by this gate. */
function planBy(kind: (typeof kinds)[number]) {
  const document = candidates.find((candidate) => candidate.kind === kind)?.documents?.[small];
  if (document === undefined) throw new Error(kind);
  const gate = stageGate(workload, small, document);
  if (isRefused(gate)) throw new Error(gate.kind);
  const draft = examplePlanDraft();
  const stages = [{ model: small }, { model: large }];
  const thresholds = [Math.round(quantile(gate.scores, 0.5))];
  const policy = { ...draft.policy, kind: "cascade" as const, stages, thresholds, gates: [document] };
  return sealPlan({ ...draft, policy } as typeof draft, new Date("2026-01-01T00:00:00Z"));
}

const STREAMS = 40;
const WINDOW = 400;
const STREAM = 4 * WINDOW;

/** In how many of 40 streams of four windows of 400 requests the scores of the first stage are said to have drifted. */
function driftedStreams(kind: (typeof kinds)[number], harder: number): number {
  const plan = planBy(kind);
  const reference = driftReference(plannedTraffic(plan, workload), 1);
  const span = { fromSeconds: 0, seconds: (STREAM / 4) * STREAMS };
  const records = testDecisions({ plan, workload, timeScale: 1, startMs: START_MS }, span, { rate: 4, harder });
  const all = observedRequests(records, 1, gateScoresOf(plan, workload));
  const isDrifted = (stream: number): boolean => {
    let state = steadyState(reference);
    for (let from = STREAM * stream; from < STREAM * (stream + 1); from += WINDOW) {
      state = observeWindow(reference, state, trafficWindow(all.slice(from, from + WINDOW), WINDOW / 4));
      if (driftedIn(state).includes(`score of ${small}`)) return true;
    }
    return false;
  };
  return Array.from({ length: STREAMS }, (_, stream) => isDrifted(stream)).filter(Boolean).length;
}

test.each(kinds)("by %s, traffic as planned is called drifted in at most 1 of 40 streams of 1600 requests", (kind) => {
  expect(driftedStreams(kind, 0)).toBeLessThanOrEqual(1);
});

test.each(kinds)("by %s, half of the prompts turned into ones that the small model gets wrong is seen in at least 38 of 40", (kind) => {
  expect(driftedStreams(kind, 0.5)).toBeGreaterThanOrEqual(38);
});

test("scores of another gate than the plan's are not compared with its own", () => {
  const [plan, other] = [planBy("confidence"), planBy("sequence")];
  const span = { fromSeconds: 0, seconds: 50 };
  const records = testDecisions({ plan: other, workload, timeScale: 1, startMs: START_MS }, span, { rate: 4 });
  const read = (of: typeof plan) => observedRequests(records, 1, gateScoresOf(of, workload)).map(({ visits }) => visits[0]?.score ?? null);
  expect(read(plan).every((score) => score === null)).toBe(true);
  expect(read(other).every((score) => score !== null)).toBe(true);
});
