import { expect, it } from "vitest";
import type { MeasuredRange } from "@/server/contracts/studio";
import { testFrame } from "../testing/testFrame";
import { countSays, overRange, windowSays } from "./measuredWindow";

const measured = { requests: 12, windowSeconds: 60, p50Seconds: 1, p95Seconds: 2, p99Seconds: 3, meanQuality: 90 };
const stage = { share: 1, escalated: 0, p50Seconds: 1, p95Seconds: 2, p99Seconds: 3, meanJudgedScore: 70 };
const range: MeasuredRange = { measured, stages: [stage], labelled: 10, cutBy: null };
const ofWindow = { ...measured, requests: 900, windowSeconds: 300, p95Seconds: 9 };
const frame = testFrame({
  measured: ofWindow,
  gateway: { ...testFrame().gateway, stages: [{ model: "a", queued: 3, inFlight: 1, ...stage, p95Seconds: 9 }] },
});

it("shows what was measured in the page's range, and not over the longer measuring window", () => {
  const shown = overRange(frame, range);
  expect(shown.measured).toEqual(measured);
  expect(shown.gateway.stages[0]).toMatchObject({ model: "a", queued: 3, p95Seconds: 2 });
  expect(overRange(frame, null)).toBe(frame);
});

it("gives no figure of a range as of now while the gateway is not heard", () => {
  const silent = testFrame({ gateway: { ...frame.gateway, state: "unreachable" } });
  expect(overRange(silent, range)).toBe(silent);
});

it("states the window beside the figures, and why it is shorter than the range", () => {
  expect(windowSays({ measured }, range, true)).toBe("last 60.0\u00a0s");
  expect(windowSays({ measured }, { ...range, cutBy: "began" }, true)).toContain("last 60.0\u00a0s: measuring started then");
  expect(windowSays({ measured }, { ...range, cutBy: "kept" }, false)).toBe("60.0\u00a0s: older requests are no longer stored");
});

it("says how many requests a figure is of, and where they are too few for a p95", () => {
  expect(countSays(12, "p95")).toBe("n = 12, too few for a p95");
  expect(countSays(1234, "p95")).toBe("n = 1,234");
  expect(countSays(12, "mean")).toBe("n = 12");
  expect(countSays(0, "p95")).toBe("n = 0");
});
