import { mixSeed } from "@/solver/numeric/random";
import type { Sketch } from "@/solver/words/sketch";
import { learnWordSpace } from "@/solver/words/wordSpace";
import type { LengthPredictor, RequestFacts } from "./predictor";
import { type ForestOptions, forestMedians, growForest, type QuantileForest } from "./quantileForest";
import { requestFeatures } from "./requestFeatures";
import { type TextSpace, textFeaturesOf, textSpaceOf } from "./textFeatures";
import { learnUsualLengths, type UsualLengths, usualLengthOf } from "./usualLengths";

/** Requests of known lengths, by the model that answered them. Arrays of one model are parallel. */
export interface LengthRows {
  /** The distinct prompts of the requests. */
  readonly prompts: number;
  readonly models: readonly ModelLengths[];
}

/** The output lengths of one model. */
interface ModelLengths {
  readonly model: string;
  readonly facts: readonly RequestFacts[];
  readonly requestTokens: Float32Array;
  /** The request and everything after it in its program, each once; without parallel requests. */
  readonly remainingTokens: Float32Array;
}

/** A trained length predictor, as it is stored. */
export interface LengthArtefact {
  readonly kind: "lengths";
  readonly models: readonly string[];
  readonly text: TextSpace;
  /** Per model. */
  readonly lengths: readonly { readonly request: LengthForest; readonly remaining: LengthForest }[];
}

/** A stage's usual output length, and the excess of a request's length over it (in natural logarithms), from its features. */
interface LengthForest {
  readonly usual: UsualLengths;
  readonly forest: QuantileForest;
}

/** Number of directions of the space of words: more did not improve predictions on held-out prompts. */
const DIMENSIONS = 32;

/** Selected by threefold validation on prompts of two tasks and four models; the distance hardly changes from half to twice of each. */
const FOREST: Omit<ForestOptions, "seed"> = { trees: 48, rowsPerTree: 2048, minLeafRows: 12, leafTargets: 7, featureShare: 0.33 };

/**
 * Trains a quantile regression forest for each model, on the lengths of requests and programs relative to their stage's usual length
 * (Chimera, section 3.4; its median thereby gives that of the tokens). The same rows and seed give the same artefact.
 *
 * @throws RangeError where a model has no rows.
 */
export function trainLengths({ models }: LengthRows, { seed }: { readonly seed: number }): LengthArtefact {
  const empty = models.find(({ facts }) => facts.length === 0);
  if (empty !== undefined) throw new RangeError(`No request of ${empty.model} to learn lengths from`);
  const sketches = sketchesOf(models.flatMap(({ facts }) => facts));
  const text = textSpaceOf(learnWordSpace(sketches, { dimensions: DIMENSIONS, seed: mixSeed(seed, "words") }), sketches);
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

/** The usual length of each stage, and the excess of each request over it. */
function overUsual(facts: readonly RequestFacts[], tokens: Float32Array): { readonly usual: UsualLengths; readonly over: Float32Array } {
  const logTokens = tokens.map((count) => Math.log(Math.max(1, count)));
  const usual = learnUsualLengths(facts, logTokens);
  const usualOf = usualLengthOf(usual);
  return { usual, over: Float32Array.from(facts, (of, row) => (logTokens[row] ?? 0) - usualOf(of)) };
}

/** The predictor of a trained artefact. */
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

/** Distinct sketches, regardless of the number of requests per prompt. */
const sketchesOf = (facts: readonly RequestFacts[]): readonly Sketch[] => [
  ...new Set(facts.flatMap(({ sketch }) => (sketch === null ? [] : [sketch]))),
];
