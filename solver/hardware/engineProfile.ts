import { z } from "zod";
import { type MeasuredProfile, measuredFor, measuredProfileSchema, measuredSoftware } from "./measuredProfile";
import { profileErrorsSchema, spanSchema } from "./profileErrors";

/** Engines with known overheads. */
export const engineKinds = ["vllm", "sglang", "trtllm"] as const;
export type EngineKind = (typeof engineKinds)[number];

export const engineNames: Readonly<Record<EngineKind, string>> = { vllm: "vLLM", sglang: "SGLang", trtllm: "TensorRT-LLM" };

/** An engine's overhead in addition to its kernels, and the deviation of its kernels from the tables. */
export const coefficientNames = [
  /** Seconds of scheduling and launching one step. */
  "stepSeconds",
  /** Seconds a layer, each step: kernels no table covers (norms, rotary, activations). */
  "layerSeconds",
  /** Seconds of sampling and bookkeeping for each running sequence, each step. */
  "sequenceSeconds",
  /** Seconds that the engine's front end works on a request, one at a time: HTTP, scheduling, returning the first token. */
  "requestSeconds",
  /** The same for each prompt token: tokenising, copies. */
  "requestSecondsPerInputToken",
  /** The same for each generated token: detokenising, streaming. */
  "requestSecondsPerOutputToken",
  /** Seconds of a request in addition to the work of front end and engine, without mutual waiting of requests: networks, hand-overs. */
  "delaySeconds",
  /** Factors on the tables' kernel efficiencies (1: unchanged): weights read, tensor cores, cache read, prefill attention, links. */
  "weightRead",
  "compute",
  "kvRead",
  "prefillAttention",
  "allReduce",
] as const;
export type Coefficient = (typeof coefficientNames)[number];

/** Coefficients that are seconds of the host; the others are factors on kernel efficiencies. */
export const hostCoefficients = coefficientNames.slice(0, 7);

export type ServingMetric = "ttft" | "tpot" | "endToEnd";

const provenanceSchema = z.strictObject({
  kind: z.enum(["measured", "fitted", "extrapolated", "published"]),
  source: z.string(),
  /** Relative standard error of a fitted coefficient, 0..1; null where the rows hardly determine it: near its start or its bound. */
  standardError: z.number().positive().nullable().optional(),
});

/** A profile whose rows did not determine the front end's work on tokens: it then counts as part of the steps. */
export const noTokenWork = { kind: "extrapolated", source: "assumed to be part of the steps" } as const;

/** A profile all of whose request time counts as work of the front end. */
export const noDelay = {
  kind: "extrapolated",
  source: "assumed: all time of requests outside the steps is work of the front end",
} as const;

/** Coefficients that profiles of earlier versions lack. */
type Later = "requestSecondsPerOutputToken" | "delaySeconds";

const coefficientsSchema = z.strictObject({
  ...(Object.fromEntries(
    coefficientNames.map((name) => [name, hostCoefficients.includes(name) ? z.number().nonnegative() : z.number().positive()]),
  ) as Record<Exclude<Coefficient, Later>, z.ZodNumber>),
  requestSecondsPerOutputToken: z.number().nonnegative().default(0),
  delaySeconds: z.number().nonnegative().default(0),
});

/** Maximum number of characters of a profile's name. */
export const MOST_PROFILE_NAME = 120;

/** A name that no other profile has: the name itself, or with the first free number from 2, shortened to what a name may have. */
export function freeProfileName(name: string, there: readonly { readonly name: string }[]): string {
  const numbered = (number: number): string => {
    const mark = number === 1 ? "" : ` (${number})`;
    return name.slice(0, MOST_PROFILE_NAME - mark.length) + mark;
  };
  let number = 1;
  while (there.some((other) => other.name === numbered(number))) number += 1;
  return numbered(number);
}

/**
 * One engine's fitted terms of the step time, with the source of each, their errors on rows the fit had not seen, and the
 * range of those rows.
 */
export const kernelProfileSchema = z.strictObject({
  id: z.string().min(1).max(80),
  name: z.string().min(1).max(MOST_PROFILE_NAME),
  engine: z.enum(engineKinds),
  coefficients: coefficientsSchema,
  provenance: z.strictObject({
    ...(Object.fromEntries(coefficientNames.map((name) => [name, provenanceSchema])) as Record<
      Exclude<Coefficient, Later>,
      typeof provenanceSchema
    >),
    requestSecondsPerOutputToken: provenanceSchema.default({ ...noTokenWork }),
    delaySeconds: provenanceSchema.default({ ...noDelay }),
  }),
  errors: profileErrorsSchema.nullable(),
  fittedOn: z
    .strictObject({
      rows: z.int().positive(),
      /** Outlier rows, excluded from the fit and from the errors. */
      setAside: z.int().nonnegative(),
      weights: z.array(z.enum(["bf16", "fp8", "int4"])),
      models: z.array(z.string()),
      gpus: z.array(z.string()),
      tp: spanSchema,
      inputTokens: spanSchema,
      outputTokens: spanSchema,
      concurrency: spanSchema,
      /** Day of the fit, YYYY-MM-DD. */
      asOf: z.iso.date(),
      /** Whether some rows came from emulated engines: such a fit does not describe real ones. */
      emulated: z.boolean().optional(),
    })
    .nullable(),
});

export type KernelProfile = z.infer<typeof kernelProfileSchema>;
export type EngineCoefficients = KernelProfile["coefficients"];
export type ProfileErrors = NonNullable<KernelProfile["errors"]>;
export type MetricErrors = ProfileErrors["ttft"];

/** The accuracy of a fitted coefficient, in words; empty where it is not known. */
export function standardErrorWords({ standardError }: KernelProfile["provenance"][Coefficient]): string {
  if (standardError === undefined) return "";
  return standardError === null
    ? "known hardly, near its start or its bound"
    : `known to ${Math.max(1, Math.round(100 * standardError))} %`;
}

/** A profile of either form. */
export const engineProfileSchema = z.union([kernelProfileSchema, measuredProfileSchema]);

/**
 * What is known of an engine's times: coefficients on kernel tables, for any model and GPU that have them; or engines as they were measured,
 * for these alone.
 */
export type EngineProfile = KernelProfile | MeasuredProfile;

/** Whether a profile is of the measured form. */
export const isMeasured = (profile: EngineProfile): profile is MeasuredProfile => "form" in profile;

/** A profile for the runs of each engine software that it is of. */
export const profilesBySoftware = (profile: EngineProfile): Readonly<Record<string, EngineProfile>> =>
  isMeasured(profile)
    ? Object.fromEntries(measuredSoftware(profile).map((software) => [software, measuredFor(profile, () => software)]))
    : { [profile.engine]: profile };

/** An engine's name as people know it; its own word where Weir has no name for it. */
export const engineTitle = (engine: string): string => (Object.hasOwn(engineNames, engine) ? engineNames[engine as EngineKind] : engine);
