import { createHash } from "node:crypto";
import { BoundedMap } from "@/solver/collections/boundedMap";
import type { Absence, FoundConfigurations } from "./prediction";

/** Programs whose accurate configurations are remembered. */
const mostPrograms = 4_096;

/** The result of a search, or why there is none. */
export type Searched = Promise<FoundConfigurations | Absence>;

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
  readonly found: Searched;
  /** Hash of the question by agent in this turn: texts are not kept. */
  readonly texts: Map<string, string>;
}

/**
 * Searches for accurate configurations by program. The first agents of a program share one; if one of them gets a different question than
 * before, the session's next turn has begun, and it gets a new search.
 */
export class ProgramSearches {
  readonly #mutex = new BoundedMap<Turn>(mostPrograms);

  /** The search that applies to the request; undefined if it must be made, or was never made. */
  of({ key, first }: SearchedRequest): Searched | undefined {
    const turn = this.#mutex.get(key);
    if (turn === undefined || first === null) return turn?.found;
    const hash = hashOf(first.text);
    if ((turn.texts.get(first.agent) ?? hash) !== hash) return undefined;
    turn.texts.set(first.agent, hash);
    return turn.found;
  }

  /** The request begins the program's turn, with this search. */
  begin({ key, first }: SearchedRequest, found: Searched): void {
    if (first !== null) this.#mutex.put(key, { found, texts: new Map([[first.agent, hashOf(first.text)]]) });
  }
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64");
