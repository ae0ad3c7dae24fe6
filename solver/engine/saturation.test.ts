import fc from "fast-check";
import { expect, test } from "vitest";
import type { ReplicaModel } from "./replicaModel";
import { CAUTION_UTILISATION, saturationRate, stabilityOf, utilisationAt } from "./saturation";

const model: ReplicaModel = {
  stepTime: { decodeBaseSeconds: () => 1, secondsPerKvToken: 0, mixedStepSeconds: () => 2, provenance: [] },
  kvTokens: 100,
  maxSequences: 1,
  maxBatchedTokens: 50,
  requestSeconds: () => 0,
};

test("a replica that serves one request after the other in 5 s each saturates at one in 5 s", () => {
  const fours = new Int32Array(500).fill(4);
  const rate = saturationRate(model, { inputTokens: fours, outputTokens: fours }, 500)!;
  expect(rate).toBeCloseTo(0.2, 9);
  expect(utilisationAt(0.1, rate)).toBeCloseTo(0.5, 9);
});

test("a replica that cannot hold a request has no saturation rate", () => {
  expect(saturationRate(model, { inputTokens: [5, 500, 5], outputTokens: [1, 1, 1] }, 3)).toBeNull();
});

test("stability is judged at the low end of the saturation rate's band", () => {
  expect([0, 0.84, CAUTION_UTILISATION, 0.99, 1, 3].map((utilisation) => stabilityOf(utilisation))).toEqual([
    "stable",
    "stable",
    "near-saturation",
    "near-saturation",
    "unstable",
    "unstable",
  ]);
  expect(stabilityOf(0.8, 0.1)).toBe("near-saturation");
  expect(stabilityOf(0.9, 0.1)).toBe("unstable");
  expect(stabilityOf(0.1, 1)).toBe("unstable");
  expect(stabilityOf(Number.NaN)).toBe("unstable");
});

test("neither more load nor a wider band makes a replica look more stable", () => {
  const rank = ["stable", "near-saturation", "unstable"];
  const share = fc.double({ min: 0, max: 1.2, noNaN: true });
  const error = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(share, share, error, error, (a, b, c, d) => {
      const calm = stabilityOf(Math.min(a, b), Math.min(c, d));
      const worried = stabilityOf(Math.max(a, b), Math.max(c, d));
      expect(rank.indexOf(worried)).toBeGreaterThanOrEqual(rank.indexOf(calm));
    }),
  );
});

test("a front end that takes 5 ms a request saturates at 200 requests/s whatever the engine core can do", () => {
  const quick = { ...model.stepTime, decodeBaseSeconds: () => 1e-6, mixedStepSeconds: () => 1e-6 };
  const fours = new Int32Array(2000).fill(4);
  for (const maxSequences of [1, 32]) {
    const replica: ReplicaModel = { ...model, stepTime: quick, maxSequences, kvTokens: 1e6, requestSeconds: () => 0.005 };
    expect(saturationRate(replica, { inputTokens: fours, outputTokens: fours }, 2000)).toBeCloseTo(200, 6);
  }
});

test("a front end that also works on every token saturates where requests and tokens together fill its time", () => {
  const quick = { ...model.stepTime, decodeBaseSeconds: () => 1e-4, mixedStepSeconds: () => 1e-4 };
  const [prompts, answers] = [new Int32Array(4000).fill(4), new Int32Array(4000).fill(20)];
  const replica: ReplicaModel = {
    ...model,
    stepTime: quick,
    maxSequences: 32,
    kvTokens: 1e6,
    requestSeconds: () => 0.002,
    tokenSeconds: 1e-4,
  };
  const rate = saturationRate(replica, { inputTokens: prompts, outputTokens: answers }, 4000)!;
  expect(rate / (1 / (0.002 + 20 * 1e-4))).toBeCloseTo(1, 1.5);
});
