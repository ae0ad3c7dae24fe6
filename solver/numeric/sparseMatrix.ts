/** A matrix with few non-zero entries, row by row: those of row r are `column`/`value[start[r]..start[r + 1])`. */
export interface SparseMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly start: Uint32Array;
  readonly column: Uint32Array;
  readonly value: Float32Array;
}

/** A B, for B with `width` columns, row by row. */
export function times({ rows, start, column, value }: SparseMatrix, block: ArrayLike<number>, width: number): Float64Array {
  const product = new Float64Array(rows * width);
  for (let row = 0; row < rows; row++) {
    for (let entry = start[row] ?? 0; entry < (start[row + 1] ?? 0); entry++) {
      const from = (column[entry] ?? 0) * width;
      const factor = value[entry] ?? 0;
      for (let at = 0; at < width; at++) product[row * width + at] = (product[row * width + at] ?? 0) + factor * (block[from + at] ?? 0);
    }
  }
  return product;
}

/** A' B, for B with `width` columns, row by row. */
export function timesTransposed(
  { rows, columns, start, column, value }: SparseMatrix,
  block: ArrayLike<number>,
  width: number,
): Float64Array {
  const product = new Float64Array(columns * width);
  for (let row = 0; row < rows; row++) {
    for (let entry = start[row] ?? 0; entry < (start[row + 1] ?? 0); entry++) {
      const to = (column[entry] ?? 0) * width;
      const factor = value[entry] ?? 0;
      for (let at = 0; at < width; at++) product[to + at] = (product[to + at] ?? 0) + factor * (block[row * width + at] ?? 0);
    }
  }
  return product;
}

/** A matrix of rows that each name their columns. */
export function sparseOf(
  columns: number,
  rows: readonly { readonly columns: ArrayLike<number>; readonly values: ArrayLike<number> }[],
): SparseMatrix {
  const start = new Uint32Array(rows.length + 1);
  for (const [row, of] of rows.entries()) start[row + 1] = (start[row] ?? 0) + of.columns.length;
  const column = new Uint32Array(start[rows.length] ?? 0);
  const value = new Float32Array(column.length);
  for (const [row, of] of rows.entries()) {
    column.set(of.columns, start[row]);
    value.set(of.values, start[row]);
  }
  return { rows: rows.length, columns, start, column, value };
}

/** Some of a matrix's rows, in the order named. */
export function takeRows({ columns, start, column, value }: SparseMatrix, rows: ArrayLike<number>): SparseMatrix {
  return sparseOf(
    columns,
    Array.from(rows, (row) => ({
      columns: column.subarray(start[row], start[row + 1]),
      values: value.subarray(start[row], start[row + 1]),
    })),
  );
}
