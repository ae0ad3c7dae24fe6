import fc from "fast-check";
import { expect, it } from "vitest";
import { rowProblemTexts } from "./rowProblems";

it("says an error that repeats over rows once, with the count and the first lines", () => {
  const unknown = 'the GPU "cpu-core" is not known; add a card on the Cards page';
  const problems = Array.from({ length: 72 }, (_, index) => ({ line: index + 2, reason: unknown }));
  expect(rowProblemTexts("runs.csv", problems)).toEqual([`runs.csv, 72 rows (lines 2, 3, 4 …): ${unknown}`]);
});

it("says an error of one row with its line, and different errors each, the earliest first", () => {
  expect(
    rowProblemTexts("runs.csv", [
      { line: 9, reason: "isl is 'x'" },
      { line: 3, reason: "osl is 'y'" },
      { line: 4, reason: "isl is 'x'" },
    ]),
  ).toEqual(["runs.csv line 3: osl is 'y'", "runs.csv, 2 rows (lines 4, 9): isl is 'x'"]);
});

it("counts every row in exactly one text, whatever the order of the problems", () => {
  const problem = fc.record({ line: fc.integer({ min: 2, max: 5000 }), reason: fc.constantFrom("a", "b", "c") });
  fc.assert(
    fc.property(fc.uniqueArray(problem, { selector: ({ line }) => line }), (problems) => {
      const texts = rowProblemTexts("t.csv", problems);
      const counted = texts.reduce((sum, text) => sum + Number(/, (\d+) rows/.exec(text)?.[1] ?? 1), 0);
      expect(counted).toBe(problems.length);
      expect(texts).toHaveLength(new Set(problems.map(({ reason }) => reason)).size);
      expect(rowProblemTexts("t.csv", problems.toReversed())).toEqual(texts);
    }),
  );
});
