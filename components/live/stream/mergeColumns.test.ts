import fc from "fast-check";
import { expect, it } from "vitest";
import type { SeriesRange } from "@/server/contracts/studio";
import { mergeColumns } from "./mergeColumns";

const SECOND = 1000;

/** A series whose values are the numbers of its buckets, without those in `missing`. */
function rangeOf(
  from: number,
  to: number,
  change: { readonly bucketMs?: number; readonly quantity?: string; readonly plus?: number } = {},
): SeriesRange {
  const { bucketMs = SECOND, quantity = "running", plus = 0 } = change;
  const at = Array.from({ length: Math.max(0, to - from) }, (_, step) => from + step);
  const values = at.map((each) => each + plus);
  const columns = { min: values, max: values, mean: values, last: values, count: values.map(() => 1) };
  return { bucketMs, atMs: at.map((each) => each * bucketMs), series: [{ subject: "engine:a", quantity, ...columns }], problems: [] };
}

const means = (range: SeriesRange) => range.series[0]?.mean;

it("replaces buckets from the tail's first one on and drops what left the span", () => {
  const merged = mergeColumns(rangeOf(0, 5), rangeOf(4, 7, { plus: 100 }), 4 * SECOND);
  expect(merged.atMs).toEqual([3000, 4000, 5000, 6000]);
  expect(means(merged)).toEqual([3, 104, 105, 106]);
  expect(merged.series[0]?.count).toEqual([1, 1, 1, 1]);
});

it("takes the whole span after a break in place of all that was known", () => {
  expect(mergeColumns(rangeOf(0, 5), rangeOf(0, 9, { plus: 100 }), 9 * SECOND)).toEqual(rangeOf(0, 9, { plus: 100 }));
});

it("begins anew with other series or other buckets", () => {
  expect(mergeColumns(rangeOf(0, 5), rangeOf(4, 6, { quantity: "waiting" }), 9 * SECOND)).toEqual(rangeOf(4, 6, { quantity: "waiting" }));
  expect(mergeColumns(rangeOf(0, 5), rangeOf(1, 3, { bucketMs: 2000 }), 9 * SECOND)).toEqual(rangeOf(1, 3, { bucketMs: 2000 }));
});

it("keeps what is known when nothing new is there, with the newest word on what could not be read", () => {
  const merged = mergeColumns(rangeOf(0, 5), { ...rangeOf(0, 0), problems: ["Prometheus does not answer."] }, 9 * SECOND);
  expect(merged).toEqual({ ...rangeOf(0, 5), problems: ["Prometheus does not answer."] });
});

it("leaves a gap between what is known and a tail that begins later", () => {
  expect(mergeColumns(rangeOf(0, 2), rangeOf(5, 6), 60 * SECOND).atMs).toEqual([0, 1000, 5000]);
});

it("gives after any row of tails what the last span of all of them holds", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 5 })), { maxLength: 20 }),
      (span, tails) => {
        let merged = rangeOf(0, 5);
        let end = 5;
        for (const [back, more] of tails) {
          merged = mergeColumns(merged, rangeOf(Math.max(0, end - back), end + more), span * SECOND);
          end += more;
        }
        const last = merged.atMs.at(-1) ?? 0;
        expect(last).toBe((end - 1) * SECOND);
        expect(merged.atMs).toEqual(merged.atMs.map((_, at) => last - (merged.atMs.length - 1 - at) * SECOND));
        expect(means(merged)).toEqual(merged.atMs.map((atMs) => atMs / SECOND));
      },
    ),
  );
});
