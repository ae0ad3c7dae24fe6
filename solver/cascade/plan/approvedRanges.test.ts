import { describe, expect, it } from "vitest";
import { deployedExample } from "../testing/deployedExample";
import { approvedRanges } from "./approvedRanges";

const THRESHOLD = 50;
const { explorer, routing, deployment } = deployedExample({
  models: ["llama-3.1-8b", "llama-3.1-70b"],
  skills: [0.5, 0.8],
  thresholds: [THRESHOLD],
  gpus: [4, 8],
});
const { qualityLow } = explorer.routing(routing);
const VERIFIED_SECONDS = 8;
const off = (meanAbsolute: number) => ({ rows: 60, meanAbsolute, p90Absolute: meanAbsolute, bias: 0 });
const rangeUnder = (qualityFloor: number | null, latencyBudgetSeconds: number | null, meanAbsolute = 0) =>
  approvedRanges(explorer, {
    routing,
    deployment,
    objective: { latency: "end-to-end", qualityFloor, latencyBudgetSeconds },
    profile: { errors: { ttft: off(meanAbsolute), tpot: off(meanAbsolute), endToEnd: off(meanAbsolute) } },
    verifiedSeconds: VERIFIED_SECONDS,
  })[0]!;

describe("approvedRanges", () => {
  const free = rangeUnder(qualityLow - 3, null);

  it("reaches from the plan's value both ways where the floor leaves room", () => {
    expect(free.min).toBeLessThan(THRESHOLD);
    expect(free.max).toBeGreaterThan(THRESHOLD);
    expect(explorer.outlook([0, 1], [free.min]).qualityLow).toBeGreaterThanOrEqual(qualityLow - 3);
  });

  it("stops where the latency of this deployment would leave the budget", () => {
    const tight = rangeUnder(qualityLow - 3, 1.02 * VERIFIED_SECONDS);
    const loose = rangeUnder(qualityLow - 3, 10 * VERIFIED_SECONDS);
    expect(tight.max).toBeLessThan(free.max);
    expect(tight.max).toBeGreaterThanOrEqual(THRESHOLD);
    expect(tight.min).toBe(free.min);
    expect(loose).toEqual(free);
  });

  it("stops before a stage's load could be unstable, were the engine profile as far off as it is on average", () => {
    const load = (threshold: number) =>
      (30 * explorer.outlook([0, 1], [threshold]).routed.share[1]!) / deployment[1]!.saturationRequestsPerSecond;
    // An error with which the load half way to the free end would count as saturation.
    const error = 1 - load((THRESHOLD + free.max) / 2);
    const { max } = rangeUnder(qualityLow - 3, null, error);
    expect(max).toBeLessThan(free.max);
    expect(max).toBeGreaterThanOrEqual(THRESHOLD);
    expect(load(max)).toBeLessThan(1 - error);
  });

  it("turns a plan that is over its budget only the way that makes it faster", () => {
    expect(rangeUnder(qualityLow - 3, VERIFIED_SECONDS / 2).max).toBeLessThan(free.max);
  });

  it("does not turn the judge off, however low the floor", () => {
    const low = deployedExample({ models: ["llama-3.1-8b", "llama-3.1-70b"], skills: [0.5, 0.8], thresholds: [5], gpus: [4, 8] });
    const objective = { latency: "end-to-end", qualityFloor: 0, latencyBudgetSeconds: null } as const;
    const profile = { errors: { ttft: off(0), tpot: off(0), endToEnd: off(0) } };
    expect(approvedRanges(low.explorer, { ...low, objective, profile, verifiedSeconds: VERIFIED_SECONDS })[0]?.min).toBe(1);
  });

  it("never lets the quality fall below the plan's own where there is no floor", () => {
    const { min } = rangeUnder(null, null);
    expect(explorer.outlook([0, 1], [min]).qualityLow).toBeGreaterThanOrEqual(qualityLow);
    expect(min).toBeGreaterThan(free.min);
  });
});
