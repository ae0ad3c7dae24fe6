import { z } from "zod";

/** Least and most value of a quantity over the runs of a fit. */
export const spanSchema = z.strictObject({ least: z.number(), most: z.number() });

export const metricErrorsSchema = z.strictObject({
  rows: z.int().nonnegative(),
  /** Mean and 90th percentile of |predicted / measured - 1|, and the signed mean. */
  meanAbsolute: z.number().nonnegative(),
  p90Absolute: z.number().nonnegative(),
  bias: z.number(),
});

/** Errors of a profile on runs its fit had not seen, by metric. */
export const profileErrorsSchema = z.strictObject({ ttft: metricErrorsSchema, tpot: metricErrorsSchema, endToEnd: metricErrorsSchema });
