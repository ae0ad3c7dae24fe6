import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TokenBucket } from "./callers";

describe("TokenBucket", () => {
  it("lets no more through in any stretch of time than a minute's worth and what the stretch adds", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 400 }),
        (perMinute, gapsMs) => {
          const bucket = new TokenBucket(perMinute, 0);
          const passedMs: number[] = [];
          let nowMs = 0;
          for (const gapMs of gapsMs) {
            nowMs += gapMs;
            if (bucket.take(nowMs) === 0) passedMs.push(nowMs);
          }
          for (const [first, fromMs] of passedMs.entries()) {
            const last = passedMs.length - 1;
            const most = perMinute + (((passedMs[last] ?? 0) - fromMs) * perMinute) / 60_000;
            expect(last - first + 1).toBeLessThanOrEqual(most + 1e-6);
          }
        },
      ),
    );
  });

  it("says truly when the next may come", () => {
    const bucket = new TokenBucket(2, 0);
    expect([bucket.take(0), bucket.take(0)]).toEqual([0, 0]);
    const seconds = bucket.take(10_000);
    expect(seconds).toBeCloseTo(20, 6);
    expect(bucket.take(10_000 + seconds * 1000 - 1)).toBeGreaterThan(0);
    expect(bucket.take(10_000 + seconds * 1000 + 1)).toBe(0);
  });
});
