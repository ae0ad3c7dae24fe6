import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isMissing, writeDurably } from "../lib/durableFile";
import type { Callers } from "./callers";

/** A crash loses the uses of one interval. */
const everyMs = 60_000;

/** Unix milliseconds of the last use, by the SHA-256 of a key. */
const usesSchema = z.record(z.string(), z.number());

/** Stores when each API key was used last in one file of the state directory. */
export class KeyUseFile {
  readonly #path: string;
  readonly #callers: Callers;
  readonly #onProblem: (problem: unknown) => void;
  #saved = "{}";
  #timer: NodeJS.Timeout | undefined;

  /** @param onProblem called for a file that cannot be read or written; requests are served all the same. */
  constructor(
    stateDirectory: string,
    { callers, onProblem }: { readonly callers: Callers; readonly onProblem: (problem: unknown) => void },
  ) {
    this.#path = join(stateDirectory, "key-uses.json");
    this.#callers = callers;
    this.#onProblem = onProblem;
  }

  /** Takes over what an earlier start stored, and begins to store; after the configuration is loaded. */
  async load(): Promise<void> {
    try {
      this.#saved = await readFile(this.#path, "utf8");
      this.#callers.restoreUses(Object.entries(usesSchema.parse(JSON.parse(this.#saved))));
    } catch (problem) {
      if (!isMissing(problem)) this.#onProblem(problem);
    }
    this.#timer = setInterval(() => void this.save(), everyMs).unref();
  }

  /** Stores the uses where they changed. */
  async save(): Promise<void> {
    const text = JSON.stringify(Object.fromEntries(this.#callers.uses));
    if (text === this.#saved) return;
    await writeDurably(this.#path, text).then(() => {
      this.#saved = text;
    }, this.#onProblem);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.save();
  }
}
