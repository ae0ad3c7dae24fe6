import { describe, expect, it } from "vitest";
import type { CascadePolicy } from "../plan/plan";
import { buildPolicy } from "./buildPolicy";
import { policyContract } from "./policyContract";
import { policyRefusal } from "./policyRefusal";

const names = ["small", "medium", "large"];

function cascade(thresholds: readonly number[], place: CascadePolicy["place"]["kind"] = "least-load", below = 0): CascadePolicy {
  return {
    kind: "cascade",
    stages: names.slice(0, thresholds.length + 1).map((model) => ({ model })),
    thresholds: [...thresholds],
    judge: { model: "weir-judge", secondsPerCall: 0.27, usdPerCall: 0 },
    order: { kind: "fcfs" },
    place: { kind: place },
    approvedRanges: { thresholds: thresholds.map(() => ({ min: 0, max: 100 })) },
    ...(below === 0 ? {} : { directStart: { below, router: { kind: "modelled", auc: 0.7 } } }),
  };
}

for (const place of ["round-robin", "least-load"] as const) {
  for (const [thresholds, startBelow] of [
    [[], 0],
    [[60], 0],
    [[0, 100], 0],
    [[73, 41], 0],
    [[50], 1],
    [[73, 41], 55],
  ] as const) {
    policyContract(`cascade of ${thresholds.length + 1} at [${thresholds}] from ${startBelow}, ${place}`, {
      build: () => buildPolicy(cascade(thresholds, place, startBelow)),
      stages: thresholds.length + 1,
      thresholds,
      startBelow,
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

  it("says why a request starts where it does", () => {
    const { start } = buildPolicy(cascade([73, 41], "least-load", 55));
    const scored = (small: number | undefined, medium: number | undefined) =>
      start((model) => (model === "small" ? small : model === "medium" ? medium : undefined));
    expect(scored(60, 90)).toEqual({ stage: 0, reason: "router-score-high-enough" });
    expect(scored(54, 55)).toEqual({ stage: 1, reason: "router-score-high-enough" });
    expect(scored(20, 30)).toEqual({ stage: 2, reason: "no-router-score-high-enough" });
    expect(scored(undefined, undefined)).toEqual({ stage: 0, reason: "no-router-score-of-small" });
    expect(buildPolicy(cascade([73, 41])).start(() => 0)).toEqual({ stage: 0, reason: "first-stage" });
  });

  it.each([
    ["a threshold too few", { ...cascade([50, 50]), thresholds: [50] }, "3 stages needs 2 thresholds"],
    ["a model that stands twice", { ...cascade([50]), stages: [{ model: "small" }, { model: "small" }] }, "small stands twice"],
    ["a threshold over 100", cascade([140]), "stage 1 is 140"],
    ["a threshold outside its approved range", { ...cascade([50]), approvedRanges: { thresholds: [{ min: 60, max: 70 }] } }, "60 to 70"],
    ["a threshold without an approved range", { ...cascade([50]), approvedRanges: { thresholds: [] } }, "approved range"],
    ["a direct start at no score", cascade([50], "least-load", 0.5), "below 0.5"],
    ["no stage at all", { ...cascade([]), stages: [] }, "at least one stage"],
  ])("refuses %s and says why", (_, document, reason) => {
    expect(policyRefusal(document)).toContain(reason);
    expect(() => buildPolicy(document)).toThrow(reason);
  });
});
