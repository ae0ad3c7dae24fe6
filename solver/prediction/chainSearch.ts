import { addConfiguration, countOf, emptySet, hasConfiguration } from "@/solver/workflow/configurationSet";
import { minimalChains } from "./chainDecomposition";
import { type ConfigurationOrder, configurationOrder } from "./configurationOrder";
import type { ConfigurationSearch } from "./predictor";

/** The search space: the configurations of a workflow in order, and their decomposition into chains. */
export interface SearchContext {
  readonly order: ConfigurationOrder;
  readonly chains: readonly Int32Array[];
}

export const searchContext = (sizes: readonly number[]): SearchContext => ({
  order: configurationOrder(sizes),
  chains: minimalChains(sizes),
});

/** Heads to evaluate in a round: pair i is configuration `configuration[i]` for prompt `prompt[i]`, those of a prompt together. */
export interface AskedHeads {
  readonly prompt: Int32Array;
  readonly configuration: Int32Array;
}

/**
 * Heads to evaluate in a prompt's round: this number, or with many open chains this share of them. With fewer, more verdicts are shared and
 * there are more rounds: for 3^5 configurations one per round evaluates some 10 % fewer heads in seven times the rounds, and all chains at
 * once up to 2.7 times as many where few are accepted.
 */
const LEAST_HEADS_A_ROUND = 8;
const CHAINS_A_ROUND = 1 / 8;

/** Maximum number of a prompt's candidates that are verified in a round: the time is checked between rounds. */
const VERIFIED_A_ROUND = 256;

/**
 * Searches the configurations of every prompt for those that its heads accept (Aragog, section 3.1), all prompts in lockstep rounds. On
 * each chain the boundary is found by bisection, the longest open interval first. A head that rejects prunes all configurations with no
 * larger model anywhere; one that accepts makes all with no smaller model candidates, which ends their part of the search but is no
 * verdict. Then every candidate that is not pruned is verified by its own head. The verdict of an accepting head remains even where another
 * prunes it: if heads are not monotone, that costs recall, never precision. With monotone heads exactly the accepted are found.
 *
 * @param evaluate whether each of the given heads accepts: 1, else 0.
 * @param headsAllowed called before every round for the maximum number of heads of a prompt in it, where that is fewer than usual; 0 ends
 * the search: the verified ones count, and the rest is left out.
 */
export function searchChains(
  { order, chains }: SearchContext,
  prompts: number,
  evaluate: (asked: AskedHeads) => Uint8Array,
  headsAllowed: () => number = () => Number.POSITIVE_INFINITY,
): readonly ConfigurationSearch[] {
  const searches = Array.from({ length: prompts }, () => new PromptSearch(order, chains));
  const prompt: number[] = [];
  const configuration: number[] = [];
  const ask = (of: number) => (asked: number) => {
    prompt.push(of);
    configuration.push(asked);
  };
  for (let allowed = headsAllowed(); allowed > 0; allowed = headsAllowed()) {
    prompt.length = 0;
    configuration.length = 0;
    for (const [of, search] of searches.entries()) search.askNext(ask(of), allowed);
    if (configuration.length === 0) break;
    const asked = { prompt: Int32Array.from(prompt), configuration: Int32Array.from(configuration) };
    for (const [at, verdict] of evaluate(asked).entries()) searches[prompt[at] ?? -1]?.learn(configuration[at] ?? 0, verdict === 1);
  }
  return searches.map((search) => search.found());
}

/** The search for one prompt. */
class PromptSearch {
  readonly #order: ConfigurationOrder;
  readonly #chains: readonly Int32Array[];
  readonly #accepted: Uint32Array;
  readonly #evaluated: Uint32Array;
  /** Below one that was rejected; downward closed. */
  readonly #pruned: Uint32Array;
  /** Above one that was accepted; upward closed. */
  readonly #candidates: Uint32Array;
  /** The undecided interval of each chain: from `low` up to and excluding `high`. */
  readonly #low: Int32Array;
  readonly #high: Int32Array;
  /** Number of chains with such an interval. */
  #open: number[];
  /** Number of these chains by the length of their interval. */
  readonly #widths: Int32Array;
  /** The candidates to verify once no chain is open, and the number already evaluated. */
  #unverified: readonly number[] | null = null;
  #verified = 0;

  constructor(order: ConfigurationOrder, chains: readonly Int32Array[]) {
    this.#order = order;
    this.#chains = chains;
    const largest = order.size - 1;
    [this.#accepted, this.#candidates] = [emptySet(order.size), emptySet(order.size)];
    addConfiguration(this.#accepted, largest);
    addConfiguration(this.#candidates, largest);
    [this.#evaluated, this.#pruned] = [emptySet(order.size), emptySet(order.size)];
    this.#low = new Int32Array(chains.length);
    this.#high = Int32Array.from(chains, ({ length }) => length);
    this.#open = Array.from(chains.keys());
    this.#widths = new Int32Array(1 + (chains[0]?.length ?? 0));
  }

  /** Adds the heads that the next round needs, up to a maximum; none once all is known. */
  askNext(ask: (configuration: number) => void, allowed: number): void {
    if (this.#open.length > 0) this.#narrow();
    if (this.#open.length > 0) {
      this.#askMiddles(ask, allowed);
      return;
    }
    this.#unverified ??= this.#left();
    const from = this.#verified;
    this.#verified = Math.min(from + Math.min(VERIFIED_A_ROUND, allowed), this.#unverified.length);
    for (let at = from; at < this.#verified; at++) ask(this.#unverified[at] ?? 0);
  }

  /** Records a head's verdict. */
  learn(configuration: number, accepts: boolean): void {
    addConfiguration(this.#evaluated, configuration);
    if (accepts) addConfiguration(this.#accepted, configuration);
    if (this.#unverified !== null) return;
    const known = accepts ? this.#candidates : this.#pruned;
    if (hasConfiguration(known, configuration)) return;
    if (accepts) this.#order.addAbove(known, configuration);
    else this.#order.addBelow(known, configuration);
  }

  found(): ConfigurationSearch {
    const whole = this.#unverified !== null && this.#verified === this.#unverified.length;
    return { accurate: this.#accepted, evaluated: countOf(this.#evaluated), whole };
  }

  /** Middles of the longest open intervals. */
  #askMiddles(ask: (configuration: number) => void, allowed: number): void {
    const wanted = Math.min(allowed, Math.max(LEAST_HEADS_A_ROUND, Math.ceil(CHAINS_A_ROUND * this.#open.length)));
    // Intervals of length `least` are included as far as the longer ones leave room.
    let [least, longer] = [this.#widths.length - 1, 0];
    while (least > 1 && longer + (this.#widths[least] ?? 0) < wanted) longer += this.#widths[least--] ?? 0;
    let room = wanted - longer;
    for (const chain of this.#open) {
      const width = (this.#high[chain] ?? 0) - (this.#low[chain] ?? 0);
      if (width < least || (width === least && room-- <= 0)) continue;
      ask(this.#middle(chain));
    }
  }

  #middle(chain: number): number {
    return this.#chains[chain]?.[((this.#low[chain] ?? 0) + (this.#high[chain] ?? 0)) >> 1] ?? 0;
  }

  /** Shrinks open intervals by all verdicts so far. */
  #narrow(): void {
    this.#widths.fill(0);
    let open = 0;
    for (const chain of this.#open) {
      const members = this.#chains[chain] ?? new Int32Array();
      let [low, high] = [this.#low[chain] ?? 0, this.#high[chain] ?? 0];
      while (low < high && hasConfiguration(this.#pruned, members[low] ?? 0)) low += 1;
      while (low < high && hasConfiguration(this.#candidates, members[high - 1] ?? 0)) high -= 1;
      this.#low[chain] = low;
      this.#high[chain] = high;
      if (low === high) continue;
      this.#widths[high - low] = (this.#widths[high - low] ?? 0) + 1;
      this.#open[open] = chain;
      open += 1;
    }
    this.#open.length = open;
  }

  /** Candidates that were neither pruned nor evaluated, ascending. */
  #left(): number[] {
    const left: number[] = [];
    for (const [at, candidates] of this.#candidates.entries()) {
      const known = (this.#pruned[at] ?? 0) | (this.#evaluated[at] ?? 0);
      for (let word = candidates & ~known; word !== 0; word &= word - 1) left.push(32 * at + 31 - Math.clz32(word & -word));
    }
    return left.filter((configuration) => configuration < this.#order.size - 1);
  }
}
