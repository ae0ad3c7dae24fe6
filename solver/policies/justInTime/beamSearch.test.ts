import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addConfiguration, emptySet } from "@/solver/workflow/configurationSet";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { MOST_WEIGHED } from "../core/policy";
import { declared } from "../testing/testJustInTime";
import { beamSearch } from "./beamSearch";
import { exhaustiveRound } from "./exhaustiveRound";
import type { RoundRequest, RoundSlots } from "./roundSearch";

const names = ["small", "medium", "large"];
const space = configurationSpace(declared("vote", [{ name: "a" }, { name: "b" }, { name: "c", reads: ["a", "b"] }]), names);

interface Drawn {
  readonly free: readonly number[];
  /** By model, the throughput that each further request adds. */
  readonly gains: readonly (readonly number[])[];
  /** The configurations left to each program, and whether one or both of its first agents wait. */
  readonly programs: readonly { readonly left: readonly number[]; readonly both: boolean }[];
}

const drawnOf = (most: number, both: fc.Arbitrary<boolean>): fc.Arbitrary<Drawn> =>
  fc.record({
    free: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 3, maxLength: 3 }),
    gains: fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 9, maxLength: 9 }), { minLength: 3, maxLength: 3 }),
    programs: fc.array(fc.record({ left: fc.array(fc.nat(space.size - 1), { minLength: 1, maxLength: 5 }), both }), { maxLength: most }),
  });

function requestsOf({ programs }: Drawn): readonly RoundRequest[] {
  return programs.flatMap(({ left: members, both }) => {
    const left = emptySet(space.size);
    for (const member of members) addConfiguration(left, member);
    return (both ? [0, 1] : [0]).map((agent) => {
      const having = space.having[agent]!;
      const allowed = having.reduce(
        (bits, own, model) => (own.some((word, at) => (word & left[at]!) !== 0) ? bits | (1 << model) : bits),
        0,
      );
      return { allowed, left, having, continues: agent === 1, continued: both && agent === 0 };
    });
  });
}

/** Returns its requests in turn, whatever is open: the search itself passes over those that cannot be served. */
function roundOf(drawn: Drawn): RoundSlots & { readonly requests: readonly RoundRequest[] } {
  const requests = requestsOf(drawn);
  let next = 0;
  return {
    requests,
    free: Int32Array.from(drawn.free),
    gain: (model, count) => drawn.gains[model]!.slice(0, count).reduce((sum, each) => sum + each, 0),
    next: () => requests[next++],
  };
}

const best = (search: typeof exhaustiveRound, drawn: Drawn) => search(roundOf(drawn))[0]!;

describe("beamSearch", () => {
  it("keeps assignments best first, within the slots, allowed to each request and among what is left to its program", () => {
    fc.assert(
      fc.property(drawnOf(12, fc.boolean()), fc.integer({ min: 1, max: 8 }), (drawn, width) => {
        const round = roundOf(drawn);
        const kept = beamSearch(width, 3)(round);
        expect(kept.length).toBeGreaterThanOrEqual(1);
        expect(kept.length).toBeLessThanOrEqual(width);
        for (const [rank, { gain, flexibility, choices }] of kept.entries()) {
          const above = kept[rank - 1];
          if (above !== undefined) expect(above.gain > gain || (above.gain === gain && above.flexibility >= flexibility)).toBe(true);
          const taken = [0, 0, 0];
          let left = new Uint32Array(0);
          for (const [at, model] of choices.entries()) {
            const request = round.requests[at]!;
            if (!request.continues) left = request.left!.slice();
            const may = request.having.flatMap((own, index) => (own.some((word, word_) => (word & left[word_]!) !== 0) ? [index] : []));
            if (model < 0) {
              // Passed over only where no model that it may have is left.
              expect(may.filter((index) => taken[index]! < drawn.free[index]!)).toEqual([]);
              continue;
            }
            expect(may).toContain(model);
            left = left.map((word, index) => word & request.having[model]![index]!);
            taken[model]! += 1;
          }
          expect(taken.every((count, model) => count <= drawn.free[model]!)).toBe(true);
          expect(gain).toBe(taken.reduce((sum, count, model) => sum + round.gain(model, count), 0));
        }
      }),
    );
  });

  it("never beats trying every assignment, and equals it where the beam holds all that differ", () => {
    fc.assert(
      fc.property(drawnOf(4, fc.boolean()), fc.integer({ min: 1, max: 8 }), (drawn, width) => {
        expect(best(beamSearch(width, 3), drawn).gain).toBeLessThanOrEqual(best(exhaustiveRound, drawn).gain);
      }),
    );
    // Five requests give 56 states of slots taken of three models, each with at most nine choices of a program's two requests.
    const few = fc.oneof(drawnOf(5, fc.constant(false)), drawnOf(2, fc.boolean()));
    fc.assert(
      fc.property(few, (drawn) => {
        const [all, beam] = [best(exhaustiveRound, drawn), best(beamSearch(64, 3), drawn)];
        expect(beam.gain).toBe(all.gain);
        expect(beam.flexibility).toBeCloseTo(all.flexibility, 12);
      }),
    );
  });

  it("asks for no request once no slot is left, and weighs no more than its bound", () => {
    const endless = (free: readonly number[]) => {
      let asked = 0;
      const request = { allowed: 1, left: null, having: [], continues: false, continued: false };
      const next = () => {
        asked += 1;
        return request;
      };
      const round = { free: Int32Array.from(free), gain: (_: number, count: number) => count, next };
      const [first] = beamSearch(4, 3)(round);
      return { asked, weighed: first!.choices.length };
    };
    expect(endless([0, 0, 0])).toEqual({ asked: 0, weighed: 0 });
    expect(endless([3, 0, 0])).toEqual({ asked: 3, weighed: 3 });
    expect(endless([9999, 0, 0])).toEqual({ asked: MOST_WEIGHED, weighed: MOST_WEIGHED });
  });

  it("prefers among equal gains what leaves its programs most configurations", () => {
    const drawn: Drawn = { free: [1, 1, 0], gains: [[5], [5], [0]], programs: [{ left: [0, 1, 2, 9], both: false }] };
    expect(best(beamSearch(1, 3), drawn)).toMatchObject({ choices: Int8Array.of(0), flexibility: 0.75 });
  });
});
