import { expect, test } from "vitest";
import { mean } from "@/solver/numeric/quantile";
import { DEFAULT_LADDER, generatedWorkload } from "./generated";
import { ladderFigures } from "./ladderFigures";

const workload = generatedWorkload({ prompts: 20_000, seed: 8 });
const labels = workload.outcomes.models.map(({ label }) => label);
const agreement = (a: number, b: number): number => mean((labels[a] ?? labels[0]!).map((label, at) => (label === labels[b]?.[at] ? 1 : 0)));

test("models of the default ladder have the accuracies they were fitted to, rising with size", () => {
  expect(workload.outcomes.models.map(({ model }) => model)).toEqual(DEFAULT_LADDER);
  const accuracies = labels.map((label) => mean(label) / 100);
  for (const [at, fitted] of [0.331, 0.527, 0.699].entries()) expect(Math.abs(accuracies[at]! - fitted)).toBeLessThan(0.012);
});

test("two models agree on a prompt as often as in the data, far more often than independent ones would", () => {
  expect(Math.abs(agreement(0, 1) - 0.681)).toBeLessThan(0.02);
  expect(Math.abs(agreement(1, 2) - 0.749)).toBeLessThan(0.02);
  expect(Math.abs(agreement(0, 2) - 0.595)).toBeLessThan(0.02);
  const independent = 0.331 * 0.527 + 0.669 * 0.473;
  expect(agreement(0, 1)).toBeGreaterThan(independent + 0.1);
});

test("lengths are lognormal with the fitted mean, and wrong answers are longer than right ones", () => {
  const middle = workload.outcomes.models[1]!;
  expect(mean(middle.outputTokens) / Math.exp(5.13 + 0.495 ** 2 / 2)).toBeCloseTo(1, 1);
  const tokensOf = (label: number) => mean(middle.outputTokens.filter((_, at) => middle.label[at] === label));
  expect(tokensOf(0)).toBeGreaterThan(tokensOf(100) * 1.2);
  expect(mean(workload.outcomes.inputTokens)).toBeCloseTo(117, -1);
});

test("every family and every ladder of two models of it can be drawn", () => {
  for (const family of ladderFigures) {
    const ids = family[0]!.models.map(({ model }) => model);
    for (const ladder of [ids, ids.slice(0, 2), [ids[0]!, ids.at(-1)!]]) {
      const drawn = generatedWorkload({ prompts: 50, ladder, seed: 1 });
      expect(drawn.outcomes.models.map(({ model }) => model)).toEqual(ladder);
      expect(new Set(drawn.outcomes.categories)).toEqual(new Set(family.map(({ category }) => category)));
      expect(drawn.origin.generated).toBe(true);
    }
  }
});

test("the same seed draws the same workload", () => {
  expect(generatedWorkload({ prompts: 30, seed: 2 })).toEqual(generatedWorkload({ prompts: 30, seed: 2 }));
  expect(generatedWorkload({ prompts: 30, seed: 2 }).outcomes).not.toEqual(generatedWorkload({ prompts: 30, seed: 3 }).outcomes);
});

test("a ladder without figures, too short or out of order is refused with the ladders there are", () => {
  for (const ladder of [["gpt-5"], ["qwen2.5-3b"], ["qwen2.5-7b", "qwen2.5-3b"], ["qwen2.5-3b", "gemma-2-27b"]]) {
    expect(() => generatedWorkload({ prompts: 10, ladder, seed: 1 })).toThrow("llama-3.1-8b < llama-3.1-70b");
  }
});
