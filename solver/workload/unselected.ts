import { mean } from "../numeric/quantile";
/** A prompt that a smaller model answered, and whether a larger one did too. */
export interface Reached {
  /** The possible criterion of a gate for the prompts that reach the larger model: the judged score of the smaller one's answer. */
  readonly score: number;
  /** Quality of the smaller model's answer. */
  readonly label: number;
  readonly reached: boolean;
}

/**
 * How the prompts that reached a larger model represent all. `unselected`: they represent all. `thinned`: those of `kept` do. `untold`:
 * none do, since the prompts with scores of `from` to `to` reached it too rarely, or never.
 */
export type Selection =
  | { readonly kind: "unselected" }
  | { readonly kind: "thinned"; readonly kept: readonly number[] }
  | { readonly kind: "untold"; readonly from: number; readonly to: number };

/** Two-sided deviate of one in a thousand: the probability that a random part of the prompts looks selected. */
const EVIDENT = 3.29;

/** Minimum number of prompts for any conclusion on a model. */
const LEAST_KEPT = 30;

interface Block {
  readonly from: number;
  readonly to: number;
  readonly places: readonly number[];
  readonly reached: number;
}

/**
 * Which prompts that reached a larger model represent all prompts. Behind a cascade they do not: the harder ones are escalated, and an
 * average over them shows the larger model on those. A gate selects by the score, so that among prompts of similar scores those that
 * reached it are like the others; where each range of scores has some, as where a share of the requests is mirrored through all models, the
 * number kept of each makes their shares those of all prompts. No more are kept, so that intervals over them reflect the available
 * information.
 */
export function unselected(prompts: readonly Reached[]): Selection {
  if (!isSelected(prompts)) return { kind: "unselected" };
  const blocks = blocksOf(prompts);
  const rate = Math.min(...blocks.map(rateOf));
  const rarest = blocks.find((block) => rateOf(block) === rate);
  const kept = blocks.flatMap(({ places }) => {
    const reached = places.filter((place) => prompts[place]?.reached === true);
    return evenly(reached, Math.min(reached.length, Math.round(rate * places.length)));
  });
  if (rarest === undefined || kept.length < LEAST_KEPT) return { kind: "untold", from: rarest?.from ?? 0, to: rarest?.to ?? 100 };
  return { kind: "thinned", kept: kept.sort((a, b) => a - b) };
}

/** Whether the prompts that reached the larger model differ from all in score or label by more than a random part would. */
export function isSelected(prompts: readonly Reached[]): boolean {
  const reached = prompts.filter((prompt) => prompt.reached);
  if (reached.length === prompts.length || reached.length === 0) return reached.length < prompts.length;
  const differs = (of: (prompt: Reached) => number): boolean => {
    const all = prompts.map(of);
    const centre = mean(all);
    const variance = all.reduce((sum, value) => sum + (value - centre) ** 2, 0) / Math.max(1, all.length - 1);
    const error = Math.sqrt(variance * (1 / reached.length - 1 / all.length));
    return Math.abs(mean(reached.map(of)) - centre) > EVIDENT * error;
  };
  return differs(({ score }) => score) || differs(({ label }) => label);
}

/**
 * Ranges of scores within which the same share of prompts reached the larger model, as far as can be determined: neighbours without a
 * significant difference are merged. A gate's threshold appears as the border between two of them.
 */
function blocksOf(prompts: readonly Reached[]): readonly Block[] {
  const byScore = new Map<number, number[]>();
  for (const [place, { score }] of prompts.entries()) {
    const same = byScore.get(score);
    if (same === undefined) byScore.set(score, [place]);
    else same.push(place);
  }
  const count = (places: readonly number[]): number => places.filter((place) => prompts[place]?.reached === true).length;
  const scores = [...byScore]
    .sort(([a], [b]) => a - b)
    .map(([score, places]): Block => ({ from: score, to: score, places, reached: count(places) }));
  // Lower scores are escalated more often; if not, as behind a router, the order is reversed.
  const falling = joined(scores, (lower, higher) => rateOf(lower) <= rateOf(higher));
  const blocks = falling.length > 1 ? falling : joined(scores, (lower, higher) => rateOf(lower) >= rateOf(higher));
  for (;;) {
    const apart = blocks.slice(1).map((block, at) => apartness(blocks[at] as Block, block));
    const least = Math.min(...apart);
    if (!(least < EVIDENT)) return blocks;
    const at = apart.indexOf(least);
    blocks.splice(at, 2, join(blocks[at] as Block, blocks[at + 1] as Block));
  }
}

/** Pool-adjacent-violators: neighbours are merged as long as their rates are not in order. */
function joined(scores: readonly Block[], violates: (lower: Block, higher: Block) => boolean): Block[] {
  const blocks: Block[] = [];
  for (const score of scores) {
    let last = score;
    for (let before = blocks.at(-1); before !== undefined && violates(before, last); before = blocks.at(-1)) {
      blocks.pop();
      last = join(before, last);
    }
    blocks.push(last);
  }
  return blocks;
}

const join = (lower: Block, higher: Block): Block => ({
  ...{ from: lower.from, to: higher.to },
  ...{ places: [...lower.places, ...higher.places], reached: lower.reached + higher.reached },
});

const rateOf = ({ reached, places }: Block): number => reached / places.length;

/** Difference of two rates in standard errors of their pooled share. */
function apartness(a: Block, b: Block): number {
  const pooled = (a.reached + b.reached) / (a.places.length + b.places.length);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / a.places.length + 1 / b.places.length));
  return error === 0 ? 0 : Math.abs(rateOf(a) - rateOf(b)) / error;
}

const evenly = (values: readonly number[], count: number): number[] =>
  Array.from({ length: count }, (_, at) => values[Math.floor((at * values.length) / count)] as number);
