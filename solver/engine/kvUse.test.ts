import fc from "fast-check";
import { expect, test } from "vitest";
import { KvUse } from "./kvUse";
import type { ReplicaModel } from "./replicaModel";
import { simulateReplica } from "./simulateReplica";

const anyRuns = fc
  .array(
    fc.record({
      idle: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 50, noNaN: true })),
      seconds: fc.double({ min: 1e-4, max: 30, noNaN: true }),
      first: fc.nat(1000),
      growth: fc.nat(500),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((items) => {
    let now = 5;
    return items.map(({ idle, seconds, first, growth }) => {
      const from = now + idle;
      now = from + seconds;
      return { from, to: now, first, last: first + growth };
    });
  });

test("however long the run, at most 200 equal bins cover it without a gap and keep its token seconds and its peak", () => {
  fc.assert(
    fc.property(anyRuns, (runs) => {
      const use = new KvUse(5);
      for (const { from, to, first, last } of runs) use.add(from, to, first, last);
      const end = runs.at(-1)!.to;
      const bins = use.bins(end);
      expect(bins.length).toBeLessThanOrEqual(200);
      expect(bins[0]!.fromSeconds).toBe(5);
      expect(bins.at(-1)!.toSeconds).toBe(end);
      for (const [index, bin] of bins.slice(1).entries()) expect(bin.fromSeconds).toBe(bins[index]!.toSeconds);
      const kept = bins.reduce((sum, bin) => sum + bin.meanTokens * (bin.toSeconds - bin.fromSeconds), 0);
      const given = runs.reduce((sum, { from, to, first, last }) => sum + ((to - from) * (first + last)) / 2, 0);
      expect(Math.abs(kept - given)).toBeLessThan(1e-9 * (1 + given));
      expect(Math.max(...bins.map((bin) => bin.peakTokens))).toBe(Math.max(...runs.map(({ last }) => last)));
      for (const bin of bins) expect(bin.meanTokens).toBeLessThanOrEqual(bin.peakTokens * (1 + 1e-9));
    }),
  );
});

test("each bin holds what was in use during it", () => {
  const use = new KvUse(0);
  use.add(0, 100, 0, 100);
  use.add(150, 200, 40, 40);
  const bins = use.bins(200);
  for (const { fromSeconds, toSeconds, meanTokens, peakTokens } of bins) {
    if (toSeconds <= 100) {
      expect(meanTokens).toBeCloseTo((fromSeconds + toSeconds) / 2, 9);
      expect(peakTokens).toBeCloseTo(toSeconds, 9);
    } else if (fromSeconds >= 100 && toSeconds <= 150) {
      expect([meanTokens, peakTokens]).toEqual([0, 0]);
    } else if (fromSeconds >= 150) {
      expect(meanTokens).toBeCloseTo(40, 9);
    }
  }
  expect(bins.filter(({ meanTokens }) => meanTokens === 0).length).toBeGreaterThan(20);
});

test("a replica records its cache from the first arrival to the last finish when asked, and changes no latency by it", () => {
  const model: ReplicaModel = {
    stepTime: { decodeBaseSeconds: () => 1, secondsPerKvToken: 0, mixedStepSeconds: () => 2, provenance: [] },
    kvTokens: 100,
    maxSequences: 4,
    maxBatchedTokens: 50,
    requestSeconds: () => 0,
  };
  // 10 tokens held during a prefill of 2 s, then 11 to 14 for 1 s each; 6 s of nothing; the same again.
  const work = { arrivalSeconds: [100, 112], inputTokens: [10, 10], outputTokens: [5, 5] };
  const recorded = simulateReplica(model, work, { recordKvUse: true });
  const tokenSeconds = recorded.kvUse!.reduce((sum, bin) => sum + bin.meanTokens * (bin.toSeconds - bin.fromSeconds), 0);
  expect(tokenSeconds).toBeCloseTo(2 * (2 * 10 + 11 + 12 + 13 + 14), 9);
  expect(recorded.kvUse!.at(-1)!.toSeconds).toBe(118);
  expect(Math.max(...recorded.kvUse!.map((bin) => bin.peakTokens))).toBe(recorded.peakKvTokens);
  expect({ ...recorded, kvUse: null }).toEqual(simulateReplica(model, work));
});
