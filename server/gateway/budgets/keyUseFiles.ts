import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { gatewayUsageSchema, type KeyUse } from "@/server/contracts/gateway/gatewayKeys";
import { isMissing, writeDurably } from "../lib/durableFile";
import { Mutex } from "../lib/mutex";
import { dayOf, merged } from "./keyUseDay";

/** The longest month of the year before last is still there. */
export const keptDays = 400;
/** A crash loses the use of one interval. */
const everyMs = 10_000;
const dayMs = 86_400_000;
const fileName = /^(\d{4}-\d{2}-\d{2})\.json$/;
const rowsSchema = gatewayUsageSchema.shape.rows;

interface Days {
  /** The first and the last day, such as 2026-01-31; both belong to the range. */
  readonly from: string;
  readonly to: string;
}

/**
 * The use of keys by day and model: one file for each day in `key-usage` of the state directory, for 400 days. What is added stays in memory
 * until the file of its day is written.
 */
export class KeyUseFiles {
  readonly #directory: string;
  readonly #nowMs: () => number;
  readonly #onProblem: (problem: unknown) => void;
  readonly #mutex = new Mutex();
  #pending: KeyUse[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The day for which old files were removed last. */
  #cleanedDay = "";

  /** @param onProblem called for a file that cannot be read or written; requests are served all the same, and nothing is overwritten. */
  constructor(
    stateDirectory: string,
    { nowMs, onProblem }: { readonly nowMs: () => number; readonly onProblem: (problem: unknown) => void },
  ) {
    this.#directory = join(stateDirectory, "key-usage");
    this.#nowMs = nowMs;
    this.#onProblem = onProblem;
  }

  /** Begins to store. */
  begin(): void {
    this.#timer = setInterval(() => void this.save(), everyMs).unref();
  }

  add(rows: readonly KeyUse[]): void {
    this.#pending.push(...rows);
    // Merged now and then, so that a busy gateway keeps few rows.
    if (this.#pending.length > 10_000) this.#pending = merged(this.#pending);
  }

  /** Stores what was added since the last call, and once a day removes the files that are too old. */
  save(): Promise<void> {
    return this.#mutex.run(async () => {
      const rows = merged(this.#pending);
      this.#pending = [];
      for (const day of new Set(rows.map((row) => row.day))) {
        const added = rows.filter((row) => row.day === day);
        try {
          await writeDurably(this.#path(day), JSON.stringify(merged([...(await this.#read(day)), ...added])));
        } catch (problem) {
          this.#pending.push(...added);
          this.#onProblem(problem);
        }
      }
      await this.#clean();
    });
  }

  /** The use in a range of days. Rejects if one of its files cannot be read. */
  read({ from, to }: Days): Promise<KeyUse[]> {
    return this.#mutex.run(async () => {
      const isIn = (day: string): boolean => day >= from && day <= to;
      const stored: KeyUse[] = [];
      for (const day of await this.#days()) if (isIn(day)) stored.push(...(await this.#read(day)));
      return merged([...stored, ...this.#pending.filter(({ day }) => isIn(day))]);
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.save();
  }

  async #clean(): Promise<void> {
    const nowMs = this.#nowMs();
    const today = dayOf(nowMs);
    if (today === this.#cleanedDay) return;
    this.#cleanedDay = today;
    const first = dayOf(nowMs - keptDays * dayMs);
    for (const day of await this.#days()) if (day < first) await rm(this.#path(day), { force: true }).catch(this.#onProblem);
  }

  async #read(day: string): Promise<readonly KeyUse[]> {
    try {
      return rowsSchema.parse(JSON.parse(await readFile(this.#path(day), "utf8")));
    } catch (problem) {
      if (isMissing(problem)) return [];
      throw problem;
    }
  }

  async #days(): Promise<readonly string[]> {
    try {
      return (await readdir(this.#directory)).flatMap((name) => fileName.exec(name)?.[1] ?? []);
    } catch (problem) {
      if (!isMissing(problem)) this.#onProblem(problem);
      return [];
    }
  }

  #path(day: string): string {
    return join(this.#directory, `${day}.json`);
  }
}
