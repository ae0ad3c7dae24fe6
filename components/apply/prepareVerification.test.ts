import { expect, it } from "vitest";
import type { LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { prepareVerification } from "./prepareVerification";

const band = (low: number, high: number) => ({ low, high, confidence: 0.9, basis: "" });
const plan = { id: "p", predictions: { quality: 86, qualityBand: band(85, 87), p95Seconds: 10, p95Band: band(9, 11) } } as unknown as Plan;
const frame = (requests: number, p95Seconds: number | null, planId = "p") =>
  ({ planId, measured: { requests, p95Seconds, meanQuality: 84 } }) as unknown as LiveFrame;
const words = (of: LiveFrame | null) => prepareVerification(plan, of).map((row) => row.verdict.word);

it("holds each figure against its promised band, in the direction that matters", () => {
  expect(words(frame(500, 10.4))).toEqual(["as promised", "worse than promised"]);
  expect(words(frame(500, 8))[0]).toBe("better than promised");
  expect(words(frame(500, 12))[0]).toBe("worse than promised");
});

it("gives no verdict on too few requests, on another plan's frames or on none", () => {
  expect(words(frame(12, 10))[0]).toContain("12 of 200");
  expect(words(frame(500, 10, "other"))[0]).toContain("0 of 200");
  expect(words(null)[0]).toContain("0 of 200");
});

it("says when there is no measurement rather than calling it good or bad", () => {
  expect(words(frame(500, null))[0]).toBe("no measurement");
});
