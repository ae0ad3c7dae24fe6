import { z } from "zod";
import { answerParts, confidenceMeasures } from "@/solver/gates/gateDocument";
import { keyReferenceSchema } from "@/solver/wording/keyReference";
import { enteredTitle } from "@/solver/wording/names";

const price = z.number().nonnegative("give a price of 0 or more").max(10_000);

/** A source of answers to chat requests: a model of a connected cluster, or any OpenAI-compatible address. */
const answererSchema = z.object({
  /** Id of the model card for a candidate; for a judge the name in its requests. */
  model: z.string().min(1).max(200),
  at: z.discriminatedUnion("kind", [
    /** Its engines there are called directly, the least busy first; or the cluster's own judge if the model is that judge's. */
    z.strictObject({ kind: z.literal("cluster"), clusterId: z.string().min(1) }),
    z.strictObject({
      kind: z.literal("url"),
      url: z.url(),
      key: keyReferenceSchema.optional(),
      caFile: z.string().min(1).max(1000).optional(),
      servedName: z.string().min(1).max(500).optional(),
    }),
  ]),
  /** Token prices; 0 on GPUs whose cost is paid anyway. */
  usdPerMillionInputTokens: price,
  usdPerMillionOutputTokens: price,
});

const measureFields = {
  /** Unique in the job. */
  id: z.string().regex(/^[a-z0-9-]{1,40}$/),
  name: z.string().trim().min(1).max(80),
};
const rubricFields = {
  judge: answererSchema,
  /** The operator's own text with `{prompt}`, `{answer}` and, depending on the kind, `{reference}` or `{other}`; null: Weir's text. */
  rubric: z.string().max(8000).nullable(),
  /** How often each answer is judged; more than once shows the judge's noise. The first reading is used. */
  repeats: z.int().min(1).max(5),
};

/** Measures of an answer's quality. All give 0..100. */
const measureSchema = z.discriminatedUnion("kind", [
  /** A judge reads prompt and answer and gives a number. */
  z.strictObject({ ...measureFields, kind: z.literal("rubric"), ...rubricFields }),
  /** A judge also reads the reference answer. Prompts without one get no score. */
  z.strictObject({ ...measureFields, kind: z.literal("reference"), ...rubricFields }),
  /**
   * A judge states which of two answers is better: win 100, draw 50, loss 0, the mean of both orders if swapped. `against`'s own answers
   * are draws.
   */
  z.strictObject({ ...measureFields, kind: z.literal("pairwise"), ...rubricFields, against: z.string().min(1), swap: z.boolean() }),
  /** Equal to the reference answer after extraction and normalisation: 100 or 0. */
  z.strictObject({ ...measureFields, kind: z.literal("exact"), extract: z.enum(answerParts) }),
  /**
   * A command that exits with 0 if the answer passes the prompt's test: 100 or 0. It runs in a process without network and with limits on
   * memory and time.
   */
  z.strictObject({
    ...measureFields,
    kind: z.literal("unit-test"),
    /** Run in an empty folder with the answer in `answer.txt`, its first fenced block in `code.txt`, and the prompt's test in `test.txt`. */
    command: z.array(z.string().min(1).max(2000)).min(1).max(20).readonly(),
    timeoutSeconds: z.number().positive().max(120),
  }),
]);

/** What gates without a judge would see of each answer. */
const profileGatesSchema = z.strictObject({
  /** Whether engines are asked for log probabilities. A model that does not report them is not asked again. */
  confidence: z.boolean(),
  /** What of them the column confidence holds; left out: the smallest token probability. */
  measure: z.enum(confidenceMeasures).optional(),
  /** Further answers of the same model to each prompt, which are compared with its answer; null: none. */
  samples: z.strictObject({ count: z.int().min(1).max(4), temperature: z.number().min(0).max(2) }).nullable(),
});

export const profileRequestSchema = z
  .object({
    name: enteredTitle,
    promptSetId: z.string().min(1),
    /** Candidates, smallest first. */
    models: z.array(answererSchema).min(1, "choose at least one model").max(12, "choose at most 12 models").readonly(),
    measures: z.array(measureSchema).min(1, "choose at least one measure").max(8, "choose at most 8 measures").readonly(),
    /** Concurrent calls to each model, and to each judge. */
    concurrency: z.int().min(1).max(256),
    /** All calls together; null: no limit. */
    requestsPerMinute: z.int().min(1).max(100_000).nullable(),
    /** The job pauses before it could spend more; null: no limit. */
    capUsd: z.number().positive().nullable(),
    /** Most tokens of an answer; a prompt's own lower bound takes precedence. */
    maxOutputTokens: z.int().min(1).max(100_000),
    /** Whether texts of answers are stored when they are judged; without them manual labelling is impossible. */
    keepAnswers: z.boolean(),
    gates: profileGatesSchema.default({ confidence: true, samples: null }),
  })
  .refine(({ models }) => new Set(models.map(({ model }) => model)).size === models.length, {
    path: ["models"],
    error: "name each model once",
  })
  .refine(({ measures }) => new Set(measures.map(({ id }) => id)).size === measures.length, {
    path: ["measures"],
    error: "give each measure its own id",
  })
  .refine(
    ({ models, measures }) =>
      measures.every((measure) => measure.kind !== "pairwise" || models.some(({ model }) => model === measure.against)),
    { path: ["measures"], error: "compare with one of the chosen models" },
  );

export type Answerer = z.infer<typeof answererSchema>;
export type Measure = z.infer<typeof measureSchema>;
export type ProfileRequest = z.infer<typeof profileRequestSchema>;

/** The expected effort of a job, before it begins. */
export interface ProfileEstimate {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number;
  readonly seconds: number;
  /** Its basis, a sentence each: which figures are assumed, and which were measured earlier. */
  readonly basis: readonly string[];
  /** Problems that block the start, a sentence each, for example that no engine of a model runs. */
  readonly problems: readonly string[];
}

/** Why a judge's call gave no score. */
const unscoredKinds = ["empty", "no-number", "out-of-range", "no-reference", "no-test", "refused", "failed"] as const;
export type UnscoredKind = (typeof unscoredKinds)[number];

export interface ProfileCounts {
  readonly planned: number;
  readonly done: number;
  /** Given up after every retry, or refused by the engine; their prompts are left out of the workload. */
  readonly failed: number;
}

export interface ProfileJob {
  readonly id: string;
  readonly createdAt: string;
  readonly actor: string;
  readonly request: ProfileRequest;
  readonly promptSetName: string;
  readonly state: "running" | "paused" | "done" | "stopped";
  /** Set while paused. */
  readonly pause: { readonly kind: "operator" | "cap" | "model-down" | "problem"; readonly reason: string; readonly since: string } | null;
  readonly prompts: number;
  readonly total: ProfileCounts & { readonly inFlight: number };
  /** Calls in flight when the studio was killed, which were repeated. */
  readonly askedAgain: number;
  readonly models: readonly (ProfileCounts & {
    readonly model: string;
    readonly meanOutputTokens: number | null;
    /** Answers cut at the token limit: their full length is not known. */
    readonly cut: number;
    readonly meanSeconds: number | null;
  })[];
  readonly measures: readonly (ProfileCounts & {
    readonly id: string;
    readonly name: string;
    readonly kind: Measure["kind"];
    readonly unscored: Readonly<Partial<Record<UnscoredKind, number>>>;
    readonly usd: number;
    /** Answers with a score, at most if one takes two readings. */
    readonly scored: number;
    readonly meanScore: number | null;
  })[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly spentUsd: number;
  /** For running jobs, by the slowest of its models and judges over the last minutes; null: not known yet, or no progress. */
  readonly etaSeconds: number | null;
  readonly callsPerMinute: number | null;
  /** The most frequent failures, in sentences. */
  readonly failures: readonly { readonly reason: string; readonly calls: number }[];
  /** What workloads made from it lack, a sentence each. */
  readonly notes: readonly string[];
  /** Workloads made from it. */
  readonly workloadIds: readonly string[];
  /** Whether answers are stored and not deleted. */
  readonly hasAnswers: boolean;
}
