import type { Decision, Stage } from "../decisions/prepareDecision";

/** An answer that was accepted as the last stage's, for tests. */
export const testStage = (model: string, change: Partial<Stage> = {}): Stage => ({
  model,
  replica: "r",
  queueSeconds: 0,
  seconds: 1,
  judgeSeconds: null,
  judgedScore: null,
  threshold: null,
  verdict: "accepted",
  reason: "last-stage",
  inputTokens: 1,
  outputTokens: 1,
  ...change,
});

/** A request that one model answered within a second, for tests. */
export const testDecision = (change: Partial<Decision> = {}): Decision => ({
  sequence: 1,
  id: "d1",
  planId: "p".repeat(64),
  policyHash: "h".repeat(64),
  finishedAtMs: 1_000_000,
  status: 200,
  reason: "",
  stages: [testStage("small")],
  ttftSeconds: 0.2,
  endToEndSeconds: 1,
  overheadSeconds: 0,
  ...change,
});
