import { z } from "zod";
import type { ReplicaModel, StepLoad, StepTime } from "@/solver/engine/replicaModel";
import { metricErrorsSchema, profileErrorsSchema, spanSchema } from "./profileErrors";

const seconds = z.number().nonnegative();

const pointSchema = z.strictObject({ at: z.number().nonnegative(), seconds });
type Point = z.infer<typeof pointSchema>;

const rises = (before: Point | undefined, point: Point): boolean =>
  before !== undefined && point.at > before.at && point.seconds >= before.seconds;

/** A curve by points that ascend in `at` and do not descend in `seconds`: linear between them, the last segment continues. */
const curveSchema = z
  .array(pointSchema)
  .min(2)
  .max(40)
  .refine((points) => points.every((point, index) => index === 0 || rises(points[index - 1], point)), "points must ascend");
type Curve = z.infer<typeof curveSchema>;

/** Where a limit of an engine is from: the engine's own report, the sweep (all requests in flight ran), or an assumption. */
const limitOrigins = ["reported", "observed", "assumed"] as const;

const limitSchema = z.strictObject({ value: z.int().positive(), origin: z.enum(limitOrigins) });

/** An engine software by its own word, such as "vllm" or "weir-engine". */
const software = z.string().min(1).max(40);

/**
 * One engine as it was measured: the time of its steps and of its requests, without any knowledge of its hardware. It holds for this software
 * with this model on this GPU card in this shape only.
 */
export const measuredEngineSchema = z.strictObject({
  /** Absent in profiles of earlier versions: the profile's. */
  engine: software.optional(),
  /** The software of the engines that it is used for, of which there is no measurement; absent: its own. */
  standsInFor: software.optional(),
  /** Ids of cards. */
  model: z.string().min(1).max(200),
  gpu: z.string().min(1).max(200),
  shape: z.strictObject({ tp: z.int().positive(), pp: z.int().positive() }),
  step: z.strictObject({
    /** Seconds of a step over its decoding sequences, from 0. */
    decode: curveSchema,
    /** Further seconds over the prompt tokens that the step computes, from 0. */
    prefill: curveSchema,
    /** Further seconds for each prompt, or part of one, that the step computes. */
    secondsPerPrompt: seconds,
    secondsPerKvToken: seconds,
    /** For each query-key pair of the prompts' attention. */
    secondsPerPair: seconds,
  }),
  request: z.strictObject({ seconds, secondsPerInputToken: seconds, secondsPerOutputToken: seconds, delaySeconds: seconds }),
  limits: z.strictObject({
    kvTokens: limitSchema,
    maxSequences: limitSchema,
    maxBatchedTokens: limitSchema,
    /** Tokens of prompt and answer together. */
    contextTokens: limitSchema,
  }),
  /** Standard deviation of the logarithm of the engine's pace, which lengthens tails only; left out: it is steady. */
  paceDeviation: z.number().nonnegative().max(1).optional(),
  /** On points kept aside; null: too few points. */
  errors: profileErrorsSchema.nullable(),
  /** Of the 95th percentile end to end, on the same points. */
  p95Errors: metricErrorsSchema.nullable(),
  /** Relative standard deviation of a mean from one repeat of a run to the next; null where nothing was repeated. */
  noise: z
    .strictObject({ repeats: z.int().positive(), ttft: z.number(), tpot: z.number(), endToEnd: z.number(), p95: z.number() })
    .nullable(),
  measuredOn: z.strictObject({
    runs: z.int().positive(),
    requests: z.int().positive(),
    inputTokens: spanSchema,
    outputTokens: spanSchema,
    concurrency: spanSchema,
    /** Day, YYYY-MM-DD. */
    asOf: z.iso.date(),
    /** What was measured, such as "vLLM 0.32.0 at 127.0.0.1:8000". */
    source: z.string().max(300),
    emulated: z.boolean().optional(),
  }),
});
export type MeasuredEngine = z.infer<typeof measuredEngineSchema>;

/** The simulator's model of a measured engine. */
export function measuredReplica({
  step,
  request,
  limits,
  paceDeviation = 0,
  measuredOn,
}: Pick<MeasuredEngine, "step" | "request" | "limits" | "paceDeviation"> & Partial<Pick<MeasuredEngine, "measuredOn">>): ReplicaModel {
  const maxBatchedTokens = Math.max(2, limits.maxBatchedTokens.value);
  return {
    stepTime: measuredStep(step, measuredOn),
    kvTokens: limits.kvTokens.value,
    maxSequences: Math.min(limits.maxSequences.value, maxBatchedTokens - 1),
    maxBatchedTokens,
    requestSeconds: (inputTokens) => request.seconds + request.secondsPerInputToken * inputTokens,
    tokenSeconds: request.secondsPerOutputToken,
    delaySeconds: request.delaySeconds,
    ...(paceDeviation > 0 ? { paceVariation: { deviation: paceDeviation, seconds: PACE_SECONDS } } : {}),
  };
}

/** Stretches in which an engine keeps its pace: longer than most requests, so that whole requests are slow or fast. */
const PACE_SECONDS = 1;

function measuredStep(step: MeasuredEngine["step"], on: MeasuredEngine["measuredOn"] | undefined): StepTime {
  const { secondsPerPrompt, secondsPerKvToken, secondsPerPair } = step;
  const decode = curve(step.decode);
  const prefill = curve(step.prefill);
  return {
    decodeBaseSeconds: decode,
    secondsPerKvToken,
    mixedStepSeconds: ({ tokens, prefillTokens, prefillPairs, kvTokensRead, sequences }: StepLoad) => {
      const decoding = tokens - prefillTokens;
      return (
        decode(decoding) +
        (prefillTokens === 0 ? 0 : prefill(prefillTokens)) +
        secondsPerPrompt * (sequences - decoding) +
        secondsPerPair * prefillPairs +
        secondsPerKvToken * kvTokensRead
      );
    },
    provenance: on === undefined ? [] : [{ kind: "fitted", source: `${on.source}, ${on.asOf}` }],
  };
}

function curve(points: Curve): (value: number) => number {
  return (value) => {
    let right = 1;
    while (right < points.length - 1 && (points[right]?.at ?? 0) < value) right += 1;
    const [a, b] = [points[right - 1], points[right]];
    if (a === undefined || b === undefined) return 0;
    return a.seconds + ((value - a.at) / (b.at - a.at)) * (b.seconds - a.seconds);
  };
}
