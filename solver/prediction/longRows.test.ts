import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { isLong, rowProducts, takeProducts, timesProducts } from "@/solver/numeric/rowProducts";
import { sparseOf, takeRows, times, timesTransposed } from "@/solver/numeric/sparseMatrix";
import { fitLogistic, headLogits } from "./logistic";
import { fitLongRows } from "./longRows";
import { penalisedHead } from "./penalisedHead";

const COLUMNS = 120;

/** Rows with entries in some of many columns, as texts have, and labels that lean on the first columns. */
function drawn(rows: number, seed: number, graded = false) {
  const random = seededRandom(seed);
  const lines = Array.from({ length: rows }, () => {
    const columns = Array.from({ length: COLUMNS }, (_, at) => at).filter(() => random.next() < 0.6);
    return { columns, values: columns.map(() => Math.fround(random.normal() / 5)) };
  });
  const matrix = sparseOf(COLUMNS, lines);
  const right = Float32Array.from(lines, ({ columns, values }) => {
    const lean = values.reduce((sum, value, at) => sum + ((columns[at] ?? 0) < 20 ? 4 * value : 0), 0);
    return graded ? random.next() : random.next() < 1 / (1 + Math.exp(-lean)) ? 1 : 0;
  });
  return { matrix, right };
}

describe("a fit by the products of rows", () => {
  it("is the fit by the rows themselves, for any penalty and labels", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.nat(),
        fc.constantFrom(1, 0.1, 0.01, 0.001),
        fc.boolean(),
        (rows, seed, penalty, graded) => {
          const { matrix, right } = drawn(rows, seed, graded);
          const [one, other] = [fitLogistic(matrix, right, penalty), fitLongRows(matrix, rowProducts(matrix), { right, penalty })];
          const [logits, others] = [headLogits(matrix, one), headLogits(matrix, other)];
          for (const [row, logit] of logits.entries()) expect(Math.abs(logit - (others[row] ?? 0))).toBeLessThan(1e-3);
          for (const [at, weight] of one.weights.entries()) expect(Math.abs(weight - (other.weights[at] ?? 0))).toBeLessThan(1e-3);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("leaves a bias alone where rows are empty", () => {
    const matrix = sparseOf(
      3,
      Array.from({ length: 4 }, () => ({ columns: [], values: [] })),
    );
    const { bias, weights } = fitLongRows(matrix, rowProducts(matrix), { right: [1, 1, 1, 0], penalty: 0.1 });
    expect(bias).toBeCloseTo(Math.log(3), 5);
    expect([...weights]).toEqual([0, 0, 0]);
  });

  it("is what a penalised head is made of where rows are few and long", () => {
    const { matrix, right } = drawn(60, 5);
    expect(isLong(matrix)).toBe(true);
    const { bias, weights, losses } = penalisedHead(matrix, right, 3);
    const said = headLogits(matrix, { bias, weights });
    const hits = [...said].filter((logit, row) => logit > 0 === (right[row] ?? 0) > 0.5).length;
    expect(hits).toBeGreaterThan(40);
    expect(losses).toHaveLength(60);
  });
});

describe("products of rows", () => {
  it("are those of the matrix with its transpose, for some of its rows too", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.nat(), (rows, seed) => {
        const { matrix } = drawn(rows, seed);
        const some = Array.from({ length: rows }, (_, at) => at).filter((at) => (at + seed) % 3 !== 0);
        const taken = takeRows(matrix, some);
        const random = seededRandom(seed);
        const vector = Float64Array.from(some, () => random.normal());
        const expected = times(taken, timesTransposed(taken, vector, 1), 1);
        const found = timesProducts(takeProducts(rowProducts(matrix), some), vector);
        for (const [row, value] of found.entries()) expect(value).toBeCloseTo(expected[row] ?? Number.NaN, 9);
      }),
    );
  });
});
