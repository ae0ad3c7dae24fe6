import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withConfidenceColumns } from "./confidenceColumns";
import { generatedWorkload } from "./generated";

const { outcomes } = generatedWorkload({ prompts: 6, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 1 });
const own = outcomes.models.map(({ model }) => model);

describe("columns of confidence", () => {
  it("give every prompt and model its own score, in whatever order the models are scored, and change nothing else", () => {
    const score = fc.float({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(score, { minLength: 18, maxLength: 18 }),
        fc.shuffledSubarray([...own, "another"], { minLength: 3 }),
        (values, models) => {
          const scores = Float32Array.from(values);
          const table = withConfidenceColumns(outcomes, models, scores);
          for (const { model, routerScore } of table?.models ?? [])
            expect(Array.from(routerScore ?? [])).toEqual(
              Array.from({ length: 6 }, (_, row) => 100 * (scores[3 * row + models.indexOf(model)] ?? -1)),
            );
          expect({ ...table, models: table?.models.map(({ routerScore: _, ...column }) => column) }).toEqual(outcomes);
        },
      ),
    );
  });

  it("are none where a model or a row has no score", () => {
    expect(withConfidenceColumns(outcomes, ["qwen2.5-3b", "another"], new Float32Array(12))).toBeNull();
    expect(withConfidenceColumns(outcomes, own, new Float32Array(10))).toBeNull();
  });
});
