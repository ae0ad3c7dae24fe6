import { z } from "zod";
import type { GainDecision } from "@/solver/nextModel/nextModel";

/** The terms of a choice by expected gain (cascade routing): `solver/nextModel/nextModel.ts` has the formula. */
export const gainRecordSchema = z.object({
  /** Expected quality, 0..100, of the answer at hand; null before any answer. */
  quality: z.number().nullable(),
  /** Points of quality that a GPU-second had to gain. */
  pointsPerGpuSecond: z.number(),
  /** The models that could answer next: the quality and GPU-seconds that were expected of going on with each. */
  options: z.array(z.object({ model: z.string(), quality: z.number(), gpuSeconds: z.number() })),
});

export type GainRecord = z.infer<typeof gainRecordSchema>;

/**
 * The terms of a choice for a record, rounded, with models by name.
 *
 * @param models by stage.
 */
export function gainRecordOf({ quality, pointsPerGpuSecond, options }: GainDecision, models: readonly string[]): GainRecord {
  const points = (value: number): number => Number(value.toFixed(2));
  const digits = (value: number): number => Number(value.toPrecision(4));
  return {
    quality: quality === null ? null : points(quality),
    pointsPerGpuSecond: digits(pointsPerGpuSecond),
    options: options.map(({ stage, quality: expected, gpuSeconds }) => ({
      model: models[stage] ?? "",
      quality: points(expected),
      gpuSeconds: digits(gpuSeconds),
    })),
  };
}
