import fc from "fast-check";
import { expect, it } from "vitest";
import { categoryQualities } from "./categoryQuality";
import { generatedWorkload } from "./generated";
import { modelAgreements } from "./modelAgreement";

const { outcomes } = generatedWorkload({ prompts: 200, seed: 3 });

it("shares of right and wrong sum to one for every two models, neighbours first", () => {
  const pairs = modelAgreements(outcomes);
  expect(pairs).toHaveLength((outcomes.models.length * (outcomes.models.length - 1)) / 2);
  expect([pairs[0]?.smaller, pairs[0]?.larger]).toEqual(outcomes.models.slice(0, 2).map(({ model }) => model));
  for (const { bothRight, onlyLarger, onlySmaller, neither } of pairs) {
    expect(bothRight + onlyLarger + onlySmaller + neither).toBeCloseTo(1, 9);
  }
});

it("right or wrong, the difference is what only one of them had right", () => {
  const column = (model: string, right: readonly boolean[]) => ({
    model,
    tableName: model,
    outputTokens: Int32Array.from(right, () => 1),
    label: Float64Array.from(right, (one) => (one ? 100 : 0)),
    judged: Float64Array.from(right, () => 0),
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 50 }), (rows) => {
      const models = [
        column(
          "small",
          rows.map(([small]) => small),
        ),
        column(
          "large",
          rows.map(([, large]) => large),
        ),
      ];
      const [pair] = modelAgreements({ promptIds: rows.map((_, row) => `${row}`), models });
      expect(pair?.difference.value).toBeCloseTo(100 * ((pair?.onlyLarger ?? 0) - (pair?.onlySmaller ?? 0)), 9);
    }),
  );
});

it("categories hold every prompt once, largest first, the small ones together", () => {
  const names = outcomes.promptIds.map((_, row) => (row < 120 ? "a" : row < 190 ? "b" : `rare ${row}`));
  const rows = categoryQualities({ ...outcomes, categories: names }, 2);
  expect(rows.map(({ name, categories, prompts }) => [name, categories, prompts])).toEqual([
    ["a", 1, 120],
    ["b", 1, 70],
    [null, 10, 10],
  ]);
  const whole = categoryQualities({ ...outcomes, categories: names.map(() => "all") }, 5)[0];
  const weighted = rows.reduce((sum, { prompts, quality }) => sum + (prompts / 200) * (quality[0]?.value ?? 0), 0);
  expect(weighted).toBeCloseTo(whole?.quality[0]?.value ?? Number.NaN, 9);
});
