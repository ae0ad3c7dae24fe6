import { readFile, rename } from "node:fs/promises";
import { isMissing, writeDurably } from "./durableFile";
import { Mutex } from "./mutex";

interface SavedFileOptions {
  /** A crash loses what changed in one interval. */
  readonly everyMs: number;
  /** What to store. */
  readonly text: () => string;
  /** Takes over what an earlier start stored. Throws if the text is not usable. */
  readonly restore: (text: string) => void;
  /** Called for a file that cannot be read or written; requests are served all the same. */
  readonly onProblem: (problem: unknown) => void;
}

/**
 * State of the process in one file: restored at the start, stored where it has changed, at intervals and at the end. A file that cannot be
 * restored is kept beside it as `.unusable`.
 */
export class SavedFile {
  readonly #path: string;
  readonly #options: SavedFileOptions;
  #saved = "{}";
  readonly #mutex = new Mutex();
  #timer: NodeJS.Timeout | undefined;
  /** Whether the file could not be restored, and nothing was stored since. */
  #isUnusable = false;
  #isClosed = false;

  constructor(path: string, options: SavedFileOptions) {
    this.#path = path;
    this.#options = options;
  }

  /** Takes over what an earlier start stored, and begins to store. */
  async load(): Promise<void> {
    const { everyMs, restore, onProblem } = this.#options;
    try {
      this.#saved = await readFile(this.#path, "utf8");
      restore(this.#saved);
    } catch (problem) {
      if (!isMissing(problem)) {
        this.#isUnusable = true;
        onProblem(problem);
      }
    }
    this.#timer = setInterval(() => void this.save(), everyMs).unref();
  }

  /** Stores the state if it has changed. Two writes at once would share one temporary file, so one waits for the other. */
  save(): Promise<void> {
    return this.#mutex.run(() => this.#save());
  }

  /** Stores a last time: another process may write the file from then on. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.save();
    this.#isClosed = true;
  }

  async #setAside(): Promise<void> {
    try {
      await rename(this.#path, `${this.#path}.unusable`);
    } catch (problem) {
      if (!isMissing(problem)) throw problem;
    }
    this.#isUnusable = false;
  }

  async #save(): Promise<void> {
    if (this.#isClosed) return;
    const text = this.#options.text();
    if (text === this.#saved) return;
    try {
      if (this.#isUnusable) await this.#setAside();
      await writeDurably(this.#path, text);
      this.#saved = text;
    } catch (problem) {
      this.#options.onProblem(problem);
    }
  }
}
