import type { Sketch } from "@/solver/words/sketch";
import { CLASS_BUCKETS, classCounts } from "@/solver/words/sketch";
import { type WordSpace, wordVector, wordWeights } from "@/solver/words/wordSpace";

/** Number of features before the directions of the space of words. */
export const TEXT_COUNTS = CLASS_BUCKETS + 1;

/** The inputs of forests from prompts' texts. */
export interface TextSpace {
  readonly words: WordSpace;
  /** Mean features of the training prompts: assumed for a prompt without available text. */
  readonly usual: Float32Array;
}

/** Logarithms of the numbers of words, numbers, signs and distinct buckets of the space in a sketch, and its position in the space. */
function textFeatures(words: WordSpace, sketch: Sketch): Float32Array {
  const counts = [...classCounts(sketch), wordWeights(words, sketch).places.length].map(Math.log1p);
  return Float32Array.from([...counts, ...wordVector(words, sketch)]);
}

/** The space whose usual features are the mean of these prompts'; all 0 without any. */
export function textSpaceOf(words: WordSpace, sketches: readonly Sketch[]): TextSpace {
  const usual = textFeatures(words, { buckets: new Uint16Array(), counts: new Uint16Array() });
  for (const sketch of sketches) {
    for (const [at, value] of textFeatures(words, sketch).entries()) usual[at] = (usual[at] ?? 0) + value / sketches.length;
  }
  return { words, usual };
}

/** Features of a prompt's text; cached while the sketch is referenced elsewhere, since all stages of a program use them. */
export function textFeaturesOf({ words, usual }: TextSpace): (sketch: Sketch | null) => Float32Array {
  const known = new WeakMap<Sketch, Float32Array>();
  return (sketch) => {
    if (sketch === null) return usual;
    const features = known.get(sketch) ?? textFeatures(words, sketch);
    known.set(sketch, features);
    return features;
  };
}
