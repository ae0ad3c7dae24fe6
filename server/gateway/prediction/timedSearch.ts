import type { SearchOptions } from "@/solver/prediction/configurations";
import type { ConfigurationSearch, RequestFacts } from "@/solver/prediction/predictor";
import { MovingMean } from "../lib/movingMean";
import type { FoundConfigurations } from "./prediction";

/** Prompts as predictors read them: the known features of each, and its text. */
export interface ReadPrompts {
  readonly facts: readonly RequestFacts[];
  readonly texts: readonly string[];
}

/** What a search is given. */
interface SearchTask {
  readonly byMs: number;
  readonly withMargins: boolean;
}

/** A searcher for the accurate configurations of a workflow, and their total number. */
interface Searcher {
  readonly size: number;
  /** One result for each prompt. */
  search(prompts: ReadPrompts, options: SearchOptions): Promise<readonly ConfigurationSearch[]>;
}

/** Share of the remaining time that one round may take, so that the deadline is noticed in time and rounds are not needlessly small. */
const roundShare = 0.25;

/** Runs searches within a time limit and measures their duration. */
export class TimedSearch {
  readonly #searcher: Searcher;
  readonly #searchMs: MovingMean;
  /** Wall milliseconds for one head and prompt, including a round's overhead. */
  readonly #headMs = new MovingMean();

  /** @param searchMs receives the wall milliseconds per prompt of searches that finished. */
  constructor(searcher: Searcher, searchMs: MovingMean) {
    this.#searcher = searcher;
    this.#searchMs = searchMs;
  }

  /** Searches for all of these together, until a moment of `performance.now()`; with the margins of all configurations if these are read. */
  async run(prompts: ReadPrompts, { byMs, withMargins }: SearchTask): Promise<readonly FoundConfigurations[]> {
    const count = prompts.facts.length;
    if (count === 0) return [];
    const { size } = this.#searcher;
    const startedMs = performance.now();
    // Prompts are read before the first round.
    let readMs: number | null = null;
    const headsAllowed = (): number => {
      const nowMs = performance.now();
      readMs ??= nowMs;
      return this.#headsAllowed(byMs - nowMs, count);
    };
    const found = await this.#searcher.search(prompts, { headsAllowed, withMargins });
    const endedMs = performance.now();
    const heads = found.reduce((sum, { evaluated }) => sum + evaluated, 0);
    if (heads > 0) this.#headMs.note((endedMs - (readMs ?? startedMs)) / heads);
    if (found.every(({ whole }) => whole)) this.#searchMs.note((endedMs - startedMs) / count);
    return found.map(({ accurate, evaluated, whole, margins }) => ({ accurate, evaluated, of: size, whole, ...(margins && { margins }) }));
  }

  /** Heads that each of `prompts` prompts may request in a round if `leftMs` remain. */
  #headsAllowed(leftMs: number, prompts: number): number {
    if (leftMs <= 0) return 0;
    const headMs = this.#headMs.mean ?? 0;
    return Math.max(1, Math.floor((roundShare * leftMs) / (headMs * prompts)));
  }
}
