import { describe, expect, it } from "vitest";
import type { ControlFigures, LiveFrame, RoutingFrame } from "@/server/contracts/studio";
import { testFrame } from "../testing/testFrame";
import { graceOf, predictedCost } from "./prepareGrace";

const lowered = [{ model: "medium", planned: 50, inForce: 44, sinceMs: 1_000 }];

/** A frame of a gateway that reports these lowered thresholds. */
function frameWith(grace: RoutingFrame["grace"], state: LiveFrame["gateway"]["state"] = "fresh"): LiveFrame {
  const routing: RoutingFrame = {
    ...{ etag: "e", planId: "p", policyHash: "h", controls: null },
    policy: {
      kind: "cascade",
      stages: ["small", "medium", "large"].map((model) => ({ model })),
      thresholds: [70, 50],
      judge: { model: "weir-judge", secondsPerCall: 0.1, usdPerCall: 0 },
      ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
      approvedRanges: { thresholds: [0, 1].map(() => ({ min: 40, max: 80 })) },
      grace: { waiting: 20, calm: 5, holdSeconds: 10, pointsPerSecond: 1 },
    },
    ...(grace && { grace }),
  };
  const frame = testFrame();
  return { ...frame, gateway: { ...frame.gateway, state, routing } };
}

describe("grace on Live", () => {
  it("has all thresholds as they are now, the lowered and the others", () => {
    expect(graceOf(frameWith(lowered))).toEqual({ lowered, thresholds: [70, 44], waiting: 20 });
  });

  it("is absent while no threshold is lowered, and while nothing is known", () => {
    expect(graceOf(frameWith(undefined))).toBeNull();
    expect(graceOf(frameWith([]))).toBeNull();
    expect(graceOf(frameWith(lowered, "unreachable"))).toBeNull();
  });

  const figures = (quality: number | null): ControlFigures => ({
    ...{ capacityPerSecond: 9, quality, qualityLow: quality, p95Seconds: quality === null ? null : 2, p95Band: null, share: [] },
  });

  it("says which quality is predicted and what it costs, against the simulation or else the plan", () => {
    const forecast = { inForce: figures(74), changed: figures(71.5) };
    expect(predictedCost(forecast, 80)).toBe(
      "Predicted quality with these thresholds: 71.5, 2.5 points below the 74.0 predicted without grace.",
    );
    const overloaded = { ...forecast, inForce: figures(null) };
    expect(predictedCost(overloaded, 73)).toBe(
      "Predicted quality with these thresholds: 71.5, 1.5 points below the 73.0 predicted without grace.",
    );
    expect(predictedCost(overloaded, null)).toBe("Predicted quality with these thresholds: 71.5.");
  });

  it("predicts no quality where the engines do not sustain the rate", () => {
    expect(predictedCost({ inForce: figures(null), changed: figures(null) }, 73)).toMatch(/not predicted: even with these/);
  });
});
