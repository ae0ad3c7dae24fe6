import { createHash } from "node:crypto";
import { BoundedMap } from "@/solver/collections/boundedMap";
import type { Absence, FoundConfigurations } from "./prediction";

/** Programs whose accurate configurations are remembered. */
const mostPrograms = 4_096;

/** What a search found, or why it found nothing. */
export type Searched = Promise<FoundConfigurations | Absence>;

/** An agent's request as searches tell them apart. */
export interface SearchedRequest {
  /** The predictor and the program. */
  readonly key: string;
  /** Null for an agent that reads another's answer, of whose requests nothing is searched. */
  readonly first: FirstRequest | null;
}

interface FirstRequest {
  readonly agent: string;
  /** What its prompt says, where predictors read it. */
  readonly text: string;
}

/** The search of a program's latest turn. */
interface Turn {
  readonly found: Searched;
  /** By agent that has been asked in it, a hash of what it was asked: texts are not kept. */
  readonly texts: Map<string, string>;
}

/**
 * Searches for accurate configurations by program. Agents with which a program begins share one; where one of them is asked something else than
 * before, the session's next turn has begun, which gets a new search.
 */
export class ProgramSearches {
  readonly #mutex = new BoundedMap<Turn>(mostPrograms);

  /** What counts for the request; undefined where that has to be searched for, or was never. */
  of({ key, first }: SearchedRequest): Searched | undefined {
    const turn = this.#mutex.get(key);
    if (turn === undefined || first === null) return turn?.found;
    const hash = hashOf(first.text);
    if ((turn.texts.get(first.agent) ?? hash) !== hash) return undefined;
    turn.texts.set(first.agent, hash);
    return turn.found;
  }

  /** The program's turn began with the request, and this is found for it. */
  begin({ key, first }: SearchedRequest, found: Searched): void {
    if (first !== null) this.#mutex.put(key, { found, texts: new Map([[first.agent, hashOf(first.text)]]) });
  }
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64");
