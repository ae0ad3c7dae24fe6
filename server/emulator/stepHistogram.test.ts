import fc from "fast-check";
import { expect, it } from "vitest";
import { StepHistogram } from "./stepHistogram";

const EDGES = [1, 2.5, 5, 20];
const textOf = (histogram: StepHistogram): string => histogram.text("h", "Help.", 'engine="0"');
/** Multiples of 1/64, whose sums are exact in any order. */
const exact = fc.nat(1000).map((ticks) => ticks / 64);

it("takes values that grow evenly as it takes them one by one", () => {
  const anySeries = fc.record({ first: exact, times: fc.nat(5), values: fc.nat(40), growth: fc.oneof(fc.constant(0), exact) });
  fc.assert(
    fc.property(fc.array(anySeries, { maxLength: 6 }), (series) => {
      const [atOnce, oneByOne] = [new StepHistogram(EDGES), new StepHistogram(EDGES)];
      for (const { first, times, values, growth } of series) {
        atOnce.add(first, times, values, growth);
        for (let index = 0; index < values * times; index++) oneByOne.add(first + growth * Math.floor(index / times), 1);
      }
      expect(textOf(atOnce)).toBe(textOf(oneByOne));
    }),
  );
});

it("counts a value at an edge within it, and writes sum and count", () => {
  const histogram = new StepHistogram(EDGES);
  histogram.add(2.5, 2);
  histogram.add(30, 1);
  expect(textOf(histogram).split("\n").slice(2)).toEqual([
    'h_bucket{le="1",engine="0"} 0',
    'h_bucket{le="2.5",engine="0"} 2',
    'h_bucket{le="5",engine="0"} 2',
    'h_bucket{le="20",engine="0"} 2',
    'h_bucket{le="+Inf",engine="0"} 3',
    'h_sum{engine="0"} 35',
    'h_count{engine="0"} 3',
  ]);
});

it("keeps its values when its copy takes more", () => {
  const histogram = new StepHistogram(EDGES);
  histogram.add(3, 1);
  const before = textOf(histogram);
  histogram.copy().add(3, 1);
  expect(textOf(histogram)).toBe(before);
});
