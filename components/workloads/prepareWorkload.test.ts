import { expect, it } from "vitest";
import { noiseFloorText, prepareAgreement, prepareCategories, prepareJudged, prepareSteps, withHalf } from "./prepareWorkload";

const step = (low: number, high: number, apart: boolean) => ({
  smaller: "8b",
  larger: "70b",
  bothRight: 0.6,
  onlyLarger: 0.25,
  onlySmaller: 0.05,
  neither: 0.1,
  difference: { value: (low + high) / 2, low, high },
  apart,
});

it("marks a difference that this many prompts cannot tell from none", () => {
  expect(prepareSteps([step(10, 14, true)])[0]).toMatchObject({ difference: "+12.0 ±2.0", noise: null });
  expect(prepareSteps([step(-1, 2, false)])[0]).toMatchObject({ difference: "+0.5 ±1.5", noise: "within noise" });
});

it("names the noise floor over all pairs, and none for a single model", () => {
  expect(noiseFloorText({ agreement: [step(10, 14, true), step(1, 4, true)] })).toBe("1.5 to 2.0 points");
  expect(noiseFloorText({ agreement: [] })).toBeNull();
});

it("a single value has no half-width to show", () => {
  expect(withHalf({ value: 20, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY })).toBe("20.0");
});

it("names both ends of an interval where the value is not in its middle, so that nothing off the scale is said", () => {
  expect(withHalf({ value: 84.2, low: 82.7, high: 85.5 })).toBe("84.2 ±1.4");
  expect(withHalf({ value: 0, low: 0, high: 45.2 })).toBe("0.0 (0.0 to 45.2)");
  expect(withHalf({ value: 100, low: 54.8, high: 100 })).toBe("100.0 (54.8 to 100.0)");
});

it("the parts of agreement are the whole bar", () => {
  const [pair] = prepareAgreement([step(1, 2, true)]);
  expect(pair?.parts.map(({ words, text }) => `${words} ${text}`)).toEqual([
    "both right 60\u00a0%",
    "only the larger 25\u00a0%",
    "only the smaller 5\u00a0%",
    "neither 10\u00a0%",
  ]);
  expect(pair?.parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
});

it("shades categories from the lowest to the highest cell, and says in words which lie off the whole", () => {
  const quality = (value: number, half: number) => ({ value, low: value - half, high: value + half });
  const spread = { edges: [0, 1], counts: [1] };
  const model = {
    model: "8b",
    outputTokens: spread,
    label: spread,
    judged: spread,
    meanJudged: quality(60, 1),
    meanOutputTokens: quality(9, 1),
    judgedByLabel: { right: spread, wrong: spread },
    judgeAuc: null,
  };
  const rows = prepareCategories({
    models: [{ ...model, quality: quality(70, 1) }],
    categories: [
      { name: "math", categories: 1, prompts: 150, quality: [quality(50, 5)] },
      { name: "", categories: 1, prompts: 30, quality: [quality(90, 30)] },
      { name: null, categories: 4, prompts: 20, quality: [quality(85, 5)] },
    ],
  });
  expect(rows.map(({ name, share, cells }) => [name, share, cells[0]?.heat, cells[0]?.word])).toEqual([
    ["math", "75\u00a0%", 0, "below"],
    ["without a name", "15\u00a0%", 1, null],
    ["4 smaller ones", "10\u00a0%", 0.875, "above"],
  ]);
});

it("shows few wrong answers as tall as many right ones", () => {
  const edges = [0, 50, 100];
  const { bars, right, wrong } = prepareJudged({ right: { edges, counts: [100, 900] }, wrong: { edges, counts: [9, 1] } });
  expect([right, wrong]).toEqual([1000, 10]);
  expect(bars.map((bar) => [bar.scores, bar.right, bar.wrong])).toEqual([
    ["0 to 50", 0.1 / 0.9, 1],
    ["50 to 100", 1, 0.1 / 0.9],
  ]);
  expect(prepareJudged({ right: { edges, counts: [0, 0] }, wrong: { edges, counts: [0, 0] } }).bars[0]?.right).toBe(0);
});
