import { expect, test } from "vitest";
import { mean, quantile } from "../numeric/quantile";
import type { ReplicaModel } from "./replicaModel";
import { simulateReplica } from "./simulateReplica";

const steady: ReplicaModel = {
  stepTime: { decodeBaseSeconds: () => 0.01, secondsPerKvToken: 0, mixedStepSeconds: () => 0.02, provenance: [] },
  kvTokens: 100_000,
  maxSequences: 32,
  maxBatchedTokens: 2048,
  requestSeconds: () => 0,
};

const varying = (deviation: number): ReplicaModel => ({ ...steady, paceVariation: { deviation, seconds: 1 } });

/** Requests of 0.12 s, far apart. */
const apart = {
  inputTokens: new Int32Array(2000).fill(16),
  outputTokens: new Int32Array(2000).fill(11),
  arrivalSeconds: Float64Array.from({ length: 2000 }, (_, index) => 5 * index),
};

test("a pace that varies keeps the mean and lengthens the tail as a lognormal factor does", () => {
  const seconds = simulateReplica(varying(0.2), apart).endToEndSeconds;
  expect(mean(seconds) / 0.12).toBeCloseTo(1, 1);
  expect(quantile(seconds, 0.95) / 0.12).toBeGreaterThan(Math.exp(1.4 * 0.2 - 0.02));
  expect(quantile(seconds, 0.95) / 0.12).toBeLessThan(Math.exp(1.9 * 0.2 - 0.02));
});

test("a pace without deviation changes nothing", () => {
  expect(simulateReplica(varying(0), apart).endToEndSeconds).toEqual(simulateReplica(steady, apart).endToEndSeconds);
});

test("the same run has the same pace each time", () => {
  expect(simulateReplica(varying(0.3), apart).endToEndSeconds).toEqual(simulateReplica(varying(0.3), apart).endToEndSeconds);
});
