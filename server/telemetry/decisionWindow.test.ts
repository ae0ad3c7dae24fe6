import { expect, it } from "vitest";
import type { Decision } from "@/server/contracts/gatewayAdmin";
import { createDecisionWindow } from "./decisionWindow";

const START_MS = Date.UTC(2026, 0, 1);
const query = { planId: "p", policyHash: "h", models: ["m"] };

/** Answered so many wall seconds after the start, in as many engine seconds. */
const decision = (finishedSeconds: number, endToEndSeconds: number): Decision => ({
  sequence: finishedSeconds,
  id: String(finishedSeconds),
  planId: "p",
  policyHash: "h",
  finishedAtMs: START_MS + 1000 * finishedSeconds,
  status: 200,
  reason: "",
  stages: [
    {
      model: "m",
      replica: "r",
      queueSeconds: 0,
      seconds: endToEndSeconds,
      judgeSeconds: null,
      judgedScore: null,
      threshold: null,
      verdict: "accepted",
      reason: "",
      inputTokens: null,
      outputTokens: null,
    },
  ],
  ttftSeconds: endToEndSeconds / 2,
  endToEndSeconds,
  overheadSeconds: 0.001,
});

/** One a second for 200 s: slow ones first, then fast ones. */
function window(timeScale: number) {
  const records = Array.from({ length: 200 }, (_, second) => decision(second, second < 150 ? 8 : 1));
  const made = createDecisionWindow({ timeScale, labelOf: ({ endToEndSeconds }) => 10 * endToEndSeconds }, START_MS);
  made.add(records);
  return made;
}

it("tells recent latencies apart from those of the measuring window, which still holds what is over", () => {
  const { measured, recent, ttftP95Seconds, stages } = window(1).summarise({ ...query, nowMs: START_MS + 200_000 });
  expect(measured).toEqual({ requests: 200, windowSeconds: 200, p50Seconds: 8, p95Seconds: 8, p99Seconds: 8, meanQuality: 62.5 });
  expect([ttftP95Seconds, stages[0]?.p95Seconds]).toEqual([4, 8]);
  expect(recent).toMatchObject({ requests: 30, windowSeconds: 30, p50Seconds: 1, p95Seconds: 1, p99Seconds: 1, meanQuality: 10 });
  expect(recent).toMatchObject({ ttftP95Seconds: 0.5, overheadP95Seconds: 0.001, stages: [{ share: 1, p95Seconds: 1 }] });
});

it("looks back over ten seconds of the wall where engine time goes fast", () => {
  const { recent } = window(20).summarise({ ...query, nowMs: START_MS + 200_000 });
  expect(recent).toMatchObject({ requests: 10, windowSeconds: 200 });
});

it("looks back no further than to where measuring began, and knows nothing of a quiet half minute", () => {
  const made = window(1);
  made.begin(START_MS + 190_000);
  expect(made.summarise({ ...query, nowMs: START_MS + 200_000 }).recent).toMatchObject({ requests: 10, windowSeconds: 10 });
  expect(made.summarise({ ...query, nowMs: START_MS + 240_000 }).recent).toMatchObject({
    requests: 0,
    p95Seconds: null,
    meanQuality: null,
  });
});
