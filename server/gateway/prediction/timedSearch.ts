import type { ConfigurationSearch, RequestFacts } from "@/solver/prediction/predictor";
import { MovingMean } from "./movingMean";
import type { FoundConfigurations } from "./prediction";

/** Prompts as predictors read them: what is known of each, and its text. */
export interface ReadPrompts {
  readonly facts: readonly RequestFacts[];
  readonly texts: readonly string[];
}

/** What searches for the accurate configurations of a workflow, and how many that has. */
interface Searcher {
  readonly size: number;
  /** One for each prompt; `headsAllowed` says before each round how many heads a prompt may ask for, and ends it with 0. */
  search(prompts: ReadPrompts, headsAllowed: () => number): Promise<readonly ConfigurationSearch[]>;
}

/** Share of the remaining time that one round may take, so that the deadline is noticed in time and rounds are not needlessly small. */
const roundShare = 0.25;

/** Searches that end in time, and what one takes. */
export class TimedSearch {
  readonly #searcher: Searcher;
  readonly #searchMs: MovingMean;
  /** Wall milliseconds for one head and prompt, with what rounds take beside. */
  readonly #headMs = new MovingMean();

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
    // Prompts are read before the first round.
    let readMs: number | null = null;
    const found = await this.#searcher.search(prompts, () => {
      const nowMs = performance.now();
      readMs ??= nowMs;
      return this.#headsAllowed(byMs - nowMs, count);
    });
    const endedMs = performance.now();
    const heads = found.reduce((sum, { evaluated }) => sum + evaluated, 0);
    if (heads > 0) this.#headMs.note((endedMs - (readMs ?? startedMs)) / heads);
    if (found.every(({ whole }) => whole)) this.#searchMs.note((endedMs - startedMs) / count);
    return found.map(({ accurate, evaluated, whole }) => ({ accurate, evaluated, of: size, whole }));
  }

  /** How many heads each of so many prompts may ask for in a round, so much time being left. */
  #headsAllowed(leftMs: number, prompts: number): number {
    if (leftMs <= 0) return 0;
    const headMs = this.#headMs.mean ?? 0;
    return Math.max(1, Math.floor((roundShare * leftMs) / (headMs * prompts)));
  }
}
