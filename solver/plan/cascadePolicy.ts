import { z } from "zod";
import { gateSchema } from "@/solver/gates/gateDocument";
import { cascadeRoutingFault, cascadeRoutingSchema } from "@/solver/nextModel/cascadeRoutingDocument";
import { machineName, oneLine } from "@/solver/wording/names";
import { judgeVariationSchema } from "../judging/judgeTime";
import { directStartSchema } from "./directStart";
import { gatesFault } from "./gatesFault";
import { graceFault, graceSchema } from "./grace";
import { queueing } from "./queueing";

/**
 * Which judge scores answers, and the cost of a call. Where no gate of the policy asks it, it is never called, and no engine or endpoint of
 * it is required: `whenDown` alone still counts, for answers that a gate cannot score.
 */
const judgeSchema = z.object({
  /** Of a judge outside of the deployment: the name that its server gives it. */
  model: oneLine.min(1),
  /** For a judge as a separate engine: the mean predicted for its load. */
  secondsPerCall: z.number().nonnegative(),
  usdPerCall: z.number().nonnegative(),
  /** Variation of the time of a judge outside of this deployment about `secondsPerCall`; left out: none. */
  variation: judgeVariationSchema.optional(),
  /** How an answer without a score of its gate is treated: accepted (left out), or requested again from the last stage's model. */
  whenDown: z.enum(["accept", "largest"]).optional(),
  /**
   * If the judge is an engine of this deployment: the tokens that a call adds to the prompt and the answer it reads, and those it writes.
   */
  engine: z.object({ rubricTokens: z.int().nonnegative(), outputTokens: z.int().positive() }).optional(),
});

const fields = {
  kind: z.literal("cascade"),
  stages: z.array(z.object({ model: machineName })).min(1),
  thresholds: z.array(z.int().min(0).max(100)),
  judge: judgeSchema,
  /** What scores the answers of each stage but the last; left out: the judge, at every stage. */
  gates: z.array(gateSchema).optional(),
  /** Left out: every request starts at the first stage. */
  directStart: directStartSchema.optional(),
  /**
   * Left out: the next stage answers what a threshold refuses. Else the model with the largest expected gain does, wherever the router of
   * `directStart` scores the request for every model; the thresholds are for requests that it does not score.
   */
  cascadeRouting: cascadeRoutingSchema.optional(),
  /** The range inside which an operator may change each threshold without a new approval. */
  approvedRanges: z.object({ thresholds: z.array(z.object({ min: z.int().min(0).max(100), max: z.int().min(0).max(100) })) }),
  /** Left out: thresholds stay as they are under any load. */
  grace: graceSchema.optional(),
};

type Cascade = z.infer<z.ZodObject<typeof fields>>;

/** Reports what does not fit together. */
function checkCascade({ stages, thresholds, gates, directStart, cascadeRouting, grace }: Cascade, context: z.RefinementCtx): void {
  const fault = gatesFault({ stages, gates });
  if (fault !== null) context.addIssue({ code: "custom", path: ["gates"], message: fault });
  const unfit = cascadeRoutingFault({ stages, thresholds, gates, directStart, cascadeRouting });
  if (unfit !== null) context.addIssue({ code: "custom", path: ["cascadeRouting"], message: unfit });
  const ungraced = graceFault({ grace, stages, cascadeRouting });
  if (ungraced !== null) context.addIssue({ code: "custom", path: ["grace"], message: ungraced });
  const wanted = stages.length - 1;
  const refuse = (path: string[], what: string, found: number): void =>
    context.addIssue({ code: "custom", path, message: `${stages.length} stages need ${wanted} ${what}, found ${found}` });
  if (thresholds.length !== wanted) refuse(["thresholds"], "thresholds", thresholds.length);
  const below = directStart?.below;
  if (typeof below === "object" && below.length !== wanted) refuse(["directStart", "below"], "router scores to start at", below.length);
}

/**
 * Cascade by thresholds: stage i's answer is accepted when the score of its gate is >= thresholds[i]; the last always is. Answers of a stage
 * with the threshold 0 get no score.
 */
export const cascadePolicySchema = z.object({ ...fields, ...queueing }).superRefine(checkCascade);

/** The same without the order and the place of its requests: where another policy has these. */
export const cascadeRouteSchema = z.object(fields).superRefine(checkCascade);
