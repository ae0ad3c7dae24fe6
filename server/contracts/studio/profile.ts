import { z } from "zod";
import { keyReferenceSchema } from "../engine/engineAccess";

const price = z.number().nonnegative("give a price of 0 or more").max(10_000);

/** Somebody who answers chat requests: a model of a connected cluster, or any OpenAI-compatible address. */
const answererSchema = z.object({
  /** Id of the model card for a candidate; for a judge the name that its requests carry. */
  model: z.string().min(1).max(200),
  at: z.discriminatedUnion("kind", [
    /** Its engines there are asked directly, the least busy first; or the cluster's own judge where the model is that one's. */
    z.strictObject({ kind: z.literal("cluster"), clusterId: z.string().min(1) }),
    z.strictObject({
      kind: z.literal("url"),
      url: z.url(),
      key: keyReferenceSchema.optional(),
      caFile: z.string().min(1).max(1000).optional(),
      servedName: z.string().min(1).max(500).optional(),
    }),
  ]),
  /** What its tokens cost; 0 on GPUs that are paid for anyway. */
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
  /** The operator's own words with `{prompt}`, `{answer}` and, as the kind asks, `{reference}` or `{other}`; null: ours. */
  rubric: z.string().max(8000).nullable(),
  /** Times each answer is judged; more than one shows the judge's noise. The first reading counts. */
  repeats: z.int().min(1).max(5),
};

/** Ways to tell how good an answer is. All give 0..100. */
const measureSchema = z.discriminatedUnion("kind", [
  /** A judge reads prompt and answer and gives a number. */
  z.strictObject({ ...measureFields, kind: z.literal("rubric"), ...rubricFields }),
  /** A judge reads the reference answer too. Prompts without one get no score. */
  z.strictObject({ ...measureFields, kind: z.literal("reference"), ...rubricFields }),
  /** A judge says which of two answers is better: won 100, drawn 50, lost 0, the mean of both orders where swapped. `against`'s own answers are drawn. */
  z.strictObject({ ...measureFields, kind: z.literal("pairwise"), ...rubricFields, against: z.string().min(1), swap: z.boolean() }),
  /** Equal to the reference answer after extraction and normalisation: 100 or 0. */
  z.strictObject({ ...measureFields, kind: z.literal("exact"), extract: z.enum(["whole", "last-line", "number", "choice", "boxed"]) }),
  /** A command that ends with 0 where the answer passes the prompt's test: 100 or 0. In a process without network, memory or time to waste. */
  z.strictObject({
    ...measureFields,
    kind: z.literal("unit-test"),
    /** Run in an empty folder with the answer in `answer.txt`, its first fenced block in `code.txt`, and the prompt's test in `test.txt`. */
    command: z.array(z.string().min(1).max(2000)).min(1).max(20).readonly(),
    timeoutSeconds: z.number().positive().max(120),
  }),
]);

export const profileRequestSchema = z
  .object({
    name: z.string().trim().min(1, "give it a name").max(80, "give a name of at most 80 characters"),
    promptSetId: z.string().min(1),
    /** Candidates, smallest first. */
    models: z.array(answererSchema).min(1, "choose at least one model").max(12, "choose at most 12 models").readonly(),
    measures: z.array(measureSchema).min(1, "choose at least one measure").max(8, "choose at most 8 measures").readonly(),
    /** Calls at once to each model, and to each judge. */
    concurrency: z.int().min(1).max(256),
    /** Of all calls together; null: no limit. */
    requestsPerMinute: z.int().min(1).max(100_000).nullable(),
    /** The job pauses before it could spend more; null: no limit. */
    capUsd: z.number().positive().nullable(),
    /** Most tokens of an answer; a prompt's own lower bound holds. */
    maxOutputTokens: z.int().min(1).max(100_000),
    /** Whether texts of answers are kept when they are judged; without them nobody can label by hand. */
    keepAnswers: z.boolean(),
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

/** What a job will take, before it begins. */
export interface ProfileEstimate {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number;
  readonly seconds: number;
  /** What it rests on, a sentence each: which figures are assumed, and which were measured earlier. */
  readonly basis: readonly string[];
  /** What stands in the way, a sentence each, as that no engine of a model runs; the job cannot begin before they are gone. */
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
  /** Calls whose answer was under way when the studio was killed and that were made again. */
  readonly askedAgain: number;
  readonly models: readonly (ProfileCounts & {
    readonly model: string;
    readonly meanOutputTokens: number | null;
    /** Answers that ended where they might write no more: how long they would have been is not known. */
    readonly cut: number;
    readonly meanSeconds: number | null;
  })[];
  readonly measures: readonly (ProfileCounts & {
    readonly id: string;
    readonly name: string;
    readonly kind: Measure["kind"];
    readonly unscored: Readonly<Partial<Record<UnscoredKind, number>>>;
    readonly usd: number;
    /** Answers that got a score, at most where one takes two readings. */
    readonly scored: number;
    readonly meanScore: number | null;
  })[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly spentUsd: number;
  /** Of running jobs, by the slowest of its models and judges over the last minutes; null: not known yet, or nothing moves. */
  readonly etaSeconds: number | null;
  readonly callsPerMinute: number | null;
  /** The commonest failures, in sentences. */
  readonly failures: readonly { readonly reason: string; readonly calls: number }[];
  /** Workloads made of it. */
  readonly workloadIds: readonly string[];
  /** Whether answers are kept and not deleted. */
  readonly hasAnswers: boolean;
}
