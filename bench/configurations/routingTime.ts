import { searchChains, searchContext } from "@/solver/prediction/chainSearch";
import { verdicts } from "@/solver/prediction/headBank";
import { readPrompts } from "@/solver/prediction/promptReading";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import type { HeadCase } from "./cases";

/** Milliseconds per request by way of evaluating its heads, and the additional time to read its features from its sketch. */
export interface RoutingTimes {
  readonly batch: number;
  readonly reading: number;
  /** All heads of a prompt, each separately, or in one pass over all prompts of the batch. */
  readonly exhaustive: number;
  readonly exhaustiveFused: number;
  /** The heads that the search evaluates, each separately, or those of a round in one pass. */
  readonly pruned: number;
  readonly prunedFused: number;
}

/** Number of batches for timing each way; the first tenth warms up. */
const BATCHES = 60;

/**
 * Times of the four ways, whose results are the same except for pruning; medians over batches of held-out prompts.
 *
 * @param features number of inputs of each head, at least its own number: the rest are zeros, which change no verdict.
 */
export function routingTimes({ artefact, left }: HeadCase, batch: number, features: number): RoutingTimes {
  const { threshold, models, workflow } = artefact;
  const heads = { ...artefact.heads, features, weights: padded(artefact.heads.weights, artefact.heads.features, features) };
  const ground = searchContext(configurationSpace(workflow, models).options.map(({ length }) => length));
  const read = readPrompts(artefact.reading);
  const least = Math.log(threshold / (1 - threshold));
  const asked = Array.from({ length: BATCHES }, (_, at) =>
    Array.from({ length: batch }, (__, of) => left.facts[(at * batch + of) % left.facts.length]),
  );
  const factsOf = (at: number) => (asked[at] ?? []).filter((facts) => facts !== undefined);
  const matrices = asked.map((_, at) => {
    const matrix = read(factsOf(at));
    return { ...matrix, features, values: padded(matrix.values, matrix.features, features) };
  });
  const timed = (run: (at: number) => void): number => {
    const times = asked.map((_, at) => {
      const before = performance.now();
      run(at);
      return (performance.now() - before) / batch;
    });
    const kept = times.slice(BATCHES / 10).sort((one, other) => one - other);
    return kept[kept.length >> 1] ?? Number.NaN;
  };
  const matrixOf = (at: number) => matrices[at] ?? read([]);
  const oneByOne = (at: number, prompts: Int32Array, configurations: Int32Array): Uint8Array =>
    Uint8Array.from(configurations, (configuration, pair) => {
      const own = { row: prompts.subarray(pair, pair + 1), head: Int32Array.of(configuration) };
      return verdicts(heads, matrixOf(at), own, least)[0] ?? 0;
    });
  const fused = (at: number, prompts: Int32Array, configurations: Int32Array): Uint8Array =>
    verdicts(heads, matrixOf(at), { row: prompts, head: configurations }, least);
  const count = heads.bias.length;
  const allPrompts = Int32Array.from({ length: batch * count }, (_, pair) => Math.floor(pair / count));
  const allHeads = Int32Array.from({ length: batch * count }, (_, pair) => pair % count);
  const searched = (by: typeof fused) => (at: number) =>
    searchChains(ground, batch, ({ prompt, configuration }) => by(at, prompt, configuration));
  return {
    batch,
    reading: timed((at) => read(factsOf(at).map((facts) => ({ ...facts, sketch: facts.sketch === null ? null : { ...facts.sketch } })))),
    exhaustive: timed((at) => oneByOne(at, allPrompts, allHeads)),
    exhaustiveFused: timed((at) => fused(at, allPrompts, allHeads)),
    pruned: timed(searched(oneByOne)),
    prunedFused: timed(searched(fused)),
  };
}

/** Rows of a matrix with zeros after their numbers. */
function padded(values: Float32Array, from: number, to: number): Float32Array {
  const wider = new Float32Array((values.length / from) * to);
  for (let row = 0; row * from < values.length; row++) wider.set(values.subarray(row * from, (row + 1) * from), row * to);
  return wider;
}
