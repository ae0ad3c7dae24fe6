import { z } from "zod";
import { CLASS_BUCKETS, SKETCH_BUCKETS } from "./sketch";
import type { WordSpace } from "./wordSpace";

const MOST_DIMENSIONS = 4096;

/** Parts that artefacts of several kinds have, as they are read. */
export const floats = z
  .instanceof(Float32Array)
  .refine((values) => values.every((value) => Number.isFinite(value)), "has something else than finite numbers");

export const dimensions = z.int().min(0).max(MOST_DIMENSIONS);

export const modelNames = z
  .array(z.string().min(1))
  .min(1)
  .refine((names) => new Set(names).size === names.length, "names a model twice");

export const encoder = z.strictObject({
  name: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  dimensions: dimensions.min(1),
});

export const wordSpace = z
  .strictObject({ buckets: z.instanceof(Uint16Array), idf: floats, dimensions, directions: floats })
  .superRefine((space, context) => {
    const problem = spaceProblem(space);
    if (problem !== null) context.addIssue(problem);
  });

function spaceProblem({ buckets, idf, dimensions: directionsEach, directions }: WordSpace): string | null {
  if (idf.length !== buckets.length || directions.length !== buckets.length * directionsEach)
    return "has another number of weights than of words";
  const ascends = buckets.every((bucket, at) => bucket > (at === 0 ? CLASS_BUCKETS - 1 : (buckets[at - 1] ?? 0)));
  return ascends && (buckets.at(-1) ?? 0) < SKETCH_BUCKETS ? null : "has words out of order or range";
}
