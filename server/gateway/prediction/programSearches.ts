import { createHash } from "node:crypto";
import { BoundedMap } from "@/solver/collections/boundedMap";
import type { ProgramSearch } from "./programSearch";

/** Programs whose accurate configurations are remembered. */
const mostPrograms = 4_096;

/** An agent's request as searches identify it. */
export interface SearchedRequest {
  /** The predictor and the program. */
  readonly key: string;
  /** Null for an agent that reads another's answer: nothing is searched for its requests. */
  readonly first: FirstRequest | null;
}

interface FirstRequest {
  readonly agent: string;
  /** Text of its prompt, if predictors read it. */
  readonly text: string;
}

/** The search of a program's latest turn. */
interface Turn {
  readonly search: ProgramSearch;
  /** Hash of the question by agent in this turn: texts are not kept. */
  readonly texts: Map<string, string>;
}

/**
 * Searches for accurate configurations by program. The first agents of a program share one; if one of them gets a different question than
 * before, the session's next turn has begun, and it gets a new search.
 */
export class ProgramSearches {
  readonly #turns = new BoundedMap<Turn>(mostPrograms);

  /** The search that applies to the request; undefined if it must be made, or was never made. */
  of({ key, first }: SearchedRequest): ProgramSearch | undefined {
    const turn = this.#turns.get(key);
    if (turn === undefined || first === null) return turn?.search;
    const hash = hashOf(first.text);
    if ((turn.texts.get(first.agent) ?? hash) !== hash) return undefined;
    turn.texts.set(first.agent, hash);
    return turn.search;
  }

  /** The request begins the program's turn, with this search. */
  begin({ key, first }: SearchedRequest, search: ProgramSearch): void {
    if (first !== null) this.#turns.put(key, { search, texts: new Map([[first.agent, hashOf(first.text)]]) });
  }
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64");
