import { expect, it } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { createDecisionWindow } from "./decisionWindow";
import { createTestClock } from "./testing/testClock";

const START_MS = Date.UTC(2026, 0, 1);
const query = { planId: "p", policyHash: "h", models: ["m"] };

/** Answered at this wall second after the start, in this many engine seconds. */
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

/** One per second for 200 s, all in the past: slow ones first, then fast ones. */
function window(timeScale: number) {
  const records = Array.from({ length: 200 }, (_, second) => decision(second, second < 150 ? 8 : 1));
  const clock = createTestClock(START_MS);
  const made = createDecisionWindow({ timeScale, clock, labelOf: ({ endToEndSeconds }) => 10 * endToEndSeconds });
  clock.pass(200_000);
  made.add(records);
  return { made, clock };
}

it("tells recent latencies apart from those of the measuring window, which still holds what is over", () => {
  const { measured, recent, ttftP95Seconds, stages } = window(1).made.summarise(query);
  expect(measured).toEqual({ requests: 200, windowSeconds: 200, p50Seconds: 8, p95Seconds: 8, p99Seconds: 8, meanQuality: 62.5 });
  expect([ttftP95Seconds, stages[0]?.p95Seconds]).toEqual([4, 8]);
  expect(recent).toMatchObject({ requests: 30, windowSeconds: 30, p50Seconds: 1, p95Seconds: 1, p99Seconds: 1, meanQuality: 10 });
  expect(recent).toMatchObject({ ttftP95Seconds: 0.5, overheadP95Seconds: 0.001, stages: [{ share: 1, p95Seconds: 1 }] });
});

it("looks back over ten seconds of the wall where engine time goes fast", () => {
  const { recent } = window(20).made.summarise(query);
  expect(recent).toMatchObject({ requests: 10, windowSeconds: 200 });
});

it("looks back no further than to where measuring began, and knows nothing of a quiet half minute", () => {
  const clock = createTestClock(START_MS);
  const made = createDecisionWindow({ timeScale: 1, clock });
  clock.pass(190_000);
  made.begin();
  clock.pass(10_000);
  made.add(Array.from({ length: 200 }, (_, second) => decision(second, 1)));
  expect(made.summarise(query).recent).toMatchObject({ requests: 10, windowSeconds: 10 });
  clock.pass(40_000);
  expect(made.summarise(query).recent).toMatchObject({
    requests: 0,
    p95Seconds: null,
    meanQuality: null,
  });
});

it("tells the rates of more answers and errors than it keeps", () => {
  const clock = createTestClock(START_MS);
  const made = createDecisionWindow({ timeScale: 1, clock });
  for (let second = 1; second <= 12; second += 1) {
    clock.pass(1_000);
    made.add(Array.from({ length: 5_000 }, (_, at) => ({ ...decision(second - 1 + at / 5_000, 1), status: at % 10 === 0 ? 503 : 200 })));
  }
  const { requestsPerSecond, errorsPerSecond, measured } = made.summarise(query);
  expect(requestsPerSecond).toBeCloseTo(4_500, 0);
  expect(errorsPerSecond).toBeCloseTo(500, 0);
  // The measurements cover the stored ones, and state their time span.
  expect(measured).toMatchObject({ requests: 18_000, windowSeconds: expect.closeTo(4, 9) });
});

it.each([-3_600_000, 3_600_000])("goes on at its rate, and forgets, when the clock is set by %d ms", (byMs) => {
  const { made, clock } = window(1);
  clock.set(clock.wallMs() + byMs);
  for (let second = 0; second < 60; second += 1) {
    clock.pass(1_000);
    made.add([{ ...decision(0, 1), finishedAtMs: clock.wallMs() - 500 }]);
    expect(made.summarise(query).requestsPerSecond).toBeCloseTo(1, 9);
  }
  expect(made.summarise(query).recent).toMatchObject({ requests: 30, p95Seconds: 1 });
  expect(made.summarise(query).measured).toMatchObject({ requests: 260, windowSeconds: 260 });
});

it("counts what was answered, what failed, and neither what was shed nor whose client left", () => {
  const clock = createTestClock(START_MS);
  const made = createDecisionWindow({ timeScale: 1, clock });
  const taken = { startReason: "first-stage" };
  made.add([
    ...Array.from({ length: 40 }, () => ({ ...decision(0, 1), ...taken })),
    ...[502, 429, 400].map((status) => ({ ...decision(0, 1), ...taken, status })),
    ...[504, 503].map((status) => ({ ...decision(0, 1), ...taken, status, stages: [] })),
    ...[503, 503, 429].map((status) => ({ ...decision(0, 1), status, stages: [] })),
    { ...decision(0, 1), ...taken, status: 499 },
  ]);
  expect(made.summarise(query)).toMatchObject({ requestsPerSecond: 4, errorsPerSecond: 0.5 });
});

it("measures over the range that is asked for, without the slow requests before it, and tells why a window is shorter", () => {
  const { made, clock } = window(1);
  // Over the whole window p95 is that of the older, slower requests.
  expect(made.summarise(query).measured.p95Seconds).toBe(8);
  const minute = made.over(query, { lastMs: 40_000 });
  expect(minute).toMatchObject({ cutBy: null, labelled: 40, measured: { requests: 40, windowSeconds: 40, p95Seconds: 1 } });
  expect(minute.stages[0]).toMatchObject({ share: 1, p95Seconds: 1 });
  const hour = made.over(query, { lastMs: 3_600_000 });
  expect(hour).toMatchObject({ cutBy: "began", measured: { requests: 200, windowSeconds: 200, p95Seconds: 8 } });
  const past = { fromMs: START_MS + 100_000, toMs: START_MS + 109_000 };
  expect(made.over(query, past)).toMatchObject({ cutBy: null, measured: { requests: 10, windowSeconds: 9, p95Seconds: 8 } });
  made.begin();
  clock.pass(5_000);
  expect(made.over(query, { lastMs: 60_000 })).toMatchObject({ cutBy: "began", measured: { requests: 0, p95Seconds: null } });
  // A range in the past is shown whole, whatever began since.
  expect(made.over(query, past).measured.requests).toBe(10);
});

it("says that older requests are kept no more where a range reaches further back", () => {
  const clock = createTestClock(START_MS);
  const made = createDecisionWindow({ timeScale: 1, clock });
  for (let second = 1; second <= 12; second += 1) {
    clock.pass(1_000);
    made.add(Array.from({ length: 5_000 }, (_, at) => decision(second - 1 + at / 5_000, 1)));
  }
  expect(made.over(query, { lastMs: 10_000 })).toMatchObject({
    cutBy: "kept",
    measured: { requests: 20_000, windowSeconds: expect.closeTo(4, 9) },
  });
});
