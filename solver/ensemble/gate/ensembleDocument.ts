import { z } from "zod";
import { oneLine } from "@/solver/wording/names";

const fraction = z.number().min(0).max(1);
const modelName = oneLine.min(1).max(200);

/** Maximum number of experts of one ensemble. */
export const MOST_EXPERTS = 16;

/** A tau above every confidence: every question is aggregated. */
export const AGGREGATE_ALL = 2;

export const tauSchema = z.number().refine((tau) => (tau > 0 && tau <= 1) || tau === AGGREGATE_ALL, {
  error: `must be above 0 and at most 1, or ${AGGREGATE_ALL} to aggregate every question`,
});

/** Names reserved for the gateway: no model has one. */
export const OWN_NAMES = /^(cascade|workflow|ensemble)\/|^(panic|canary|unknown)$/;

/** Key of an expert's skills for questions of any category, and of none. */
export const ANY_CATEGORY = "*";

/**
 * Which part of an expert's answer is its vote. `text`: its last line, without formatting; `pattern`: in RE2's syntax, the vote is the
 * first group of its last match, or the whole match where it has no group.
 */
export const extractionSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("choice") }),
  z.strictObject({ kind: z.literal("number") }),
  z.strictObject({ kind: z.literal("boxed") }),
  z.strictObject({ kind: z.literal("text") }),
  z.strictObject({ kind: z.literal("pattern"), pattern: z.string().min(1).max(500) }),
]);

/**
 * Support of the votes for the leading answer, 0..1 (MOSAIC, equation 11, where the function is replaceable). `plurality`: the share of
 * experts asked that gave it. `accuracy-weighted`: votes have the log odds of their expert's accuracy as weight. `length-aware`: votes have
 * less weight the longer they are relative to their expert's mean length, as questions that split experts have the longest answers.
 */
export const confidenceSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("plurality") }),
  z.strictObject({ kind: z.literal("accuracy-weighted"), accuracy: z.record(modelName, fraction) }),
  z.strictObject({ kind: z.literal("length-aware"), meanTokens: z.record(modelName, z.number().positive()) }),
]);

/** A mixture of agents: experts that answer the same question, and an aggregator that is called only where they disagree. */
export const ensembleSchema = z
  .strictObject({
    /** Its name for clients in `model`: `ensemble/<name>`. */
    name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, "must be lower-case letters, digits, dots, dashes or underscores, 63 at most"),
    experts: z.array(modelName).min(2).max(MOST_EXPERTS),
    /** Experts that answer a question. */
    expertsPerQuestion: z.int().min(2).max(MOST_EXPERTS),
    /**
     * Accuracy of each expert by category of question, `*` for those of any other: the most accurate ones of a question's category answer
     * it. Left out, or where a category is unknown: the first ones of the list.
     */
    skills: z.record(z.string().min(1).max(200), z.record(modelName, fraction)).optional(),
    extraction: extractionSchema,
    confidence: confidenceSchema,
    /** The aggregator is skipped where the confidence is at least this. */
    tau: tauSchema,
    aggregator: z.strictObject({
      model: modelName,
      /** Left out: as many as the engine allows. */
      maxTokens: z.int().positive().max(1_000_000).optional(),
      /** The aggregator's instructions for the answers; left out: Weir's default. */
      instruction: z.string().min(1).max(4000).optional(),
    }),
    /** Minimum number of answers for the gate to decide by itself. */
    quorum: z.int().min(1).max(MOST_EXPERTS),
    /**
     * Time after which the gate decides with the available answers; engine seconds. A gateway gives experts at most half of a request's
     * time.
     */
    deadlineSeconds: z.number().positive().max(86_400),
    /** Token limit of an expert's answer; left out: as many as the engine allows. */
    maxTokens: z.int().positive().max(1_000_000).optional(),
  })
  .superRefine(({ experts, expertsPerQuestion, quorum, confidence, skills = {}, aggregator }, context) => {
    const wrong = (path: string, message: string): void => context.addIssue({ code: "custom", path: [path], message });
    const own = (models: readonly string[]): string | undefined => models.find((model) => OWN_NAMES.test(model));
    const [ownExpert, ownAggregator] = [own(experts), own([aggregator.model])];
    if (ownExpert !== undefined) wrong("experts", `asks ${ownExpert}, a name that is the gateway's own: name models`);
    if (ownAggregator !== undefined) wrong("aggregator", `asks ${ownAggregator}, a name that is the gateway's own: name a model`);
    if (new Set(experts).size < experts.length) wrong("experts", "names a model twice");
    if (expertsPerQuestion > experts.length) wrong("expertsPerQuestion", `is more than the ${experts.length} experts there are`);
    if (quorum > expertsPerQuestion) wrong("quorum", `is more than the ${expertsPerQuestion} experts that answer a question`);
    const strangers = (names: object): string | undefined => Object.keys(names).find((name) => !experts.includes(name));
    const weighed =
      confidence.kind === "plurality" ? {} : confidence.kind === "accuracy-weighted" ? confidence.accuracy : confidence.meanTokens;
    const unweighed = confidence.kind === "plurality" ? undefined : experts.find((name) => !(name in weighed));
    const stranger =
      strangers(weighed) ??
      Object.values(skills)
        .map(strangers)
        .find((name) => name !== undefined);
    if (stranger !== undefined) wrong("experts", `has no ${stranger}, of which figures are given`);
    if (unweighed !== undefined) wrong("confidence", `has no figure of ${unweighed}`);
  });

export type Extraction = z.infer<typeof extractionSchema>;
export type Confidence = z.infer<typeof confidenceSchema>;
export type Ensemble = z.infer<typeof ensembleSchema>;
