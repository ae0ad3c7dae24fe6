import { type ChatError, chatErrorOf } from "./chatError";

/** The tool calls of a stream in their order: each is whole when the next begins, as clients run one once it is done. */
export class CallSequence {
  #latest = -1;

  /** Whether any call has begun. */
  get hasBegun(): boolean {
    return this.#latest >= 0;
  }

  /** Begins the call with that index; an error if it, or a later one, has begun before. */
  begin(index: number): ChatError | null {
    if (index <= this.#latest) return chatErrorOf("The engine mixed the arguments of several tool calls.", null);
    this.#latest = index;
    return null;
  }
}
