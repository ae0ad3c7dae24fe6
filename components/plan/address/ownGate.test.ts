import { describe, expect, it } from "vitest";
import type { ComparedGate, PlannedGateKind } from "@/solver/plan/planGates";
import { handedBack, ownGateOf, withGate } from "./ownGate";

const fixed = { models: ["small", "large"], thresholds: [40] };

/** A plan for which judge and confidence were compared. */
function planWith(chosen: PlannedGateKind): { readonly solver: { readonly comparedGates: ComparedGate[] } } {
  const figures = { quality: 70, qualityLow: 69, p95Seconds: 1, gpus: 2, costUsdPerRequest: 0.001 };
  const gate = (kind: PlannedGateKind): ComparedGate => ({
    ...{ kind, modelled: false, models: fixed.models, thresholds: fixed.thresholds, ...figures },
    chosen: kind === chosen,
  });
  return { solver: { comparedGates: [gate("judge"), gate("confidence")] } };
}

describe("the gate of a plan's thresholds", () => {
  it("is the one that the planner chose, where it could choose", () => {
    expect(ownGateOf(planWith("confidence"), "any")).toBe("confidence");
    expect(ownGateOf(planWith("confidence"), "confidence")).toBeNull();
  });

  it("is not named where it is the judge, or no plan is there", () => {
    expect(ownGateOf(planWith("judge"), "any")).toBeNull();
    expect(ownGateOf({ solver: {} }, "any")).toBeNull();
    expect(ownGateOf(null, "any")).toBeNull();
  });

  it("goes with thresholds set by hand, and with no other change", () => {
    expect(withGate({ fixed }, "scorer")).toEqual({ fixed, gateChoice: "scorer" });
    for (const change of [{ qualityFloor: 60 }, { fixed: null }, { fixed, gateChoice: "any" as const }])
      expect(withGate(change, "scorer")).toBe(change);
    const change = { fixed };
    expect(withGate(change, null)).toBe(change);
  });

  it("is left to the planner again with the thresholds, if the page named it", () => {
    expect(handedBack({ fixed: null }, { gateChoice: "scorer", named: "scorer" })).toEqual({ fixed: null, gateChoice: "any" });
  });

  it("stays where the operator chose it, and while thresholds are set by hand", () => {
    for (const [change, named] of [
      [{ fixed: null }, null],
      [{ fixed: null }, "confidence"],
      [{ fixed }, "scorer"],
      [{ qualityFloor: 60 }, "scorer"],
      [{ fixed: null, gateChoice: "scorer" as const }, "scorer"],
    ] as const)
      expect(handedBack(change, { gateChoice: "scorer", named })).toBe(change);
  });
});
