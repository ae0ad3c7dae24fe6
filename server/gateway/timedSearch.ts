import type { RequestFacts } from "@/solver/prediction/predictor";
import type { MovingMean } from "./movingMean";
import type { FoundConfigurations } from "./prediction";

/** What searches for the accurate configurations of a workflow. */
interface Searcher {
  readonly space: { readonly size: number };
  /** One for each of the facts; ends with what is verified once `expired`. */
  predict(facts: readonly RequestFacts[], expired: () => boolean): readonly Omit<FoundConfigurations, "of">[];
}

/** Searches that end in time, and what one takes. */
export class TimedSearch {
  readonly #searcher: Searcher;
  readonly #searchMs: MovingMean;

  /** @param searchMs notes the wall milliseconds of a search that came to its end. */
  constructor(searcher: Searcher, searchMs: MovingMean) {
    this.#searcher = searcher;
    this.#searchMs = searchMs;
  }

  /** Searches for all of these together, until a moment of `performance.now()`. */
  run(facts: readonly RequestFacts[], byMs: number): readonly FoundConfigurations[] {
    if (facts.length === 0) return [];
    const { predict, space } = this.#searcher;
    const startedMs = performance.now();
    const found = predict(facts, () => performance.now() >= byMs);
    if (found.every(({ whole }) => whole)) this.#searchMs.note((performance.now() - startedMs) / facts.length);
    return found.map(({ accurate, evaluated, whole }) => ({ accurate, evaluated, of: space.size, whole }));
  }
}
