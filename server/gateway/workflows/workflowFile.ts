import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@/solver/collections/isRecord";
import type { WorkflowLearner } from "@/solver/workflow/learning/workflowLearner";
import { isMissing, writeDurably } from "../lib/durableFile";
import { Mutex } from "../lib/mutex";

/** What was learnt, at one moment. */
export interface SavedWorkflows {
  /** Unix milliseconds: since when it was learning, and when it was written. */
  readonly sinceMs: number;
  readonly atMs: number;
  readonly learnt: ReturnType<WorkflowLearner["keep"]>;
}

/** Stores what was learnt of workflows in one file of the state directory. */
export class WorkflowFile {
  readonly path: string;
  readonly #aside: string;
  readonly #mutex = new Mutex();
  #dropsAside = false;

  constructor(stateDirectory: string) {
    this.path = join(stateDirectory, "workflows.json");
    this.#aside = `${this.path}.unusable`;
  }

  /** What an earlier start stored; null if there is none. The content of `learnt` is not checked. Rejects if the file cannot be used. */
  async load(): Promise<(Omit<SavedWorkflows, "learnt"> & { readonly learnt: unknown }) | null> {
    let text: string;
    try {
      text = await readFile(this.path, "utf8");
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
    const found: unknown = JSON.parse(text);
    if (!isRecord(found) || !isTime(found.sinceMs) || !isTime(found.atMs)) throw new Error("its format is unknown");
    return { sinceMs: found.sinceMs, atMs: found.atMs, learnt: found.learnt };
  }

  /** Resolves when every pending write has ended, successfully or not. */
  get settled(): Promise<void> {
    return this.#mutex.run(async () => undefined);
  }

  /** Durable when it returns. */
  save(kept: SavedWorkflows): Promise<void> {
    const text = JSON.stringify(kept);
    return this.#mutex.run(async () => {
      if (this.#dropsAside) {
        await rm(this.#aside, { force: true });
        this.#dropsAside = false;
      }
      await writeDurably(this.path, text);
    });
  }

  /** The next file that is set aside replaces the previous one. */
  dropAside(): void {
    this.#dropsAside = true;
  }

  /**
   * Moves an unusable file aside; it replaces an earlier one there.
   * @returns its new path; null if it could not be moved.
   */
  async setAside(): Promise<string | null> {
    return rename(this.path, this.#aside).then(
      () => this.#aside,
      () => null,
    );
  }
}

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
