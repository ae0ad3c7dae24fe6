import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { splitPrompts } from "@/solver/workload/split";
import type { GateSignal } from "./gateSignal";
import { stageTournament } from "./stageTournament";

const PROMPTS = 200;
const cost = { extraTokens: 0, extraSeconds: 0 };
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Labels of answers, half of them right, and the result of gates whose scores are these. */
function stageOf(
  seed: number,
  scoresOf: (label: Float64Array, random: ReturnType<typeof seededRandom>) => readonly Float64Array[],
  given?: Float64Array,
  tokens: readonly (number | null)[] = [],
) {
  const random = seededRandom(seed);
  const label = given ?? Float64Array.from({ length: PROMPTS }, () => (random.next() < 0.5 ? 100 : 0));
  const signals = scoresOf(label, random).map((raw, at): GateSignal => {
    const extraTokens = tokens[at] === undefined ? cost.extraTokens : tokens[at];
    return { kind: "confidence", name: `gate-${at}`, modelled: false, raw, cost: { ...cost, extraTokens } };
  });
  const split = splitPrompts(PROMPTS, seed);
  const answers = { model: "small", next: "large", label, nextLabel: new Float64Array(PROMPTS).fill(100) };
  return { result: stageTournament(answers, signals, { split, share: 0.5, seed }) };
}

const noise = (random: ReturnType<typeof seededRandom>): Float64Array => Float64Array.from({ length: PROMPTS }, () => 100 * random.next());

describe("the choice among gates that are equally good", () => {
  it("does not make the chosen one look better than it is: its figures are those of the others, on average", () => {
    const excess = Array.from({ length: 30 }, (_, seed) => {
      const { gates } = stageOf(seed, (_, random) => Array.from({ length: 8 }, () => noise(random))).result;
      const areas = gates.map(({ riskCoverage }) => riskCoverage.area.value);
      return (areas[0] ?? 0) - mean(areas);
    });
    // Areas on 60 answers vary by 6 points or so: the smallest of eight is about 8 below the mean, one chosen without them 0.
    expect(Math.abs(mean(excess))).toBeLessThan(2.5);
  });
});

describe("the gate that is chosen", () => {
  it("does not depend on the labels of held-out prompts", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1000 }), (seed) => {
        const random = seededRandom(seed);
        const label = Float64Array.from({ length: PROMPTS }, () => (random.next() < 0.5 ? 100 : 0));
        const gates = [1, 2, 3].map(() => noise(random).map((value, at) => value + 0.3 * (label[at] ?? 0)));
        const isHeldOut = new Set(splitPrompts(PROMPTS, seed).heldOut);
        const { result } = stageOf(seed, () => gates, label);
        const turned = label.map((own, at) => (isHeldOut.has(at) ? 100 - own : own));
        const other = stageOf(seed, () => gates, turned).result;
        expect(other.gates.map(({ name }) => name)).toEqual(result.gates.map(({ name }) => name));
        expect(other.quality).toBeCloseTo(100 - result.quality, 9);
      }),
      { numRuns: 10 },
    );
  });

  it("is the cheapest of those that the planning prompts do not tell from the best, and never a worse one because it is cheaper", () => {
    const { result } = stageOf(
      7,
      (label, random) => {
        const good = (): Float64Array => noise(random).map((value, at) => 0.5 * value + 0.5 * (label[at] ?? 0));
        return [good(), noise(random), good(), good()];
      },
      undefined,
      [400, 0, null, 100],
    );
    expect(result.gates.map(({ name }) => name)).toEqual(["gate-3", "gate-0", "gate-2", "gate-1"]);
    expect(result.verdict).toMatchObject({ kind: "no-difference", gate: "gate-3" });
  });

  it("is not confirmed where another is surely better on the held-out prompts", () => {
    const { heldOut } = splitPrompts(PROMPTS, 3);
    const isHeldOut = new Set(heldOut);
    const { result } = stageOf(3, (label, random) => [
      // Right on the planning prompts, wrong on the others.
      label.map((own, at) => (isHeldOut.has(at) ? 100 - own : own)),
      noise(random).map((value, at) => 0.5 * value + 0.5 * (label[at] ?? 0)),
    ]);
    expect(result.verdict).toEqual({ kind: "not-confirmed", gate: "gate-0", better: ["gate-1"] });
    expect(result.gates[1]?.behindBest?.high).toBeLessThan(0);
  });

  it("wins where it is surely better than every other", () => {
    const { result } = stageOf(5, (label, random) => [noise(random), Float64Array.from(label)]);
    expect(result.verdict).toEqual({ kind: "winner", gate: "gate-1" });
  });
});
