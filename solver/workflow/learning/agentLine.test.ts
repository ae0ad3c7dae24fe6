import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mixSeed, type Random, seededRandom } from "@/solver/numeric/random";
import { wassersteinOfQuantiles } from "@/solver/numeric/wasserstein";
import { type AgentLine, agentLine, type LineAgent, placeOnLine } from "./agentLine";

const STEPS = 32;
const zeros: readonly number[] = new Array(STEPS + 1).fill(0);

const seconds = fc.oneof(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.constantFrom(0, 1, 1e-9, 1e6));
const anyQuantiles = fc
  .array(seconds, { minLength: STEPS + 1, maxLength: STEPS + 1 })
  .map((values): readonly number[] => [...values].sort((one, other) => one - other));

/** Each agent's quantiles are the previous one's plus amounts that never fall: no two cross. */
const chainOfAgents = fc.array(fc.tuple(anyQuantiles, fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 30 }).map((gains) => {
  let last: readonly number[] = zeros;
  return gains.map(([gain, shrink]) => {
    last = last.map((value, at) => value + gain[at]! / 10 ** shrink);
    return last;
  });
});

const named = (all: readonly (readonly number[])[]): readonly LineAgent[] =>
  all.map((quantilesSeconds, at) => ({ key: `agent ${at}`, quantilesSeconds }));
const distancesOf = ({ distanceSeconds }: AgentLine): readonly number[] => [...distanceSeconds.values()];
const meanOf = (quantilesSeconds: readonly number[]): number => wassersteinOfQuantiles(quantilesSeconds, zeros);
const most = (values: readonly number[]): number => Math.max(...values, 1e-300);

/** One of two latencies, the shorter one with a probability. */
const either = (shorter: number, longer: number, probability: number): readonly number[] =>
  zeros.map((_, at) => (at < probability * STEPS ? shorter : longer));

describe("where no two distributions cross", () => {
  test("agents are as far from the anchor as their means are long, and in that order", () => {
    fc.assert(
      fc.property(chainOfAgents, (all) => {
        const distances = distancesOf(agentLine(named(all)));
        const tolerance = 1e-6 * most(all.map(meanOf));
        for (const [at, quantiles] of all.entries()) {
          expect(Math.abs(distances[at]! - meanOf(quantiles))).toBeLessThanOrEqual(tolerance);
          if (at > 0 && meanOf(quantiles) - meanOf(all[at - 1]!) > 2 * tolerance)
            expect(distances[at]!).toBeGreaterThan(distances[at - 1]!);
        }
      }),
    );
  });

  test("an agent that the line was not made of stands where it would have stood", () => {
    fc.assert(
      fc.property(chainOfAgents, fc.nat(), (all, which) => {
        const left = all[which % all.length]!;
        const line = agentLine(named(all.filter((quantiles) => quantiles !== left)));
        // The precision of a long latency on a line of short ones is that of the line relative to its length.
        const scale = most(all.map(meanOf)) ** 2 / most(distancesOf(line));
        expect(Math.abs(placeOnLine(line, left) - meanOf(left))).toBeLessThanOrEqual(
          1e-5 * (distancesOf(line).some((own) => own > 0) ? scale : 1),
        );
      }),
    );
  });
});

describe("whatever the distributions", () => {
  test("distances are finite, none is negative, and none is beyond what all the distances allow", () => {
    fc.assert(
      fc.property(fc.array(anyQuantiles, { maxLength: 12 }), (all) => {
        const line = agentLine(named(all));
        expect(line.distanceSeconds.size).toBe(all.length);
        // The squared coordinates add up to no more than the positive part of the centred matrix.
        const bound = (all.length + 1) * most(all.map(meanOf)) * 2;
        for (const distance of distancesOf(line)) expect(distance >= 0 && distance <= bound).toBe(true);
        for (const quantiles of all) expect(placeOnLine(line, quantiles)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test("one agent is as far as its mean is long, and so are agents of one distribution", () => {
    fc.assert(
      fc.property(anyQuantiles, fc.integer({ min: 1, max: 9 }), (quantiles, count) => {
        for (const distance of distancesOf(agentLine(named(new Array(count).fill(quantiles))))) {
          expect(Math.abs(distance - meanOf(quantiles))).toBeLessThanOrEqual(1e-6 * meanOf(quantiles));
        }
      }),
    );
  });

  test("the order in which agents are listed makes no difference, and longer seconds make longer distances", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 2, max: 40 }), fc.double({ min: 1e-3, max: 1e3, noNaN: true }), (seed, count, factor) => {
        const random = seededRandom(seed);
        const all = Array.from({ length: count }, () => lognormal(random));
        const distances = distancesOf(agentLine(named(all)));
        const backwards = distancesOf(agentLine(named(all.toReversed()))).toReversed();
        const longer = distancesOf(agentLine(named(all.map((quantiles) => quantiles.map((value) => value * factor)))));
        for (const [at, distance] of distances.entries()) {
          expect(Math.abs(backwards[at]! - distance)).toBeLessThan(1e-4 * most(distances));
          expect(Math.abs(longer[at]! / factor - distance)).toBeLessThan(1e-4 * most(distances));
        }
      }),
      { numRuns: 50 },
    );
  });

  test("one of the line's own agents is placed where it stands", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 40 }), (seed, count) => {
        const random = seededRandom(seed);
        const all = Array.from({ length: count }, () => lognormal(random));
        const line = agentLine(named(all));
        for (const [at, distance] of distancesOf(line).entries()) {
          expect(Math.abs(placeOnLine(line, all[at]!) - distance)).toBeLessThan(1e-5 * most(distancesOf(line)));
        }
      }),
      { numRuns: 50 },
    );
  });
});

test("agents that are placed among a hundred like them are off by less than 1 % of the longest distance", () => {
  const random = seededRandom(mixSeed(1, "placing"));
  for (let round = 0; round < 100; round += 1) {
    const all = Array.from({ length: 101 }, () => {
      const shorter = 100 * random.next();
      return either(shorter, shorter + 200 * random.next(), random.next());
    });
    const whole = distancesOf(agentLine(named(all)));
    const placed = placeOnLine(agentLine(named(all.slice(0, 100))), all[100]!);
    expect(Math.abs(placed - whole[100]!)).toBeLessThan(0.01 * most(whole));
  }
});

test("among few agents one of a wide distribution comes out nearer than its mean is long, and before one of a shorter mean", () => {
  const line = agentLine([
    { key: "steady", quantilesSeconds: either(9, 13, 1) },
    { key: "wide", quantilesSeconds: either(0, 17, 0.5) },
    { key: "short", quantilesSeconds: either(5, 8, 0.5) },
  ]);
  expect([either(0, 17, 0.5), either(5, 8, 0.5)].map((quantiles) => Math.round(meanOf(quantiles)))).toEqual([9, 7]);
  const [steady, wide, short] = distancesOf(line);
  expect(wide).toBeLessThan(short!);
  expect(short).toBeLessThan(steady!);
});

test("latencies of any size leave no number amiss", () => {
  for (const size of [Number.MIN_VALUE, 1e-200, 1e200]) {
    const all = [either(0, size, 0.5), either(size, size, 0.5), zeros];
    const line = agentLine(named(all));
    for (const [at, distance] of distancesOf(line).entries()) {
      expect(Number.isFinite(distance) && distance >= 0 && distance <= 2 * size).toBe(true);
      expect(Math.abs(placeOnLine(line, all[at]!) - distance)).toBeLessThanOrEqual(1e-5 * size);
    }
  }
});

test("agents without latency are at the anchor, and the first with some is as far as its mean is long", () => {
  const line = agentLine(named([zeros, zeros]));
  expect(distancesOf(line)).toEqual([0, 0]);
  expect(placeOnLine(line, either(2, 4, 0.5))).toBeCloseTo(meanOf(either(2, 4, 0.5)), 9);
  const empty = agentLine([]);
  expect(empty.distanceSeconds.size).toBe(0);
  expect(placeOnLine(empty, either(2, 4, 0.5))).toBeCloseTo(meanOf(either(2, 4, 0.5)), 9);
});

test("a line survives being handed to another thread", () => {
  const all = named([either(1, 2, 0.5), either(3, 9, 0.5)]);
  const line = structuredClone(agentLine(all));
  expect(line).toEqual(agentLine(all));
  expect(placeOnLine(line, either(3, 9, 0.5))).toBeCloseTo(line.distanceSeconds.get("agent 1")!, 5);
});

test("different numbers of quantiles and such that are no numbers are refused by the agent's name", () => {
  expect(() => agentLine(named([zeros, [1, 2]]))).toThrow("agent 1 has 2 quantiles, agent 0 33");
  expect(() => agentLine(named([zeros, [...zeros.slice(1), Number.NaN]]))).toThrow("quantile of agent 1 is NaN");
  expect(() => placeOnLine(agentLine(named([either(1, 2, 0.5)])), [1])).toThrow("have 33 quantiles, found 1");
});

/** Latencies of one agent among many: medians of half a second to ten minutes, some with a narrow and some with a wide spread. */
function lognormal(random: Random): readonly number[] {
  const [middle, spread] = [Math.log(0.5) + Math.log(1200) * random.next(), 0.2 + 1.3 * random.next()];
  return zeros.map(() => random.lognormal(middle, spread)).sort((one, other) => one - other);
}
