import type { AnswerSampleSummary, EnsembleCounts, GateReport, ServedEnsemble } from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import type { Interval } from "@/solver/numeric/interval";

/** A value with ends a given way from it, for tests. */
export const around = (value: number, half = 0.01): Interval => ({ value, low: value - half, high: value + half });

/** Three experts and a larger aggregator, for tests. */
export const testEnsemble = (change: Partial<Ensemble> = {}): Ensemble => ({
  name: "maths",
  experts: ["a-1b", "b-3b", "c-7b"],
  expertsPerQuestion: 3,
  extraction: { kind: "number" },
  confidence: { kind: "plurality" },
  tau: 1,
  aggregator: { model: "d-70b" },
  quorum: 2,
  deadlineSeconds: 30,
  ...change,
});

/** Of four models, the aggregator the most accurate, for tests. */
export const testSample = (change: Partial<AnswerSampleSummary> = {}): AnswerSampleSummary => ({
  id: "s1",
  name: "answers",
  createdAt: "2026-03-01T10:00:00.000Z",
  actor: "an operator",
  questions: 1000,
  models: [
    { model: "a-1b", accuracy: 0.5, voted: 1, meanTokens: 200 },
    { model: "b-3b", accuracy: 0.6, voted: 1, meanTokens: 220 },
    { model: "c-7b", accuracy: 0.7, voted: 0.98, meanTokens: 240 },
    { model: "d-70b", accuracy: 0.9, voted: 1, meanTokens: 400 },
  ],
  categories: [],
  origin: "uploaded",
  notes: [],
  ...change,
});

/** Agreement that predicts correctness, and an aggregator that is better only where experts disagree, for tests. */
export const testReport = (change: Partial<GateReport> = {}): GateReport => ({
  questions: 1000,
  experts: [
    { model: "a-1b", accuracy: around(0.5), voted: 1, meanTokens: 200, asked: 1000 },
    { model: "b-3b", accuracy: around(0.6), voted: 1, meanTokens: 220, asked: 1000 },
    { model: "c-7b", accuracy: around(0.7), voted: 0.98, meanTokens: 240, asked: 1000 },
  ],
  buckets: [
    { votes: "3:0", questions: 450, leading: around(0.96), aggregator: around(0.97), expertTokens: 500 },
    { votes: "2:1", questions: 400, leading: around(0.7), aggregator: around(0.85), expertTokens: 700 },
    { votes: "1:1:1", questions: 150, leading: around(0.3), aggregator: around(0.6), expertTokens: 1100 },
  ],
  points: [
    { tau: 1 / 3, skipped: around(1, 0), accuracy: around(0.76), difference: around(-0.1), aggregatorTokens: 0 },
    { tau: 2 / 3, skipped: around(0.85), accuracy: around(0.82), difference: around(-0.03), aggregatorTokens: 0.25 },
    { tau: 1, skipped: around(0.45), accuracy: around(0.86), difference: around(-0.002, 0.005), aggregatorTokens: 0.66 },
  ],
  alwaysAggregated: around(0.865),
  chosenTau: 1,
  notes: [],
  ...change,
});

/** A hundred requests, for tests. */
const testCounts: EnsembleCounts = {
  sinceMs: 0,
  requests: 100,
  outcomes: { skipped: 40, aggregated: 57, "aggregator-failed": 2, failed: 1 },
  atDeadline: 10,
  belowQuorum: 3,
  votes: {
    "1:1:1": { requests: 15, skipped: 0, withQuorum: 15, early: 0 },
    "3:0": { requests: 40, skipped: 40, withQuorum: 40, early: 0 },
    "0": { requests: 1, skipped: 0, withQuorum: 0, early: 0 },
    "2:1": { requests: 40, skipped: 0, withQuorum: 40, early: 0 },
    "1:0": { requests: 4, skipped: 0, withQuorum: 2, early: 0 },
  },
  experts: [
    { model: "a-1b", asked: 100, voted: 80, noVote: 10, late: 6, notNeeded: 0, failed: 4, inMajority: 60 },
    { model: "b-3b", asked: 100, voted: 100, noVote: 0, late: 0, notNeeded: 0, failed: 0, inMajority: 90 },
    { model: "c-7b", asked: 0, voted: 0, noVote: 0, late: 0, notNeeded: 0, failed: 0, inMajority: 0 },
  ],
};

/** A hundred requests under tau 1, all since it came into force, for tests. */
export const testServed = (change: Partial<ServedEnsemble> = {}): ServedEnsemble => ({
  ...testCounts,
  ensemble: testEnsemble(),
  decidesAfterSeconds: 30,
  missing: [],
  inForce: testCounts,
  latest: [],
  ...change,
});
