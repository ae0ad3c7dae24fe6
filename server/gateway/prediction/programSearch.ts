import type { Absence, FoundConfigurations } from "./prediction";

/** A search for a program's accurate configurations. It may still run: its requests wait in their queue beside it. */
export class ProgramSearch {
  /** Resolves when it has ended; never rejects. */
  readonly ended: Promise<void>;
  #outcome: FoundConfigurations | Absence | null = null;

  /** @param searching what is found, or why nothing is; it must not reject. */
  constructor(searching: Promise<FoundConfigurations | Absence>) {
    this.ended = searching.then((outcome) => {
      this.#outcome = outcome;
    });
  }

  get runs(): boolean {
    return this.#outcome === null;
  }

  /** The configurations found; undefined while it runs, or where there are none. */
  get accurate(): Uint32Array | undefined {
    return typeof this.#outcome === "object" ? this.#outcome?.accurate : undefined;
  }

  /** How far each configuration is from being accurate; undefined where that was not asked for, and as `accurate` is. */
  get margins(): Int8Array | undefined {
    return typeof this.#outcome === "object" ? this.#outcome?.margins : undefined;
  }

  /** Why nothing was found; null while it runs, or where something was. */
  get absent(): Absence | null {
    return typeof this.#outcome === "string" ? this.#outcome : null;
  }
}
