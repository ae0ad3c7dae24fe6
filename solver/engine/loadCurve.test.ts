import { describe, expect, it } from "vitest";
import { lateBursts } from "../cascade/testing/testSample";
import { gpuCard } from "../hardware/gpus";
import { modelCard } from "../hardware/models";
import { replicaModel } from "../hardware/replicaShapes";
import { seededRandom } from "../numeric/random";
import { type CurveWork, FINALIST_LOADS, type LoadPoint, loadCurve, rateWithin, runLength, SEARCH_LOADS } from "./loadCurve";
import { thinnedArrivals } from "./thinning";

const fit = replicaModel(modelCard("llama-3.1-70b")!, gpuCard("h100-sxm")!, { tp: 4, pp: 1 });
if (!fit.fits) throw new Error(fit.reason);
const { replica } = fit;

const REQUESTS = 12_000;
const arrivalSeconds = lateBursts(REQUESTS, 4);

function work(): CurveWork {
  const random = seededRandom(6);
  const count = 2 * REQUESTS;
  return {
    inputTokens: Int32Array.from({ length: count }, () => 100 + random.int(400)),
    outputTokens: Int32Array.from({ length: count }, () => 50 + random.int(300)),
    arrivals: (oneIn, wanted) => thinnedArrivals(arrivalSeconds, { share: 1, oneIn, count: wanted, seed: 3 }),
    traceRequests: REQUESTS,
    stageRequestsPerSecond: 30,
    highestRequestsPerSecond: 30,
    quantile: 0.95,
  };
}

/** The same loads with runs over the whole trace, whatever their cost. */
const whole = (loads: readonly LoadPoint[]): LoadPoint[] => loads.map((load) => ({ ...load, most: 2 * REQUESTS }));

describe("loadCurve", () => {
  it.each([
    ["a search", SEARCH_LOADS],
    ["a finalist", FINALIST_LOADS],
  ])("sees the slow bursts late in a trace at the loads of %s", (_, loads) => {
    const found = loadCurve(replica, work(), loads);
    const exact = loadCurve(replica, work(), whole(loads));
    expect(found?.seconds.length).toBe(loads.length + 1);
    for (const [index, seconds] of (exact?.seconds ?? []).entries()) {
      // At light load nothing waits, whatever the trace; the first load is that of requests alone.
      if ((loads[index - 1]?.share ?? 0) >= 0.65) expect(Math.abs((found?.seconds[index] ?? 0) / seconds - 1)).toBeLessThan(0.1);
    }
  });

  it("never falls with the load, and reads back the rate that keeps a latency", () => {
    const curve = loadCurve(replica, work(), FINALIST_LOADS)!;
    for (let index = 1; index < curve.seconds.length; index += 1)
      expect(curve.seconds[index]!).toBeGreaterThanOrEqual(curve.seconds[index - 1]!);
    expect(rateWithin(curve, curve.seconds.at(-1)!)).toBe(curve.rates.at(-1));
    expect(rateWithin(curve, 0)).toBe(0);
  });

  it("has no curve for a replica that cannot hold a request", () => {
    expect(loadCurve({ ...replica, kvTokens: 200 }, work(), SEARCH_LOADS)).toBeNull();
  });
});

describe("runLength", () => {
  it("goes through the trace once, or as often as the least asks, up to the most", () => {
    expect(runLength(5000, { least: 1000, most: 12_000 })).toBe(5000);
    expect(runLength(400, { least: 1000, most: 12_000 })).toBe(1200);
    expect(runLength(19_000, { least: 1000, most: 12_000 })).toBe(12_000);
    expect(runLength(0.3, { least: 10, most: 100 })).toBe(11);
    expect(runLength(0, { least: 10, most: 100 })).toBe(10);
  });
});
