import { mixSeed } from "@/solver/numeric/random";
import type { LengthPredictor, RequestFacts, Sketch } from "./predictor";
import { type ForestOptions, forestMedians, growForest, type QuantileForest } from "./quantileForest";
import { requestFeatures } from "./requestFeatures";
import { type TextSpace, textFeaturesOf, textSpaceOf } from "./textFeatures";
import { learnUsualLengths, type UsualLengths, usualLengthOf } from "./usualLengths";
import { learnWordSpace } from "./wordSpace";

/** Requests of known lengths, by the model that answered them. Arrays of one model are parallel. */
export interface LengthRows {
  /** Different prompts that the requests are of. */
  readonly prompts: number;
  readonly models: readonly ModelLengths[];
}

/** What one model wrote. */
interface ModelLengths {
  readonly model: string;
  readonly facts: readonly RequestFacts[];
  readonly requestTokens: Float32Array;
  /** The request and all that comes after it in its program, each once; not what stands beside it. */
  readonly remainingTokens: Float32Array;
}

/** A trained length predictor, as it is kept. */
export interface LengthArtefact {
  readonly kind: "lengths";
  readonly models: readonly string[];
  readonly text: TextSpace;
  /** Of each model. */
  readonly lengths: readonly { readonly request: LengthForest; readonly remaining: LengthForest }[];
}

/** What a stage usually writes, and by how much (in natural logarithms) a request's length is over it, by its features. */
interface LengthForest {
  readonly usual: UsualLengths;
  readonly forest: QuantileForest;
}

/** Directions of the space of words: more told no more on prompts that were not trained on. */
const DIMENSIONS = 32;

/** Chosen by threefold validation on prompts of two tasks and four models; the distance hardly moves from half to twice of each. */
const FOREST: Omit<ForestOptions, "seed"> = { trees: 48, rowsPerTree: 2048, minLeafRows: 12, leafTargets: 7, featureShare: 0.33 };

/**
 * Trains a quantile regression forest for each model, on what requests and programs wrote over what their stage usually writes (Chimera, section
 * 3.4, with which its median is that of the tokens). The same rows and seed give the same artefact.
 *
 * @throws RangeError where a model has no rows.
 */
export function trainLengths({ models }: LengthRows, { seed }: { readonly seed: number }): LengthArtefact {
  const empty = models.find(({ facts }) => facts.length === 0);
  if (empty !== undefined) throw new RangeError(`No request of ${empty.model} to learn lengths from`);
  const sketches = sketchesOf(models.flatMap(({ facts }) => facts));
  const text = textSpaceOf(learnWordSpace(sketches, DIMENSIONS, mixSeed(seed, "words")), sketches);
  const textOf = textFeaturesOf(text);
  return {
    kind: "lengths",
    models: models.map(({ model }) => model),
    text,
    lengths: models.map(({ model, facts, requestTokens, remainingTokens }) => {
      const request = overUsual(facts, requestTokens);
      const remaining = overUsual(facts, remainingTokens);
      const matrix = requestFeatures(facts, {
        requestOf: usualLengthOf(request.usual),
        remainingOf: usualLengthOf(remaining.usual),
        textOf,
      });
      const grow = ({ usual, over }: typeof request, of: string): LengthForest => ({
        usual,
        forest: growForest(matrix, over, { ...FOREST, seed: mixSeed(seed, model, of) }),
      });
      return { request: grow(request, "request"), remaining: grow(remaining, "remaining") };
    }),
  };
}

/** What each stage usually writes, and by how much each request is over it. */
function overUsual(facts: readonly RequestFacts[], tokens: Float32Array): { readonly usual: UsualLengths; readonly over: Float32Array } {
  const logTokens = tokens.map((count) => Math.log(Math.max(1, count)));
  const usual = learnUsualLengths(facts, logTokens);
  const usualOf = usualLengthOf(usual);
  return { usual, over: Float32Array.from(facts, (of, row) => (logTokens[row] ?? 0) - usualOf(of)) };
}

/** The predictor that a trained artefact makes. */
export function lengthPredictor({ models, text, lengths }: LengthArtefact): LengthPredictor {
  const textOf = textFeaturesOf(text);
  const readings = lengths.map(({ request, remaining }) => ({
    ...{ requestOf: usualLengthOf(request.usual), remainingOf: usualLengthOf(remaining.usual), textOf },
    ...{ request: request.forest, remaining: remaining.forest },
  }));
  return {
    models,
    predict: (facts, model) => {
      const reading = readings[models.indexOf(model)];
      if (reading === undefined) return null;
      const matrix = requestFeatures(facts, reading);
      const requests = forestMedians(reading.request, matrix);
      const remaining = forestMedians(reading.remaining, matrix);
      return facts.map((of, at) => ({
        requestTokens: Math.exp((requests[at] ?? 0) + reading.requestOf(of)),
        remainingTokens: Math.exp((remaining[at] ?? 0) + reading.remainingOf(of)),
      }));
    },
  };
}

/** Each sketch once, however many requests are of its prompt. */
const sketchesOf = (facts: readonly RequestFacts[]): readonly Sketch[] => [
  ...new Set(facts.flatMap(({ sketch }) => (sketch === null ? [] : [sketch]))),
];
