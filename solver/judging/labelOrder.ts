import { mixSeed } from "@/solver/numeric/random";

/**
 * The order in which answers are presented for labelling: all equally likely, whatever their model and their judged score. Any prefix of
 * it is a fair sample of prompts times models. Taking equal numbers from each fifth of a judge's scores made the AUC's error at most
 * an eighth smaller, and only that judge's; taking more from the lowest made intervals narrower by what they lost in coverage.
 *
 * @returns `prompt * models + model` in that order.
 */
export const answerOrder = (seed: string, prompts: number, models: number): Uint32Array => shuffled(`${seed} answers`, prompts * models);

/** The order in which prompts are presented for comparing two answers. */
export const pairOrder = (seed: string, prompts: number): Uint32Array => shuffled(`${seed} pairs`, prompts);

/** Whole numbers from 0 in the order of a hash, so that an added one does not change the order of the others. */
function shuffled(seed: string, count: number): Uint32Array {
  const hashes = Uint32Array.from({ length: count }, (_, at) => mixSeed(seed, at));
  return Uint32Array.from(hashes.keys()).sort((a, b) => (hashes[a] ?? 0) - (hashes[b] ?? 0) || a - b);
}

/** Two different models of several for a prompt, in either order: one of them `against` where that is one of them. */
export function pairOf(seed: string, prompt: number, models: readonly string[], against: string | null): readonly [string, string] | null {
  const ranked = [...models].sort((a, b) => mixSeed(seed, prompt, a) - mixSeed(seed, prompt, b));
  const first = against !== null && models.includes(against) ? against : ranked[0];
  const second = ranked.find((model) => model !== first);
  if (first === undefined || second === undefined) return null;
  return mixSeed(seed, prompt, "order") % 2 === 0 ? [first, second] : [second, first];
}
