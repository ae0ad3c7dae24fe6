import { expect, it } from "vitest";
import type { LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { prepareVerification } from "./prepareVerification";

const band = (low: number, high: number) => ({ low, high, confidence: 0.9, basis: "" });
const plan = {
  id: "p",
  inputs: { workload: { requestsPerSecond: 60 } },
  predictions: { quality: 86, qualityBand: band(85, 87), p95Seconds: 10, p95Band: band(9.5, 10.5), meanSeconds: 4 },
} as unknown as Plan;

function frame(measured: Partial<LiveFrame["measured"]>, planId = "p"): LiveFrame {
  const steady = { requests: 6_000, windowSeconds: 100, p50Seconds: 4, p95Seconds: 10, meanQuality: 86 };
  return { planId, measured: { ...steady, ...measured } } as LiveFrame;
}

const words = (of: LiveFrame | null) => prepareVerification(plan, of).map((row) => row.verdict.word);

it("holds each figure against its promised band, in the direction that matters", () => {
  expect(words(frame({ meanQuality: 84 }))).toEqual(["as promised", "worse than promised"]);
  expect(words(frame({ p95Seconds: 8 }))[0]).toBe("better than promised");
  expect(words(frame({ p95Seconds: 12 }))[0]).toBe("worse than promised");
});

it("allows latency the promised band and no more, and says what that rests on", () => {
  expect(words(frame({ p95Seconds: 10.5 }))[0]).toBe("as promised");
  expect(words(frame({ p95Seconds: 10.6 }))[0]).toBe("worse than promised");
  const p95Band = { ...band(9.5, 10.5), basis: "spread and error of 60 runs" };
  const [row] = prepareVerification({ ...plan, predictions: { ...plan.predictions, p95Band } }, null);
  expect(row?.basis).toMatch(/^band at 90.%: spread and error of 60 runs$/);
});

it("does not compare latencies of another rate than the planned one, but compares quality", () => {
  expect(words(frame({ requests: 1_500, p95Seconds: 3 }))).toEqual(["not comparable: 15 of 60 req/s", "as promised"]);
  expect(words(frame({ requests: 7_500, p95Seconds: 30 }))[0]).toBe("not comparable: 75 of 60 req/s");
  expect(words(frame({ requests: 5_300 }))[0]).toBe("as promised");
});

it("does not take requests under way when the window is young for a lower rate", () => {
  expect(words(frame({ windowSeconds: 21, requests: 60 * (21 - 4) }))[0]).toBe("as promised");
});

it("waits until the window has settled", () => {
  expect(words(frame({ requests: 12 }))).toEqual(["settling: 12 of 200 requests", "settling: 12 of 200 requests"]);
  expect(words(frame({ windowSeconds: 19, requests: 1_140 }))[0]).toMatch(/^settling: 19.0.s of 20.0.s$/);
});

it("judges plans so slow that no window holds two of their p95s, by the longest window there is", () => {
  const predictions = { ...plan.predictions, p95Seconds: 500, p95Band: band(450, 550), meanSeconds: 320 };
  const [row] = prepareVerification({ ...plan, predictions }, frame({ windowSeconds: 300, requests: 9_000, p95Seconds: 480 }));
  expect(row?.verdict.word).toBe("as promised");
});

it("gives no verdict on another plan's frames or on none", () => {
  expect(words(frame({}, "other"))[0]).toContain("0 of 200");
  expect(words(null)[0]).toContain("0 of 200");
});

it("says when there is no measurement rather than calling it good or bad", () => {
  expect(words(frame({ p95Seconds: null }))[0]).toBe("no measurement");
});
