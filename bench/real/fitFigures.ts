import { z } from "zod";
import { table } from "../lib/tables";
import type { RecordOf } from "./records";

const error = z.object({ meanAbsolute: z.number(), p90Absolute: z.number() });

/** What `weir measure --json` says of a fit beside its runs. */
const fitSchema = z.object({
  runs: z.array(z.unknown()),
  used: z.object({ seconds: z.number(), tokens: z.number() }),
  profile: z.object({
    engines: z
      .array(
        z.object({
          errors: z.object({ ttft: error, tpot: error, endToEnd: error }).nullable(),
          p95Errors: error.nullable(),
          noise: z.object({ repeats: z.number(), ttft: z.number(), tpot: z.number(), endToEnd: z.number(), p95: z.number() }).nullable(),
        }),
      )
      .min(1),
  }),
});

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** The fits: what they cost, and their errors on runs kept aside beside the noise of repeats. A report that cannot be read has no row. */
export function fitTable(fits: readonly Pick<RecordOf<"fit">, "key" | "minutes" | "report">[]): string {
  const rows = fits.flatMap(({ key, minutes, report }) => {
    const read = fitSchema.safeParse(report);
    const [engine] = read.success ? read.data.profile.engines : [];
    if (!read.success || engine === undefined) return [];
    const { errors, p95Errors, noise } = engine;
    const cell = (own: z.infer<typeof error> | undefined | null, repeated: number | undefined): string =>
      own == null ? "-" : `${percent(own.meanAbsolute)}, ${percent(own.p90Absolute)} (${repeated === undefined ? "-" : percent(repeated)})`;
    return [
      [
        ...[key, minutes.toFixed(1), read.data.used.tokens.toLocaleString("en-US"), String(read.data.runs.length)],
        ...[cell(errors?.ttft, noise?.ttft), cell(errors?.tpot, noise?.tpot), cell(errors?.endToEnd, noise?.endToEnd)],
        cell(p95Errors, noise?.p95),
      ],
    ];
  });
  return table(["fit", "minutes", "tokens", "runs", "TTFT", "TPOT", "end to end", "p95"], rows);
}
