import { z } from "zod";
import type { Extraction } from "@/solver/judging/extract";
import { machineName } from "@/solver/wording/names";
import { SKETCH_BUCKETS } from "@/solver/words/sketch";

/**
 * Maps a gate's raw score to 0..100, so that a threshold means the same for every gate: piecewise linear between the points, constant
 * beyond them. Both arrays are parallel; `raw` is ascending, `calibrated` never falls.
 */
export const calibrationSchema = z
  .object({
    raw: z.array(z.number()).min(2).max(256),
    calibrated: z.array(z.number().min(0).max(100)).min(2).max(256),
  })
  .superRefine(({ raw, calibrated }, context) => {
    const falls = (values: readonly number[], atMost: boolean) =>
      values.some((value, index) => index > 0 && (atMost ? value <= (values[index - 1] ?? 0) : value < (values[index - 1] ?? 0)));
    if (raw.length !== calibrated.length)
      context.addIssue({ code: "custom", message: `${raw.length} raw scores and ${calibrated.length} calibrated ones` });
    else if (falls(raw, true)) context.addIssue({ code: "custom", path: ["raw"], message: "Raw scores must ascend" });
    else if (falls(calibrated, false))
      context.addIssue({ code: "custom", path: ["calibrated"], message: "Calibrated scores must not fall" });
  });

/** How token log probabilities of an answer become one number, 0..1. */
export const confidenceMeasures = ["minimum", "mean", "length-normalised", "last-tokens", "answer-span"] as const;

/** The parts of an answer that can be compared. */
export const answerParts = ["whole", "last-line", "number", "choice", "boxed"] as const satisfies readonly Extraction[];

const extraction = z.enum(answerParts);

const calibration = calibrationSchema.optional();

/** The judge of the policy: a second model that reads prompt and answer. */
const judgeGate = z.object({ kind: z.literal("judge"), calibration });

/** Token log probabilities that the engine reports with the answer. */
const confidenceGate = z.object({
  kind: z.literal("confidence"),
  measure: z.enum(confidenceMeasures),
  /** Tokens at the end that `last-tokens` reads. */
  lastTokens: z.int().min(1).max(256).optional(),
  /** The span that `answer-span` reads; the smallest probability inside it counts. */
  answer: extraction.optional(),
  calibration,
});

/** What of an answer's tokens is read, and how. */
export const confidenceReadingSchema = confidenceGate.pick({ measure: true, lastTokens: true, answer: true });

/** Share of further answers that agree with this one: samples of the same model, or answers of other models. */
const agreementGate = z.object({
  kind: z.literal("agreement"),
  answer: extraction,
  /** Further answers of the same model, drawn at this temperature. */
  samples: z.object({ count: z.int().min(1).max(8), temperature: z.number().min(0).max(2) }).optional(),
  /** Other models of the deployment that answer too. */
  peers: z.array(machineName).max(4).optional(),
  calibration,
});

/** The answers that an agreement gate compares, and what of them. */
export const comparedAnswersSchema = agreementGate.pick({ answer: true, samples: true, peers: true });

/** Inputs of a scorer. Those that an answer does not have count as the mean of the training answers. */
const scorerFeatures = [
  "minimum-probability",
  "mean-log-probability",
  "last-tokens-log-probability",
  "log-answer-tokens",
  "log-prompt-tokens",
  "has-extractable-answer",
  "ended-by-length",
] as const;

/** Words and pairs of words of a text that a scorer reads at most: they bound the size of a policy, and the commonest say most. */
export const MOST_SCORER_WORDS = 512;

/** Words and pairs of words of a text, hashed: their buckets, ascending, inverse document frequencies and weights; parallel. */
const weighedWords = z
  .object({
    buckets: z
      .array(
        z
          .int()
          .min(0)
          .max(SKETCH_BUCKETS - 1),
      )
      .max(MOST_SCORER_WORDS),
    idf: z.array(z.number().positive()).max(MOST_SCORER_WORDS),
    weights: z.array(z.number()).max(MOST_SCORER_WORDS),
  })
  .superRefine(({ buckets, idf, weights }, context) => {
    if (idf.length !== buckets.length || weights.length !== buckets.length)
      context.addIssue({ code: "custom", message: `${buckets.length} buckets, ${idf.length} frequencies and ${weights.length} weights` });
    else if (buckets.some((bucket, at) => at > 0 && bucket <= (buckets[at - 1] ?? 0)))
      context.addIssue({ code: "custom", path: ["buckets"], message: "Buckets must ascend" });
  });

/** What a scorer has learnt. */
export const learntScorerSchema = z.object({
  bias: z.number(),
  weights: z
    .array(z.object({ feature: z.enum(scorerFeatures), mean: z.number(), scale: z.number().positive(), weight: z.number() }))
    .min(1)
    .max(scorerFeatures.length),
  /** Of the prompt and of the answer; left out: the scorer reads no words. */
  words: z.object({ prompt: weighedWords, answer: weighedWords }).optional(),
});

/**
 * A logistic regression over an answer's lengths, probabilities and form, and over the words of prompt and answer where it has learnt them. It is
 * trained on labelled or judged answers and has the place of FrugalGPT's generation scoring function (section 3), which a language model gives.
 */
const scorerGate = z.object({ kind: z.literal("scorer"), answer: extraction, ...learntScorerSchema.shape, calibration });

const simpleGate = z.discriminatedUnion("kind", [judgeGate, confidenceGate, agreementGate, scorerGate]);

/**
 * Gates in order, cheapest first: an answer whose score is at least `acceptFrom` or below `escalateBelow` needs no further gate; the last
 * gate's score counts for those between.
 */
const sequenceGate = z.object({
  kind: z.literal("sequence"),
  first: z
    .array(z.object({ gate: simpleGate, acceptFrom: z.number().min(0).max(101), escalateBelow: z.number().min(0).max(100) }))
    .min(1)
    .max(3),
  last: simpleGate,
});

/** What gives an answer its score, 0..100, which a stage's threshold is compared with. */
export const gateSchema = z.discriminatedUnion("kind", [judgeGate, confidenceGate, agreementGate, scorerGate, sequenceGate]);

/** The kinds of gates. */
export const gateKinds = ["judge", "confidence", "agreement", "scorer", "sequence"] as const satisfies readonly GateDocument["kind"][];

export type ConfidenceReading = z.infer<typeof confidenceReadingSchema>;
export type ComparedAnswers = z.infer<typeof comparedAnswersSchema>;
export type GateDocument = z.infer<typeof gateSchema>;
export type SequenceDocument = Extract<GateDocument, { kind: "sequence" }>;
export type SimpleGateDocument = z.infer<typeof simpleGate>;
export type ConfidenceMeasure = (typeof confidenceMeasures)[number];
export type ScorerFeature = (typeof scorerFeatures)[number];
export type LearntScorer = z.infer<typeof learntScorerSchema>;
export type ScorerWords = NonNullable<LearntScorer["words"]>;
export type Calibration = z.infer<typeof calibrationSchema>;

/** The gates that a gate consists of: itself, or those of a sequence in order. */
export const simpleGatesOf = (gate: GateDocument): readonly SimpleGateDocument[] =>
  gate.kind === "sequence" ? [...gate.first.map((step) => step.gate), gate.last] : [gate];

/** Whether every score of a gate is calibrated, so that it is a quality. */
export const isCalibrated = (gate: GateDocument): boolean => simpleGatesOf(gate).every(({ calibration: own }) => own !== undefined);
