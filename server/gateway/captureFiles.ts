import { appendFile, mkdir, open, readdir, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "./durableFile";
import { Turns } from "./turns";

const dayMs = 86_400_000;
const dayName = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;
const cursorForm = /^(\d{4}-\d{2}-\d{2}):(\d{1,15})$/;
/** About what a page holds; one line that is longer is a page of its own. */
const pageBytes = 1024 * 1024;

interface Day {
  bytes: number;
  prompts: number;
}

export interface CapturePage {
  readonly lines: readonly string[];
  /** null: there are no more. */
  readonly next: string | null;
}

/** Captured prompts in `captured/`, a line each, a file for each day of UTC, for this user alone. What is done with them is done in turn. */
export class CaptureFiles {
  readonly #directory: string;
  readonly #days = new Map<string, Day>();
  readonly #turns = new Turns();

  constructor(stateDirectory: string) {
    this.#directory = join(stateDirectory, "captured");
  }

  /** What is there now. */
  get summary(): { readonly prompts: number; readonly bytes: number; readonly oldestDay: string | null } {
    const days = [...this.#days.values()];
    const sum = (part: (day: Day) => number): number => days.reduce((total, day) => total + part(day), 0);
    return { prompts: sum(({ prompts }) => prompts), bytes: sum(({ bytes }) => bytes), oldestDay: this.#names[0] ?? null };
  }

  /** Resolves when all that was asked so far is done. */
  get settled(): Promise<void> {
    return this.#turns.take(async () => undefined);
  }

  /** Takes up the files of earlier starts; the half of a line that a crash left is taken out. */
  load(): Promise<void> {
    return this.#turns.take(async () => {
      const found = await readdir(this.#directory).catch((error) => {
        if (isMissing(error)) return [];
        throw error;
      });
      for (const file of found) {
        const day = dayName.exec(file)?.[1];
        if (day !== undefined) this.#days.set(day, await this.#mended(this.#path(day)));
      }
    });
  }

  /** Adds lines; the oldest day goes where there is no room. @returns how many of them, the first ones, there was room for. Rejects where they cannot be written. */
  append(lines: readonly string[], nowMs: number, mostBytes: number): Promise<number> {
    return this.#turns.take(async () => {
      const today = dayOf(nowMs);
      let [count, bytes] = [0, 0];
      for (const line of lines) {
        const more = bytes + Buffer.byteLength(line) + 1;
        if (!(await this.#makeRoom(more, today, mostBytes))) break;
        [count, bytes] = [count + 1, more];
      }
      if (count === 0) return 0;
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      await appendFile(this.#path(today), `${lines.slice(0, count).join("\n")}\n`, { mode: 0o600 });
      const before = this.#days.get(today) ?? { bytes: 0, prompts: 0 };
      this.#days.set(today, { bytes: before.bytes + bytes, prompts: before.prompts + count });
      return count;
    });
  }

  /** Deletes what is older than so many days, the one of `nowMs` being the first. */
  sweep(nowMs: number, retentionDays: number): Promise<void> {
    return this.#turns.take(async () => {
      const first = dayOf(nowMs - (retentionDays - 1) * dayMs);
      for (const day of this.#names) if (day < first) await this.#remove(day);
    });
  }

  /** Deletes all. */
  erase(): Promise<void> {
    return this.#turns.take(async () => {
      await rm(this.#directory, { recursive: true, force: true });
      this.#days.clear();
    });
  }

  /** Lines after a place, oldest first. @param after `next` of the page before; empty: from the first. null: it is no place. */
  page(after: string): Promise<CapturePage | null> {
    return this.#turns.take(async () => {
      const place = after === "" ? ["", "", "0"] : cursorForm.exec(after);
      if (place === null) return null;
      const [, from = "", offset = "0"] = place;
      for (const day of this.#names) {
        if (day < from) continue;
        const page = await this.#pageOf(day, day === from ? Number(offset) : 0);
        if (page.lines.length > 0) return page;
      }
      return { lines: [], next: null };
    });
  }

  async #pageOf(day: string, offset: number): Promise<CapturePage> {
    const whole = this.#days.get(day)?.bytes ?? 0;
    const file = await open(this.#path(day));
    try {
      for (let wanted = pageBytes; ; wanted *= 2) {
        const length = Math.max(0, Math.min(wanted, whole - offset));
        const { buffer } = await file.read({ buffer: Buffer.alloc(length), position: offset });
        const end = buffer.lastIndexOf("\n") + 1;
        if (end === 0 && offset + length < whole) continue;
        const later = this.#names.find((name) => name > day);
        const rest = offset + end < whole ? `${day}:${offset + end}` : later === undefined ? null : `${later}:0`;
        return { lines: end === 0 ? [] : buffer.toString("utf8", 0, end - 1).split("\n"), next: rest };
      }
    } finally {
      await file.close();
    }
  }

  get #names(): readonly string[] {
    return [...this.#days.keys()].sort();
  }

  #path(day: string): string {
    return join(this.#directory, `${day}.jsonl`);
  }

  /** Takes the oldest days away until there is room; false where today's alone leave none. */
  async #makeRoom(bytes: number, today: string, mostBytes: number): Promise<boolean> {
    while (this.summary.bytes + bytes > mostBytes) {
      const oldest = this.#names[0];
      if (oldest === undefined || oldest >= today) return false;
      await this.#remove(oldest);
    }
    return true;
  }

  async #remove(day: string): Promise<void> {
    await rm(this.#path(day), { force: true });
    this.#days.delete(day);
  }

  async #mended(path: string): Promise<Day> {
    const { size } = await stat(path);
    const file = await open(path);
    let prompts = 0;
    let bytes = 0;
    try {
      const chunk = Buffer.alloc(pageBytes);
      for (let position = 0; position < size; ) {
        const { bytesRead } = await file.read({ buffer: chunk, position });
        if (bytesRead === 0) break;
        for (let at = chunk.indexOf("\n"); at !== -1 && at < bytesRead; at = chunk.indexOf("\n", at + 1)) {
          prompts += 1;
          bytes = position + at + 1;
        }
        position += bytesRead;
      }
    } finally {
      await file.close();
    }
    if (bytes < size) await truncate(path, bytes);
    return { bytes, prompts };
  }
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
