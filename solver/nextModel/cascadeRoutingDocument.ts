import { z } from "zod";
import { calibrationSchema } from "@/solver/gates/gateDocument";

/** Stages of cascade routing at most: the patterns of right and wrong answers double with each. */
export const MOST_ROUTED_STAGES = 4;

/** A gate's scores as the decision reads them, in addition to what the gate itself does. */
const routedGateSchema = z.object({
  /** From the score that the gate gives to the quality, 0..100, that answers of that score have. */
  calibration: calibrationSchema,
  /** The calibrated scores that answers of the model get, in groups, with the share of the answers in each: what a gate is expected to say. */
  levels: z
    .array(z.object({ score: z.number().min(0).max(100), share: z.number().gt(0).max(1) }))
    .min(1)
    .max(16),
});

/**
 * The numbers that cascade routing decides by, fitted on planning prompts: `nextModel.ts` has the formula. Arrays have an entry for each stage,
 * or for each but the last where they are of gates.
 */
export const cascadeRoutingSchema = z
  .object({
    /** The trade-off λ: points of quality, 0..100, that a GPU-second must be expected to gain. */
    pointsPerGpuSecond: z.number().nonnegative(),
    /** GPU-seconds that a request is expected to take at the stage, its gate included. */
    gpuSeconds: z.array(z.number().positive()).min(2).max(MOST_ROUTED_STAGES),
    /** How the logarithm of the odds of a right answer follows a router's score: slope x (log odds of the score - centre). */
    heads: z.array(z.object({ centre: z.number(), slope: z.number().nonnegative() })),
    /** Logarithm of the weight of each pattern of right answers where all heads are at their centres; bit s of the index: stage s is right. */
    patterns: z.array(z.number()),
    /** null: the stage's answers are accepted without a score, since none would lead on. */
    gates: z.array(routedGateSchema.nullable()),
  })
  .superRefine(({ gpuSeconds, heads, patterns, gates }, context) => {
    const stages = gpuSeconds.length;
    const check = (path: string, found: number, wanted: number): void => {
      if (found !== wanted) context.addIssue({ code: "custom", path: [path], message: `${stages} stages need ${wanted} ${path}, found ${found}` });
    };
    check("heads", heads.length, stages);
    check("patterns", patterns.length, 2 ** stages);
    check("gates", gates.length, stages - 1);
  });

export type CascadeRoutingDocument = z.infer<typeof cascadeRoutingSchema>;
export type RoutedGate = z.infer<typeof routedGateSchema>;
