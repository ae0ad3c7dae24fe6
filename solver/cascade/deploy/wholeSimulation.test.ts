import { expect, it } from "vitest";
import { settledStage } from "./wholeSimulation";

it("takes a stage's percentiles over the requests after the warm-up only, at the percentile asked", () => {
  // Answers arrive in another order than requests: the warm-up is counted in requests.
  const stage = {
    request: Int32Array.from([1, 0, 3, 2, 4]),
    latencySeconds: Float64Array.from([90, 80, 2, 1, 3]),
    ttftSeconds: Float64Array.from([9, 8, 0.2, 0.1, 0.3]),
  };
  const settled = settledStage(stage, 2, 0.5);
  expect([settled.percentile.seconds, settled.mean.seconds, settled.ttftPercentile.seconds]).toEqual([2, 2, 0.2]);
  expect(settledStage(stage, 2, 1).percentile.seconds).toBe(3);
  expect(settledStage(stage, 0, 1).percentile.seconds).toBe(90);
});
