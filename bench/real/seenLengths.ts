import { z } from "zod";
import type { RecordOf } from "./records";
import type { Lengths } from "./traffic";

/** What `weir measure --json` prints of its runs. */
const reportSchema = z.object({
  runs: z.array(z.object({ inputTokens: z.number(), outputTokens: z.number(), concurrency: z.number() })).min(1),
});

/** The runs that a profile was fitted to. */
export interface SeenRuns {
  readonly runs: number;
  readonly inputTokens: readonly [least: number, most: number];
  readonly outputTokens: readonly [least: number, most: number];
  readonly concurrency: readonly [least: number, most: number];
}

/** @throws ZodError where the record is no report of runs. */
export function seenBy({ report }: Pick<RecordOf<"fit">, "report">): SeenRuns {
  const { runs } = reportSchema.parse(report);
  const range = (of: (run: (typeof runs)[number]) => number): readonly [number, number] => [
    Math.min(...runs.map(of)),
    Math.max(...runs.map(of)),
  ];
  return {
    runs: runs.length,
    inputTokens: range(({ inputTokens }) => inputTokens),
    outputTokens: range(({ outputTokens }) => outputTokens),
    concurrency: range(({ concurrency }) => concurrency),
  };
}

/** Share of requests whose two lengths are within the ranges that a fit saw; NaN without requests. */
export function shareWithin(lengths: readonly Lengths[], { inputTokens, outputTokens }: SeenRuns): number {
  const isIn = (value: number, [least, most]: readonly [number, number]): boolean => least <= value && value <= most;
  return lengths.filter((one) => isIn(one.inputTokens, inputTokens) && isIn(one.outputTokens, outputTokens)).length / lengths.length;
}
