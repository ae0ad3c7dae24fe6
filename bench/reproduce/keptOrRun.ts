import { keptRun, machine } from "../lib/results";

/** Rows of a benchmark, and which run they are of, as a clause. */
export interface RunRows<Row> {
  readonly rows: readonly Row[];
  readonly source: string;
}

interface LongRun<Row> {
  /** Of the file of results. */
  readonly name: string;
  /** Whether the rows are those of a run that came to its end. */
  isWhole(rows: readonly Row[]): boolean;
  /** Measures, and writes the rows to the file. */
  run(): Promise<unknown>;
}

/**
 * The rows that an earlier whole run on this machine kept, or else those of a run now, which takes up to some hours. `WEIR_BENCH_KEPT=0` measures
 * in any case.
 *
 * @throws where the run writes no rows.
 */
export async function keptOrRun<Row>({ name, isWhole, run }: LongRun<Row>): Promise<RunRows<Row>> {
  const file = `bench/results/${name}.json`;
  const kept = process.env.WEIR_BENCH_KEPT === "0" ? null : keptRun<Row>(name);
  if (kept !== null && kept.machine === machine && isWhole(kept.rows)) {
    process.stderr.write(`Uses the rows of the run of ${kept.at} in ${file}; WEIR_BENCH_KEPT=0 measures again.\n`);
    return { rows: kept.rows, source: `rows of the whole run of ${kept.at} on this machine, kept in ${file}` };
  }
  await run();
  const written = keptRun<Row>(name);
  if (written === null) throw new Error(`the run wrote no ${file}`);
  return { rows: written.rows, source: "measured by this run" };
}
