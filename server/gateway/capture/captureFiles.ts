import { chmod, mkdir, open, readdir, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../lib/durableFile";
import { Mutex } from "../lib/mutex";

const dayMs = 86_400_000;
/** A day of UTC, and the days that its prompts were promised to stay where that is known. */
const fileName = /^(\d{4}-\d{2}-\d{2}(?:\.\d{1,3})?)\.jsonl$/;
const cursorForm = /^(\d{4}-\d{2}-\d{2}(?:\.\d{1,3})?):(\d{1,15})$/;
/** About what a page holds; a longer line is a page by itself. */
const pageBytes = 1024 * 1024;

interface Kept {
  readonly bytes: number;
  readonly prompts: number;
}

/** Of the capture that lines come from. */
interface Room {
  readonly retentionDays: number;
  readonly mostBytes: number;
}

export interface CapturePage {
  readonly lines: readonly string[];
  /** Null: no more. */
  readonly next: string | null;
}

/**
 * Captured prompts in `captured/`, a line each, for this user alone. A file for each day of UTC and retention, which is in its name, so that
 * what was promised for some prompts holds whatever is captured later. What is done with them is done in turn.
 */
export class CaptureFiles {
  readonly #directory: string;
  readonly #files = new Map<string, Kept>();
  readonly #mutex = new Mutex();

  constructor(stateDirectory: string) {
    this.#directory = join(stateDirectory, "captured");
  }

  /** What is there now. */
  get summary(): { readonly prompts: number; readonly bytes: number; readonly oldestDay: string | null } {
    const files = [...this.#files.values()];
    const sum = (part: (file: Kept) => number): number => files.reduce((total, file) => total + part(file), 0);
    const oldest = this.#names[0];
    return {
      prompts: sum(({ prompts }) => prompts),
      bytes: sum(({ bytes }) => bytes),
      oldestDay: oldest === undefined ? null : dayIn(oldest),
    };
  }

  /** The shortest retention among the files; null if there are none. */
  get leastDays(): number | null {
    const days = this.#names.map((name) => Number(name.split(".")[1] ?? Number.NaN)).filter(Number.isFinite);
    return days.length === 0 ? null : Math.min(...days);
  }

  /** Resolves when all that was asked so far is done. */
  get settled(): Promise<void> {
    return this.#mutex.run(async () => undefined);
  }

  /** Takes up the files of earlier starts; the half of a line that a crash left is taken out. */
  load(): Promise<void> {
    return this.#mutex.run(async () => {
      const found = await readdir(this.#directory).catch((error) => {
        if (isMissing(error)) return [];
        throw error;
      });
      if (found.length > 0) await chmod(this.#directory, 0o700);
      for (const file of found) {
        const name = fileName.exec(file)?.[1];
        if (name !== undefined) this.#files.set(name, await this.#mended(this.#path(name)));
      }
    });
  }

  /**
   * Adds lines; the oldest file goes where there is no room. @returns how many of them, the first ones, there was room for. Rejects where they
   * cannot be written, and then none of them is kept.
   */
  append(lines: readonly string[], nowMs: number, { retentionDays, mostBytes }: Room): Promise<number> {
    return this.#mutex.run(async () => {
      const today = dayOf(nowMs);
      let [count, bytes] = [0, 0];
      for (const line of lines) {
        const more = bytes + Buffer.byteLength(line) + 1;
        if (!(await this.#makeRoom(more, today, mostBytes))) break;
        [count, bytes] = [count + 1, more];
      }
      if (count === 0) return 0;
      const name = `${today}.${retentionDays}`;
      const before = this.#files.get(name) ?? { bytes: 0, prompts: 0 };
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      await appendWhole(this.#path(name), `${lines.slice(0, count).join("\n")}\n`, before.bytes);
      this.#files.set(name, { bytes: before.bytes + bytes, prompts: before.prompts + count });
      return count;
    });
  }

  /** Deletes what is older than the days that it was promised to stay or than so many, whichever are less, the one of `nowMs` being the first. */
  sweep(nowMs: number, mostDays: number): Promise<void> {
    return this.#mutex.run(async () => {
      for (const name of this.#names) {
        const days = Math.min(mostDays, Number(name.split(".")[1] ?? mostDays));
        if (dayIn(name) < dayOf(nowMs - (days - 1) * dayMs)) await this.#remove(name);
      }
    });
  }

  /** Deletes all. */
  erase(): Promise<void> {
    return this.#mutex.run(async () => {
      await rm(this.#directory, { recursive: true, force: true });
      this.#files.clear();
    });
  }

  /** Lines after a place, oldest first. @param after `next` of the page before; empty: from the first. null: it is no place. */
  page(after: string): Promise<CapturePage | null> {
    return this.#mutex.run(async () => {
      const place = after === "" ? ["", "", "0"] : cursorForm.exec(after);
      if (place === null) return null;
      const [, from = "", offset = "0"] = place;
      for (const name of this.#names) {
        if (name < from) continue;
        const page = await this.#pageOf(name, name === from ? Number(offset) : 0);
        if (page.lines.length > 0) return page;
      }
      return { lines: [], next: null };
    });
  }

  async #pageOf(name: string, offset: number): Promise<CapturePage> {
    const whole = this.#files.get(name)?.bytes ?? 0;
    const file = await open(this.#path(name));
    try {
      for (let wanted = pageBytes; ; wanted *= 2) {
        const length = Math.max(0, Math.min(wanted, whole - offset));
        const { buffer } = await file.read({ buffer: Buffer.alloc(length), position: offset });
        const end = buffer.lastIndexOf("\n") + 1;
        if (end === 0 && offset + length < whole) continue;
        const later = this.#names.find((other) => other > name);
        const rest = offset + end < whole ? `${name}:${offset + end}` : later === undefined ? null : `${later}:0`;
        return { lines: end === 0 ? [] : buffer.toString("utf8", 0, end - 1).split("\n"), next: rest };
      }
    } finally {
      await file.close();
    }
  }

  get #names(): readonly string[] {
    return [...this.#files.keys()].sort();
  }

  #path(name: string): string {
    return join(this.#directory, `${name}.jsonl`);
  }

  /** Takes the oldest files away until there is room; false where today's alone leave none. */
  async #makeRoom(bytes: number, today: string, mostBytes: number): Promise<boolean> {
    while (this.summary.bytes + bytes > mostBytes) {
      const oldest = this.#names[0];
      if (oldest === undefined || dayIn(oldest) >= today) return false;
      await this.#remove(oldest);
    }
    return true;
  }

  async #remove(name: string): Promise<void> {
    await rm(this.#path(name), { force: true });
    this.#files.delete(name);
  }

  async #mended(path: string): Promise<Kept> {
    await chmod(path, 0o600);
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

/** Adds a text behind so many bytes of a file; a half of it that could be written, as on a full disk, is taken out again. */
async function appendWhole(path: string, text: string, bytes: number): Promise<void> {
  const file = await open(path, "a", 0o600);
  try {
    await file.appendFile(text);
  } catch (error) {
    await file.truncate(bytes);
    throw error;
  } finally {
    await file.close();
  }
}

const dayIn = (name: string): string => name.slice(0, 10);

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
