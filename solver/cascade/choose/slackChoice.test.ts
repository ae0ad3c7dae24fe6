import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Candidate, Exploration, Knobs } from "../explore/exploration";
import { orderedSubsets } from "../routing/routingGrid";
import { allocate } from "./allocate";
import { choose, promisedQuality } from "./choose";

const MAX_GPUS = 7;
const MODELS = 3;

/** All cascades of three models, each at two settings of its thresholds; qualities on a coarse grid, so that some are equal. */
const explorations = fc
  .record({
    steps: fc.array(fc.double({ min: 0.6, max: 1, noNaN: true }), { minLength: 2 * MAX_GPUS, maxLength: 60 }),
    seconds: fc.array(fc.double({ min: 1, max: 9, noNaN: true }), { minLength: MODELS, maxLength: MODELS }),
    least: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: MODELS, maxLength: MODELS }),
    qualities: fc.array(fc.integer({ min: 60, max: 70 }), { minLength: 14, maxLength: 14 }),
    weights: fc.array(fc.double({ min: 0.1, max: 1, noNaN: true }), { minLength: MODELS, maxLength: MODELS }),
    judge: fc.double({ min: 0, max: 0.001, noNaN: true }),
  })
  .map(({ steps, seconds, least, qualities, weights, judge }): Exploration => {
    const cascades = orderedSubsets(MODELS).flatMap((stages) => [stages, stages]);
    const rows: number[] = [];
    const offsets: number[] = [];
    for (const [routing, stages] of cascades.entries()) {
      offsets.push(rows.length);
      for (const [stage, model] of stages.entries()) {
        let own = seconds[model]! * (1 + 0.1 * (routing % 2)) * (stage + 1);
        for (let f = 1; f <= MAX_GPUS; f += 1) {
          own *= steps[(routing * 5 + model * 3 + f) % steps.length]!;
          rows.push(f < least[model]! ? Number.POSITIVE_INFINITY : own);
        }
      }
    }
    return {
      models: ["small", "middle", "large"],
      requestsPerSecond: 10,
      maxGpus: MAX_GPUS,
      leastGpus: least,
      usdPerGpuHour: 3.6,
      judge: { secondsPerCall: 0.25, usdPerCall: judge },
      qualityConfidence: 0.9,
      routings: cascades.map((stages, routing) => ({
        stages,
        thresholds: stages.slice(1).map(() => 30 + 40 * (routing % 2)),
        startBelow: 0,
        quality: qualities[routing]! + 2,
        qualityLow: qualities[routing]!,
        share: stages.map((_, stage) => 0.5 ** stage),
      })),
      stageP95: Float32Array.from(rows),
      tableOffset: Int32Array.from(offsets),
      endToEndWeight: Float32Array.from(cascades.flatMap((stages) => stages.map((_, stage) => weights[stage]!))),
      endToEndJudgeSeconds: Float32Array.from(cascades, (stages) => 0.25 * (stages.length - 1)),
    };
  });

const anyKnobs = fc.record({
  latency: fc.constantFrom("end-to-end", "largest-stage"),
  qualityFloor: fc.constantFrom(null, 62, 65, 68),
  qualityConfidence: fc.constantFrom(null, 0.9),
  latencyBudgetSeconds: fc.constantFrom(null, 2, 4, 8),
  maxGpus: fc.integer({ min: 1, max: MAX_GPUS }),
}) satisfies fc.Arbitrary<Omit<Knobs, "kind">>;

const slacks = fc.oneof(fc.constantFrom(0, 0.05, 0.1, 0.25, 0.5, 1), fc.double({ min: 0, max: 1, noNaN: true }));
const fastest = { kind: "latency-under-quality" } as const;
const cheapest = { kind: "cost-under-both" } as const;
const runs = { numRuns: 400 };

/** Every routing on every number of GPUs, each from all of them down. */
const onCounts = (
  exploration: Exploration,
  { maxGpus, latency }: Pick<Knobs, "maxGpus" | "latency">,
): readonly (readonly [Candidate, ...Candidate[]])[] =>
  exploration.routings.map((_, routing) => {
    const on = (gpus: number): Candidate => allocate(exploration, routing, { gpus, latency });
    return [on(maxGpus), ...Array.from({ length: maxGpus - 1 }, (_, less) => on(maxGpus - 1 - less))];
  });

describe("the slack of a cascade", () => {
  it("changes nothing at zero where the lowest latency is sought, nor at all where the highest quality within a budget is", () => {
    fc.assert(
      fc.property(explorations, anyKnobs, slacks, (exploration, knobs, slack) => {
        expect(choose(exploration, { ...fastest, ...knobs, slack: 0 })).toEqual(choose(exploration, { ...fastest, ...knobs }));
        const asked = { ...knobs, kind: "quality-under-latency" } as const;
        expect(choose(exploration, { ...asked, slack })).toEqual(choose(exploration, asked));
      }),
      runs,
    );
  });

  it("never promises less quality the more of it there is, and no higher cost for the same quality", () => {
    fc.assert(
      fc.property(explorations, anyKnobs, slacks, slacks, (exploration, knobs, one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)].map(
          (slack) => choose(exploration, { ...fastest, ...knobs, slack }).chosen,
        );
        if (less == null || more == null) {
          expect(more).toBe(less);
          return;
        }
        const quality = promisedQuality(knobs);
        expect(quality(more)).toBeGreaterThanOrEqual(quality(less));
        if (quality(more) === quality(less)) expect(more.costUsdPerRequest).toBeLessThanOrEqual(less.costUsdPerRequest);
      }),
      runs,
    );
  });

  it("never costs more the more of it there is, where the lowest cost is sought, and never less than without a limit", () => {
    fc.assert(
      fc.property(explorations, anyKnobs, slacks, slacks, (exploration, knobs, one, other) => {
        const asked = { ...cheapest, ...knobs };
        const costOf = (slack: Partial<Knobs>) => choose(exploration, { ...asked, ...slack }).chosen?.costUsdPerRequest ?? Number.NaN;
        const [less, more, free] = [costOf({ slack: Math.min(one, other) }), costOf({ slack: Math.max(one, other) }), costOf({})];
        if (Number.isNaN(free)) {
          expect([less, more]).toEqual([Number.NaN, Number.NaN]);
          return;
        }
        expect(more).toBeLessThanOrEqual(less);
        expect(free).toBeLessThanOrEqual(more);
      }),
      runs,
    );
  });

  it.each([undefined, 1159225437])(
    "chooses the best of all routings within the latency it allows, on the fewest GPUs for it: seed %s",
    (seed) => {
      const kinds = fc.constantFrom<Knobs["kind"]>("latency-under-quality", "cost-under-both");
      fc.assert(
        fc.property(explorations, anyKnobs, slacks, kinds, (exploration, knobs, slack, kind) => {
          const { chosen, slack: bought, candidates } = choose(exploration, { ...knobs, kind, slack });
          if (chosen === null || bought === null) {
            expect(bought).toBeNull();
            return;
          }
          const quality = promisedQuality(knobs);
          const { limitSeconds } = bought;
          const budget = knobs.latencyBudgetSeconds ?? Number.MAX_VALUE;
          const atFloor = onCounts(exploration, knobs).filter(([onAll]) => quality(onAll) >= (knobs.qualityFloor ?? 0));
          const least = Math.min(...atFloor.map(([onAll]) => onAll.latencySeconds));
          expect(limitSeconds).toBe(Math.min((1 + slack) * least, budget));
          const isWithin = ({ latencySeconds }: Candidate): boolean => latencySeconds <= limitSeconds;
          const within = atFloor.filter(([onAll]) => isWithin(onAll));
          expect(isWithin(chosen)).toBe(true);
          const highest = Math.max(...within.map(([onAll]) => quality(onAll)));
          const best = kind === "cost-under-both" ? within : within.filter(([onAll]) => quality(onAll) === highest);
          expect(best.map(([onAll]) => quality(onAll))).toContain(quality(chosen));
          const costs = (candidates: readonly Candidate[]): number =>
            Math.min(...candidates.map(({ costUsdPerRequest }) => costUsdPerRequest));
          // End to end, fewer GPUs may be faster. The cost is then at most that of a count from which on every larger one is within the limit.
          const fromThereOn = best.map((counts) => counts.slice(0, [...counts.map(isWithin), false].indexOf(false)));
          expect(chosen.costUsdPerRequest).toBeLessThanOrEqual(costs(fromThereOn.flat()));
          const lowest = costs(best.flat().filter(isWithin));
          if (knobs.latency === "largest-stage") expect(chosen.costUsdPerRequest).toBe(lowest);
          else expect(chosen.costUsdPerRequest).toBeGreaterThanOrEqual(lowest);
          expect(candidates[chosen.routing]).toBe(chosen);
          expect(candidates.map(({ routing }) => routing)).toEqual([...exploration.routings.keys()]);
        }),
        { ...runs, ...(seed !== undefined && { seed }) },
      );
    },
  );

  it("keeps the list of candidates the same while a floor or slack moves without changing the choice", () => {
    fc.assert(
      fc.property(explorations, anyKnobs, slacks, fc.double({ min: 60, max: 70, noNaN: true }), (exploration, knobs, slack, floor) => {
        const before = choose(exploration, { ...fastest, ...knobs, slack });
        const after = choose(exploration, { ...fastest, ...knobs, qualityFloor: floor, slack });
        if (before.chosen === null || after.chosen === null) return;
        expect(after.candidates === before.candidates).toBe(
          after.chosen === before.chosen || (before.candidates.includes(after.chosen) && after.candidates.includes(before.chosen)),
        );
      }),
      runs,
    );
  });
});
