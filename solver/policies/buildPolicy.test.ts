import { describe, expect, it } from "vitest";
import type { CascadePolicy } from "../plan/plan";
import { buildPolicy } from "./buildPolicy";
import { policyContract } from "./policyContract";
import { policyRefusal } from "./policyRefusal";

const names = ["small", "medium", "large"];

function cascade(thresholds: readonly number[], place: CascadePolicy["place"]["kind"] = "least-load"): CascadePolicy {
  return {
    kind: "cascade",
    stages: names.slice(0, thresholds.length + 1).map((model) => ({ model })),
    thresholds: [...thresholds],
    judge: { model: "weir-judge", secondsPerCall: 0.27, usdPerCall: 0 },
    order: { kind: "fcfs" },
    place: { kind: place },
    approvedRanges: { thresholds: thresholds.map(() => ({ min: 0, max: 100 })) },
  };
}

for (const place of ["round-robin", "least-load"] as const) {
  for (const thresholds of [[], [60], [0, 100], [73, 41]]) {
    policyContract(`cascade of ${thresholds.length + 1} at [${thresholds}], ${place}`, {
      build: () => buildPolicy(cascade(thresholds, place)),
      stages: thresholds.length + 1,
      thresholds,
      firstComeFirstServed: true,
    });
  }
}

describe("buildPolicy", () => {
  it("gives every policy its own state", () => {
    const view = {
      nowSeconds: 1,
      waiting: [
        {
          id: "w",
          programId: "w",
          stage: 0,
          programArrivalSeconds: 0,
          queuedSinceSeconds: 0,
          inputTokens: 1,
          state: { kind: "queued" as const },
        },
      ],
      replicas: ["a", "b"].map((id) => ({
        id,
        model: "small",
        inFlight: 0,
        maxInFlight: 4,
        accepting: true,
        kvUse: { state: "absent" as const },
      })),
    };
    const first = buildPolicy(cascade([50], "round-robin"));
    first.decide(view);
    expect(first.decide(view)).toEqual([{ kind: "dispatch", workId: "w", replicaId: "b" }]);
    expect(buildPolicy(cascade([50], "round-robin")).decide(view)).toEqual([{ kind: "dispatch", workId: "w", replicaId: "a" }]);
  });

  it.each([
    ["a threshold too few", { ...cascade([50, 50]), thresholds: [50] }, "3 stages needs 2 thresholds"],
    ["a model that stands twice", { ...cascade([50]), stages: [{ model: "small" }, { model: "small" }] }, "small stands twice"],
    ["a threshold over 100", cascade([140]), "stage 1 is 140"],
    ["a threshold outside its approved range", { ...cascade([50]), approvedRanges: { thresholds: [{ min: 60, max: 70 }] } }, "60 to 70"],
    ["a threshold without an approved range", { ...cascade([50]), approvedRanges: { thresholds: [] } }, "approved range"],
    ["no stage at all", { ...cascade([]), stages: [] }, "at least one stage"],
  ])("refuses %s and says why", (_, document, reason) => {
    expect(policyRefusal(document)).toContain(reason);
    expect(() => buildPolicy(document)).toThrow(reason);
  });
});
