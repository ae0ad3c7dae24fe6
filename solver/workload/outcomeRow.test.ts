import fc from "fast-check";
import { expect, test } from "vitest";
import { locateColumns, metricScale, readOutcomeRow } from "./outcomeRow";

const HEADER = ["task", "metric", "prompt_id", "category", "in_tok", "family", "size_rank", "model", "score", "out_tok"];
const ROW = ["arith", "correct", "p1", "sums", "12", "Fam", "0", "small", "1", "40"];

/** The row above with one field changed, read. */
function readWith(field: string, text: string) {
  const columns = locateColumns(HEADER);
  if (!columns.ok) throw new Error(columns.problem);
  return readOutcomeRow(
    ROW.map((cell, at) => (HEADER[at] === field ? text : cell)),
    columns.value,
  );
}

test("columns are found in any order, with others between them", () => {
  const columns = locateColumns(["extra", ...[...HEADER].reverse(), "judged_score"]);
  expect(columns.ok && [columns.value.out_tok, columns.value.task, columns.value.judged_score]).toEqual([1, 10, 11]);
});

test("a column that occurs twice is refused: which one counts nobody can tell", () => {
  expect(locateColumns([...HEADER, "score"])).toEqual({ ok: false, problem: "score: two columns have this name; keep one" });
});

test("a scale follows from the metric's name", () => {
  expect([metricScale("correct"), metricScale("gpt4o_score_1to10"), metricScale("helpfulness")]).toEqual([
    { low: 0, high: 1 },
    { low: 1, high: 10 },
    { low: 0, high: 100 },
  ]);
});

test("any score on the metric's scale becomes a label 0..100, any other number is refused", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -3, max: 3 }), (score) => {
      const read = readWith("score", String(score));
      if (score >= 0 && score <= 1) expect(read.ok && read.value.label).toBeCloseTo(100 * score);
      else expect(read).toEqual({ ok: false, problem: `score is '${score}'; it must be a number from 0 to 1 of metric 'correct'` });
    }),
  );
});

test("whatever stands in a field, a row is read or refused with the field's name", () => {
  fc.assert(
    fc.property(fc.constantFrom(...HEADER), fc.string(), (field, text) => {
      const read = readWith(field, text);
      if (!read.ok) expect(read.problem.split(" ")[0]).toMatch(new RegExp(`^(${field}|score)$`));
      else expect(read.value.outputTokens).toBeGreaterThan(0);
    }),
  );
});

test("lengths written as decimals by other tools are whole numbers all the same", () => {
  const read = readWith("out_tok", "117.0");
  expect(read.ok && read.value.outputTokens).toBe(117);
});

test("a row without a category takes its task for one", () => {
  const read = readWith("category", "");
  expect(read.ok && read.value.category).toBe("arith");
});
