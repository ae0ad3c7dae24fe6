import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "./random";
import { type SparseMatrix, sparseOf } from "./sparseMatrix";
import { symmetricEigen, truncatedSvd } from "./truncatedSvd";

const shapes = fc.record({ rows: fc.integer({ min: 2, max: 14 }), columns: fc.integer({ min: 2, max: 14 }), seed: fc.nat() });

function randomMatrix(rows: number, columns: number, seed: number): SparseMatrix {
  const random = seededRandom(seed);
  const all = Array.from({ length: columns }, (_, at) => at);
  const lines = Array.from({ length: rows }, () => all.filter(() => random.next() < 0.6));
  return sparseOf(
    columns,
    lines.map((kept) => ({ columns: kept, values: kept.map(() => random.normal()) })),
  );
}

function dense({ rows, columns, start, column, value }: SparseMatrix): number[][] {
  const lines = Array.from({ length: rows }, () => new Array<number>(columns).fill(0));
  for (const [row, line] of lines.entries()) for (let at = start[row]!; at < start[row + 1]!; at++) line[column[at]!] = value[at]!;
  return lines;
}

/** Singular values by the eigenvalues of A' A. */
function exactValues(matrix: SparseMatrix): number[] {
  const lines = dense(matrix);
  const size = matrix.columns;
  const gram = new Float64Array(size * size);
  for (const line of lines) for (let a = 0; a < size; a++) for (let b = 0; b < size; b++) gram[a * size + b]! += line[a]! * line[b]!;
  return [...symmetricEigen(gram, size).values].map((value) => Math.sqrt(Math.max(0, value)));
}

describe("truncated singular value decomposition", () => {
  it("finds the singular values of small matrices", () => {
    fc.assert(
      fc.property(shapes, ({ rows, columns, seed }) => {
        const matrix = randomMatrix(rows, columns, seed);
        const exact = exactValues(matrix);
        const { singularValues } = truncatedSvd(matrix, 5, 1);
        expect(singularValues.length).toBe(Math.min(5, exact.filter((value) => value > 1e-5 * exact[0]!).length));
        for (const [at, value] of singularValues.entries()) expect(value / exact[0]!).toBeCloseTo(exact[at]! / exact[0]!, 5);
      }),
      { numRuns: 60 },
    );
  });

  it("gives orthonormal directions whose images are as long as their singular values", () => {
    fc.assert(
      fc.property(shapes, ({ rows, columns, seed }) => {
        const matrix = randomMatrix(rows, columns, seed);
        const { singularValues, right } = truncatedSvd(matrix, 4, 1);
        const width = singularValues.length;
        const direction = (k: number) => Array.from({ length: columns }, (_, column) => right[column * width + k]!);
        const inner = (one: readonly number[], other: readonly number[]) => one.reduce((sum, value, at) => sum + value * other[at]!, 0);
        for (let k = 0; k < width; k++) {
          for (let other = 0; other <= k; other++) expect(inner(direction(k), direction(other))).toBeCloseTo(k === other ? 1 : 0, 4);
          const image = Math.hypot(...dense(matrix).map((line) => inner(line, direction(k))));
          expect(image / singularValues[0]!).toBeCloseTo(singularValues[k]! / singularValues[0]!, 5);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("comes close to the best approximation of a matrix whose singular values fall slowly", () => {
    const matrix = randomMatrix(150, 90, 3);
    const exact = exactValues(matrix);
    const { singularValues } = truncatedSvd(matrix, 12, 1);
    for (const [at, value] of singularValues.entries()) expect(value / exact[at]!).toBeGreaterThan(0.99);
  });

  it("is the same for the same seed, and nothing for a matrix without entries", () => {
    const matrix = randomMatrix(30, 20, 5);
    expect(truncatedSvd(matrix, 6, 9)).toEqual(truncatedSvd(matrix, 6, 9));
    const empty = sparseOf(4, [
      { columns: [], values: [] },
      { columns: [], values: [] },
    ]);
    expect(truncatedSvd(empty, 3, 1).singularValues.length).toBe(0);
  });
});
