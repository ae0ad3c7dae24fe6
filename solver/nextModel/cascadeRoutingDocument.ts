import { z } from "zod";
import { calibrationSchema, type GateDocument, gateKinds, isCalibrated } from "@/solver/gates/gateDocument";
import { significantText } from "@/solver/wording/wording";

/** Stages of cascade routing at most: the patterns of right and wrong answers double with each. */
export const MOST_ROUTED_STAGES = 4;

/** A gate's scores as the decision reads them, in addition to what the gate itself does. */
const routedGateSchema = z.object({
  /** The gate whose calibrated scores it is fitted to; left out: the judge, with its scores as they are. */
  kind: z.enum(gateKinds).optional(),
  /** GPU-seconds that the score of an answer is expected to take; left out: counted with the stage's. */
  gpuSeconds: z.number().nonnegative().optional(),
  // From the score that the gate gives to the quality, 0..100, that answers of that score have.
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
    /** GPU-seconds that a request is expected to take at the stage, without its gate's. */
    gpuSeconds: z.array(z.number().positive()).min(2).max(MOST_ROUTED_STAGES),
    /** How the logarithm of the odds of a right answer follows a router's score: slope x (log odds of the score - centre). */
    heads: z.array(z.object({ centre: z.number(), slope: z.number().nonnegative() })),
    /** Logarithm of the weight of each pattern of right answers where all heads are at their centres; bit s of the index: stage s is right. */
    patterns: z.array(z.number()),
    // null: the stage's answers are accepted without a score, since none would lead on.
    gates: z.array(routedGateSchema.nullable()),
  })
  .superRefine(({ gpuSeconds, heads, patterns, gates }, context) => {
    const stages = gpuSeconds.length;
    const check = (path: string, found: number, wanted: number): void => {
      if (found !== wanted)
        context.addIssue({ code: "custom", path: [path], message: `${stages} stages need ${wanted} ${path}, found ${found}` });
    };
    check("heads", heads.length, stages);
    check("patterns", patterns.length, 2 ** stages);
    check("gates", gates.length, stages - 1);
  });

export type CascadeRoutingDocument = z.infer<typeof cascadeRoutingSchema>;
export type RoutedGate = z.infer<typeof routedGateSchema>;

interface RoutedStages {
  readonly stages: readonly { readonly model: string }[];
  readonly cascadeRouting?: CascadeRoutingDocument | undefined;
}

interface FittedStages extends RoutedStages {
  readonly thresholds: readonly number[];
  /** Left out: the judge, at every stage. */
  readonly gates?: readonly GateDocument[] | undefined;
  readonly directStart?: object | undefined;
}

/** Why cascade routing does not fit a cascade, in one sentence with the offending value; null where it does, or there is none. */
export function cascadeRoutingFault({ stages, thresholds, gates: named = [], directStart, cascadeRouting }: FittedStages): string | null {
  if (cascadeRouting === undefined) return null;
  const { gpuSeconds, gates } = cascadeRouting;
  if (directStart === undefined)
    return "Cascade routing chooses by a router's score of every model before any has answered: name the router as the direct start.";
  if (gpuSeconds.length !== stages.length)
    return `Cascade routing is fitted to ${gpuSeconds.length} stages, and the cascade has ${stages.length}.`;
  for (const [stage, gate] of gates.entries()) {
    const threshold = thresholds[stage] ?? 0;
    const found = gate === null ? null : otherGate(gate, named[stage] ?? { kind: "judge" });
    if (gate !== null && found !== null)
      return `Cascade routing is fitted to ${fittedTo(gate)}, and the gate of stage ${stage + 1} is ${found}: plan it with that gate, or choose by thresholds.`;
    if (gate !== null && threshold === 0)
      return `Cascade routing reads the scores of stage ${stage + 1}, whose threshold of 0 lets its answers go unscored.`;
    if (gate === null && threshold > 0)
      return `Cascade routing reads no scores of stage ${stage + 1}, whose threshold of ${threshold} needs one.`;
  }
  return null;
}

const fittedTo = ({ kind }: RoutedGate): string => (kind === undefined ? "the judge's scores as they are" : `calibrated scores of ${kind}`);

/** What a stage's gate is where it is not the one that was fitted; null where it is. A calibrated gate may be calibrated anew. */
function otherGate({ kind }: RoutedGate, named: GateDocument): string | null {
  const wanted = kind ?? "judge";
  if (named.kind === wanted && isCalibrated(named) === (kind !== undefined)) return null;
  if (named.kind !== wanted && named.kind !== "judge") return named.kind;
  return `${isCalibrated(named) ? "a calibrated" : "an uncalibrated"} ${named.kind}`;
}

/** Cascade routing in a line: the models, in the order in which they may answer, and what a gain must be worth. */
export function cascadeRoutingText({ stages, cascadeRouting }: RoutedStages): string {
  const models = stages.map(({ model }) => model).join(", ");
  return cascadeRouting === undefined
    ? models
    : `${models}: next the largest expected gain, ${significantText(cascadeRouting.pointsPerGpuSecond)} points for a GPU-second`;
}

/** How cascade routing decides, in plain words; null for a cascade by thresholds. */
export function cascadeRoutingSays({
  stages,
  cascadeRouting,
  directStart,
}: RoutedStages & { readonly directStart?: { readonly router: { readonly kind: string } } | undefined }): string | null {
  if (cascadeRouting === undefined) return null;
  const { pointsPerGpuSecond, gates } = cascadeRouting;
  const scored = stages.filter((_, stage) => gates[stage] != null).map(({ model }) => model);
  const router = directStart?.router.kind === "modelled" ? "A modelled router, an upper bound," : "A trained router";
  const after =
    scored.length === 0
      ? "Its answer is accepted."
      : `Answers of ${scored.join(" and ")} are scored where a score is expected to be worth what it takes, and a larger model follows only where it is expected to gain enough for its time.`;
  return `${router} says how likely each model is to be right, and the model with the best trade-off answers: ${significantText(pointsPerGpuSecond)} points of quality for a GPU-second. It may pass models over. ${after} Requests that the router does not score start at ${stages[0]?.model} and follow the thresholds.`;
}
