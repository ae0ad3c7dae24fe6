import { mixSeed, seededRandom } from "../numeric/random";
import { shuffled } from "../numeric/shuffled";
import { mapGateColumns } from "../workload/gateColumns";
import type { OutcomeTable } from "../workload/workload";

/** Two disjoint halves of a table's prompts, as ascending row indices: one to plan on, one to measure on. */
export interface Halves {
  readonly planning: Int32Array;
  readonly measuring: Int32Array;
}

/** Halves the prompts at random by the seed. @throws RangeError below two prompts. */
export function halves(prompts: number, seed: number): Halves {
  if (!(prompts >= 2)) throw new RangeError(`Two halves need at least 2 prompts, found ${prompts}`);
  const order = shuffled(prompts, seededRandom(mixSeed(seed, "halves")));
  const middle = Math.ceil(prompts / 2);
  return { planning: order.slice(0, middle).sort(), measuring: order.slice(middle).sort() };
}

/** The rows of an outcome table, in that order. */
export function tableRows(table: OutcomeTable, rows: Int32Array): OutcomeTable {
  return {
    promptIds: Array.from(rows, (row) => table.promptIds[row] ?? ""),
    categories: Array.from(rows, (row) => table.categories[row] ?? ""),
    inputTokens: rows.map((row) => table.inputTokens[row] ?? 0),
    models: table.models.map((column) => ({
      ...column,
      outputTokens: rows.map((row) => column.outputTokens[row] ?? 0),
      label: Float64Array.from(rows, (row) => column.label[row] ?? 0),
      judged: Float64Array.from(rows, (row) => column.judged[row] ?? 0),
      ...mapGateColumns(column, (values) => Float64Array.from(rows, (row) => values[row] ?? 0)),
      ...(column.routerScore === undefined ? {} : { routerScore: Float64Array.from(rows, (row) => column.routerScore?.[row] ?? 0) }),
    })),
  };
}
