import { z } from "zod";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { CLASS_BUCKETS, SKETCH_BUCKETS } from "@/solver/words/sketch";
import type { WordSpace } from "@/solver/words/wordSpace";
import { configurationSpace, spaceRefusal } from "@/solver/workflow/configurationSpace";
import type { ConfidenceArtefact } from "./confidence";
import type { ConfigurationArtefact } from "./configurations";
import type { LengthArtefact } from "./lengths";
import { PROMPT_COUNTS } from "./promptFeatures";
import { READING_COUNTS } from "./promptReading";
import type { QuantileForest } from "./quantileForest";
import { REQUEST_COUNTS } from "./requestFeatures";
import { TEXT_COUNTS } from "./textFeatures";

const MOST_DIMENSIONS = 4096;

/** Parts that artefacts of several kinds share, in the form in which they are read. */
const floats = z
  .instanceof(Float32Array)
  .refine((values) => values.every((value) => Number.isFinite(value)), "has something else than finite numbers");

const dimensions = z.int().min(0).max(MOST_DIMENSIONS);

const modelNames = z
  .array(z.string().min(1))
  .min(1)
  .refine((names) => new Set(names).size === names.length, "names a model twice");

const encoder = z.strictObject({
  name: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  dimensions: dimensions.min(1),
});

const wordSpace = z
  .strictObject({ buckets: z.instanceof(Uint16Array), idf: floats, dimensions, directions: floats })
  .superRefine((space, context) => {
    const problem = spaceProblem(space);
    if (problem !== null) context.addIssue(problem);
  });

function spaceProblem({ buckets, idf, dimensions: directionsEach, directions }: WordSpace): string | null {
  if (idf.length !== buckets.length || directions.length !== buckets.length * directionsEach)
    return "has another number of weights than of words";
  const ascends = buckets.every((bucket, at) => bucket > (at === 0 ? CLASS_BUCKETS - 1 : (buckets[at - 1] ?? 0)));
  return ascends && (buckets.at(-1) ?? 0) < SKETCH_BUCKETS ? null : "has words out of order or range";
}

const reading = z
  .strictObject({ words: wordSpace.nullable(), encoder: encoder.nullable(), usual: floats, directions: floats, components: dimensions })
  .superRefine(({ words, encoder: by, usual, directions, components }, context) => {
    if ((words === null) === (by === null)) context.addIssue("does not say in one way what its heads read");
    const read = words === null ? by?.dimensions : READING_COUNTS + TEXT_COUNTS + words.dimensions;
    if (usual.length !== read || directions.length !== read * components)
      context.addIssue("has another number of means or directions than of features");
  });

/** Heads, or the units of a hidden layer. */
const heads = z
  .strictObject({ features: dimensions, bias: floats, weights: floats })
  .refine(({ features, bias, weights }) => weights.length === bias.length * features, "has another number of weights than of features");

/** A predictor of accurate configurations as read, with a head for every configuration of its workflow except the one of the largest. */
const configurations = z
  .strictObject({
    kind: z.literal("configurations"),
    models: modelNames,
    workflow: workflowDocumentSchema,
    reading,
    layer: heads.optional(),
    heads,
    threshold: z.number().min(0).max(1),
  })
  .superRefine(({ models, workflow, reading: { components }, layer: hidden, heads: bank }, context) => {
    const refusal = spaceRefusal(workflow, models);
    if (refusal !== null) return context.addIssue(`has no configurations: ${refusal}`);
    const { size } = configurationSpace(workflow, models);
    if (size < 2) context.addIssue("has nothing to choose: its workflow has one configuration");
    if (bank.bias.length !== size - 1) context.addIssue(`has ${bank.bias.length} heads for ${size} configurations`);
    if (hidden !== undefined && hidden.features !== components) context.addIssue("has a layer that reads other features than are made");
    if (bank.features !== (hidden?.bias.length ?? components)) context.addIssue("has heads that read other features than are made");
  });

/** Natural logarithm of a number of tokens that no program reaches. */
const MOST_LOG_TOKENS = 50;

const logTokens = z.number().min(-MOST_LOG_TOKENS).max(MOST_LOG_TOKENS);

const forest = z
  .strictObject({
    features: z.int().min(1),
    roots: z.instanceof(Uint32Array),
    feature: z.instanceof(Int16Array),
    threshold: floats,
    next: z.instanceof(Uint32Array),
    leafStart: z.instanceof(Uint32Array),
    ranks: z.instanceof(Uint16Array),
    targets: floats,
  })
  .superRefine((grown, context) => {
    const problem = forestProblem(grown);
    if (problem !== null) context.addIssue(problem);
  });

const usualLengths = z.strictObject({
  pairs: z.array(z.tuple([z.string(), logTokens])),
  stages: z.array(z.tuple([z.string(), logTokens])),
  all: logTokens,
});
const lengthForest = z.strictObject({ usual: usualLengths, forest });

const lengths = z
  .strictObject({
    kind: z.literal("lengths"),
    models: modelNames,
    text: z.strictObject({ words: wordSpace, usual: floats }),
    lengths: z.array(z.strictObject({ request: lengthForest, remaining: lengthForest })),
  })
  .superRefine(({ models: names, text, lengths: trained }, context) => {
    const textFeatures = TEXT_COUNTS + text.words.dimensions;
    if (trained.length !== names.length) context.addIssue(`has forests for ${trained.length} models and names ${names.length}`);
    if (text.usual.length !== textFeatures) context.addIssue("has another number of usual features than of features");
    if (trained.some(({ request, remaining }) => [request, remaining].some((of) => of.forest.features !== REQUEST_COUNTS + textFeatures)))
      context.addIssue("has a forest that reads other features than are made");
  });

const confidence = z
  .strictObject({
    kind: z.literal("confidence"),
    models: modelNames,
    features: z.enum(["words", "embedding"]),
    encoder: encoder.nullable(),
    words: wordSpace.nullable(),
    usual: floats,
    heads: z.array(z.strictObject({ bias: z.number(), weights: floats })),
  })
  .superRefine(({ models: names, features, encoder: by, words, usual, heads }, context) => {
    const isWhole = features === "words" ? words !== null && by === null : words === null && by !== null;
    const read = words === null ? by?.dimensions : words.buckets.length + PROMPT_COUNTS;
    if (!isWhole) context.addIssue("does not say in one way what its heads read");
    if (heads.length !== names.length) context.addIssue(`has ${heads.length} heads and names ${names.length} models`);
    if (usual.length !== read || heads.some(({ weights }) => weights.length !== read))
      context.addIssue("has another number of weights or means than of features");
  });

const artefact = z.discriminatedUnion("kind", [lengths, confidence, configurations]);

/**
 * Validates a whole artefact as read: arrays have consistent lengths, children come after their parents so that every traversal ends, all
 * numbers are finite.
 *
 * @throws RangeError, in a sentence, where it is invalid.
 */
export function checkedArtefact(value: unknown): Artefact {
  const read = artefact.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "it" : issue.path.join(".");
  throw new RangeError(`This is not a trained predictor: ${where} ${issue?.code === "custom" ? issue.message : "is not as it must be"}`);
}

function forestProblem({ features, roots, feature, threshold, next, leafStart, ranks, targets }: QuantileForest): string | null {
  const nodes = feature.length;
  const leaves = leafStart.length - 1;
  if (threshold.length !== nodes || next.length !== nodes) return "has arrays of nodes of different lengths";
  if (roots.length === 0 || roots.some((root) => root >= nodes)) return "has no trees, or one without a root";
  for (const [node, by] of feature.entries()) {
    const to = next[node] ?? 0;
    if (by < -1 || by >= features) return "splits by a feature that does not exist";
    if (by === -1 ? to >= leaves : to <= node || to + 1 >= nodes)
      return "has a child that does not come after its parent, or a leaf that is none";
  }
  const isFilled = leafStart[0] === 0 && leafStart.every((start, leaf) => leaf === 0 || start > (leafStart[leaf - 1] ?? 0));
  if (!isFilled || leafStart[leaves] !== ranks.length) return "has leaves that do not share out its targets";
  if (ranks.some((rank) => rank >= targets.length)) return "has a leaf with a target that does not exist";
  const ascends = targets.every((target, at) => Math.abs(target) <= MOST_LOG_TOKENS && (at === 0 || target > (targets[at - 1] ?? 0)));
  return ascends ? null : "has targets out of order or range";
}

/** A trained predictor as it is stored and sent to gateways. */
export type Artefact = LengthArtefact | ConfidenceArtefact | ConfigurationArtefact;
