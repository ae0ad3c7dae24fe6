import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mean, quantileOfSorted } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import { DecayingDistribution, densestValue } from "./decayingDistribution";

const filled = (count: number, draw: (at: number) => number, into = new DecayingDistribution()): DecayingDistribution => {
  for (let at = 0; at < count; at += 1) into.add(draw(at));
  return into;
};

const seconds = fc.double({ min: 0, max: 1e6, noNaN: true });

test("nothing observed is nothing said", () => {
  const empty = new DecayingDistribution();
  expect(empty.view()).toEqual({ observations: 0, state: "empty", quantilesSeconds: [], modeSeconds: null });
  expect(empty.median).toBeNaN();
});

test("before the first distribution converges all observed values count, as 33 quantiles of the one definition", () => {
  fc.assert(
    fc.property(fc.array(seconds, { minLength: 1, maxLength: 8 }), (values) => {
      const { quantiles, observed, mode } = filled(values.length, (at) => values[at] ?? 0);
      const sorted = Float64Array.from(values).sort();
      expect(quantiles).toEqual(Array.from({ length: 33 }, (_, at) => quantileOfSorted(sorted, at / 32)));
      expect(observed).toBe(values.length);
      expect(mode).toBeGreaterThanOrEqual(sorted[0] ?? 0);
      expect(mode).toBeLessThanOrEqual(sorted.at(-1) ?? 0);
    }),
  );
});

test("a narrow distribution converges sooner than a wide one, and one that grows all the time never does", () => {
  const random = seededRandom(1);
  const observationsToConverge = (draw: (at: number) => number): number => {
    const distribution = new DecayingDistribution();
    for (let at = 0; at < 4096; at += 1) {
      distribution.add(draw(at));
      if (distribution.view().state === "converged") return distribution.observed;
    }
    return Number.POSITIVE_INFINITY;
  };
  const narrow = observationsToConverge(() => 10 + random.normal());
  const wide = observationsToConverge(() => random.lognormal(0, 2));
  expect(narrow).toBe(8);
  expect(wide).toBeGreaterThan(narrow);
  expect(observationsToConverge((at) => 2 ** (at / 4.5))).toBe(Number.POSITIVE_INFINITY);
});

test("a sample has converged when doubling it moves it by a fifth of its mean, and has not when by more", () => {
  // Shifted by half of the second half's increase, which is a fifth of the mean where that is 0.2 / 0.8.
  const stateAfter = (longer: number) => filled(8, (at) => (at < 4 ? 1 : 1 + longer)).view().state;
  expect([0.49, 0.51].map(stateAfter)).toEqual(["converged", "learning"]);
});

test("what decisions use is there once it has converged, and during a drift it is what was before", () => {
  const early = filled(7, () => 1);
  expect([early.settled, early.view().modeSeconds]).toEqual([null, 1]);
  const own = filled(512, () => 1);
  expect(own.settled?.mode).toBe(1);
  const seen = new Set<string>();
  // Each value is above the one before, so that nothing converges for a while.
  for (let at = 0; at < 512; at += 1) {
    own.add(10 + at);
    const { state } = own.view();
    seen.add(state);
    if (state !== "converged") expect(own.settled?.mode).toBe(1);
  }
  expect([...seen].sort()).toEqual(expect.arrayContaining(["converged", "drifted"]));
  filled(4096, () => 700, own);
  expect([own.view().state, own.settled?.mode]).toEqual(["converged", 700]);
});

test("equal values converge, zero among them", () => {
  for (const value of [0, 7]) {
    const { state, modeSeconds, quantilesSeconds } = filled(100, () => value).view();
    expect([state, modeSeconds, Math.min(...quantilesSeconds), Math.max(...quantilesSeconds)]).toEqual(["converged", value, value, value]);
  }
});

describe.each([
  ["exponential", (random: ReturnType<typeof seededRandom>) => random.exponential(1)],
  ["lognormal", (random: ReturnType<typeof seededRandom>) => random.lognormal(0, 0.5)],
  ["of two modes", (random: ReturnType<typeof seededRandom>) => (random.next() < 0.5 ? 1 : 5) + 0.2 * random.normal()],
] as const)("latencies %s", (_, draw) => {
  test("stay in force while they stay the same: of 100,000 hardly any window is begun anew", () => {
    const random = seededRandom(2);
    const distribution = filled(1024, () => draw(random));
    let begunAnew = 0;
    let before = distribution.observed;
    for (let at = 0; at < 100_000; at += 1) {
      distribution.add(draw(random));
      if (distribution.observed < before) begunAnew += 1;
      before = distribution.observed;
    }
    expect(begunAnew).toBeLessThanOrEqual(2);
    expect(distribution.view().state).toBe("converged");
  });

  test("that become three times as long are in force alone within 96 observations", () => {
    const random = seededRandom(3);
    const distribution = filled(2048, () => draw(random));
    const before = mean(distribution.quantiles);
    filled(96, () => 3 * draw(random), distribution);
    expect(distribution.view().state).toBe("drifted");
    expect(distribution.observed).toBeLessThanOrEqual(96);
    filled(1024, () => 3 * draw(random), distribution);
    expect(distribution.view().state).toBe("converged");
    expect(mean(distribution.quantiles) / before).toBeGreaterThan(2.4);
    expect(mean(distribution.quantiles) / before).toBeLessThan(3.6);
  });
});

test("what was begun anew and never settles is being learnt, and not drifting for ever", () => {
  const random = seededRandom(7);
  const distribution = filled(2048, () => 10 + random.normal());
  const states = new Set<string>();
  let level = 0;
  for (let at = 0; at < 20_000; at += 1) {
    if (at % 40 === 0) level = 100 + random.lognormal(0, 2);
    distribution.add(level);
    states.add(`${distribution.observed < 128 ? "fewer than 128" : "128 and more"}: ${distribution.view().state}`);
  }
  expect(states).toContain("fewer than 128: drifted");
  expect(states).toContain("128 and more: learning");
  expect(states).not.toContain("128 and more: drifted");
});

test("what changes too little to be told apart fades all the same: 576 later nothing of before is left", () => {
  const random = seededRandom(4);
  const distribution = filled(2048, () => 10 + random.normal());
  filled(576, () => 10.2 + 0.3 * random.normal(), distribution);
  const { quantilesSeconds } = distribution.view();
  expect(quantilesSeconds[0]).toBeGreaterThan(8.7);
  expect(quantilesSeconds.at(-1)).toBeLessThan(11.7);
});

test("of two modes the one with more is the mode, in its densest part", () => {
  const random = seededRandom(5);
  const mode = filled(512, () => (random.next() < 0.7 ? 2 : 20) + 0.3 * random.normal()).mode ?? Number.NaN;
  expect(Math.abs(mode - 2)).toBeLessThan(0.3);
  const skewed = filled(512, () => random.lognormal(2, 0.8)).mode ?? Number.NaN;
  // The mode of a lognormal is exp(mu - sigma^2), its median exp(mu).
  expect(skewed).toBeGreaterThan(0.5 * Math.exp(2 - 0.64));
  expect(skewed).toBeLessThan(Math.exp(2));
});

test("kept and restored it has the same view, and goes on learning", () => {
  fc.assert(
    fc.property(fc.nat(1500), fc.integer({ min: 0, max: 3 }), fc.nat(), (count, spread, seed) => {
      const random = seededRandom(seed);
      const distribution = filled(count, (at) => random.lognormal(at > 800 ? 2 : 0, spread));
      const restored = new DecayingDistribution(JSON.parse(JSON.stringify(distribution.keep())));
      expect(restored.view()).toEqual(distribution.view());
      expect(restored.keep()).toEqual(distribution.keep());
      filled(2000, () => 5 + random.next(), restored);
      expect(restored.quantiles[0]).toBeGreaterThanOrEqual(5);
    }),
    { numRuns: 60 },
  );
});

test("a restored window is replaced evenly: half of its new observations leave half of the old ones", () => {
  const random = seededRandom(6);
  const restored = new DecayingDistribution(filled(512, () => random.lognormal(0, 1.5)).keep());
  const before = restored.quantiles;
  filled(256, () => random.lognormal(0, 1.5), restored);
  expect(restored.median / (before[16] ?? 0)).toBeGreaterThan(0.75);
  expect(restored.median / (before[16] ?? 0)).toBeLessThan(1.33);
});

const steps = (value: (probability: number) => number): readonly number[] => Array.from({ length: 33 }, (_, at) => value(at / 32));

test("lies where the quantiles are closest together", () => {
  expect(densestValue(steps((p) => 10 * p ** 2))).toBeLessThan(0.1);
  expect(densestValue(steps((p) => 10 * Math.sqrt(p)))).toBeGreaterThan(9);
  expect(densestValue(steps((p) => (p < 0.3 ? p : p < 0.6 ? 5 + p / 100 : 10 + p)))).toBeCloseTo(5, 1);
});

test("without a densest part it is the middle, of nothing null", () => {
  expect(densestValue(steps((p) => 32 * p))).toBe(16);
  expect(densestValue(steps(() => 4))).toBe(4);
  expect(densestValue([])).toBeNull();
});

test("follows scale and shift", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 33, maxLength: 33 }),
      fc.nat(50),
      fc.integer({ min: 1, max: 8 }),
      (values, shift, scale) => {
        const sorted = values.toSorted((a, b) => a - b);
        expect(densestValue(sorted.map((value) => scale * value + shift))).toBe(scale * (densestValue(sorted) ?? 0) + shift);
      },
    ),
  );
});
