import type { SparseMatrix } from "./sparseMatrix";

/** Inner products of the rows of a matrix A with one another, A A', row by row. */
export interface RowProducts {
  readonly rows: number;
  readonly value: Float64Array;
}

/** The inner products of all rows of a matrix. */
export function rowProducts({ rows, columns, start, column, value }: SparseMatrix): RowProducts {
  const products = new Float64Array(rows * rows);
  const dense = new Float64Array(columns);
  for (let row = 0; row < rows; row++) {
    for (let entry = start[row] ?? 0; entry < (start[row + 1] ?? 0); entry++) dense[column[entry] ?? 0] = value[entry] ?? 0;
    for (let other = 0; other <= row; other++) {
      let sum = 0;
      for (let entry = start[other] ?? 0, end = start[other + 1] ?? 0; entry < end; entry++)
        sum += (value[entry] ?? 0) * (dense[column[entry] ?? 0] ?? 0);
      products[row * rows + other] = sum;
      products[other * rows + row] = sum;
    }
    for (let entry = start[row] ?? 0; entry < (start[row + 1] ?? 0); entry++) dense[column[entry] ?? 0] = 0;
  }
  return { rows, value: products };
}

/** The inner products of some of the rows, in the order named. */
export function takeProducts({ rows, value }: RowProducts, some: ArrayLike<number>): RowProducts {
  const taken = new Float64Array(some.length ** 2);
  for (let row = 0; row < some.length; row++) {
    const from = (some[row] ?? 0) * rows;
    for (let other = 0; other < some.length; other++) taken[row * some.length + other] = value[from + (some[other] ?? 0)] ?? 0;
  }
  return { rows: some.length, value: taken };
}

/** A A' x: for each row its product with A' x. */
export function timesProducts({ rows, value }: RowProducts, vector: Float64Array): Float64Array {
  const product = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let other = 0, from = row * rows; other < rows; other++) sum += (value[from + other] ?? 0) * (vector[other] ?? 0);
    product[row] = sum;
  }
  return product;
}

/** Whether products with A A' are cheaper than products with A and A', which read every entry twice: rows are few and long. */
export const isLong = ({ rows, value }: SparseMatrix): boolean => rows * rows < 2 * value.length;
