import type { ConfigurationSearch, RequestFacts } from "@/solver/prediction/predictor";
import type { MovingMean } from "./movingMean";
import type { FoundConfigurations } from "./prediction";

/** Prompts as predictors read them: what is known of each, and its text. */
export interface ReadPrompts {
  readonly facts: readonly RequestFacts[];
  readonly texts: readonly string[];
}

/** What searches for the accurate configurations of a workflow, and how many that has. */
interface Searcher {
  readonly size: number;
  /** One for each prompt; ends with what is verified once `expired`. */
  search(prompts: ReadPrompts, expired: () => boolean): Promise<readonly ConfigurationSearch[]>;
}

/** Searches that end in time, and what one takes. */
export class TimedSearch {
  readonly #searcher: Searcher;
  readonly #searchMs: MovingMean;

  /** @param searchMs notes the wall milliseconds that a prompt took in searches that came to their end. */
  constructor(searcher: Searcher, searchMs: MovingMean) {
    this.#searcher = searcher;
    this.#searchMs = searchMs;
  }

  /** Searches for all of these together, until a moment of `performance.now()`. */
  async run(prompts: ReadPrompts, byMs: number): Promise<readonly FoundConfigurations[]> {
    const count = prompts.facts.length;
    if (count === 0) return [];
    const { size } = this.#searcher;
    const startedMs = performance.now();
    const found = await this.#searcher.search(prompts, () => performance.now() >= byMs);
    if (found.every(({ whole }) => whole)) this.#searchMs.note((performance.now() - startedMs) / count);
    return found.map(({ accurate, evaluated, whole }) => ({ accurate, evaluated, of: size, whole }));
  }
}
