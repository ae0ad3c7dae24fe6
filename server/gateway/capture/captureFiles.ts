import { createReadStream } from "node:fs";
import { chmod, mkdir, open, readdir, rename, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { textLines } from "@/server/lib/textLines";
import { isMissing } from "../lib/durableFile";
import { Mutex } from "../lib/mutex";
import { isOf, ownerOf, type Whose } from "./whosePrompt";

const dayMs = 86_400_000;
/** A day of UTC, and the retention in days that was promised for its prompts, if known. */
const fileName = /^(\d{4}-\d{2}-\d{2}(?:\.\d{1,3})?)\.jsonl$/;
const cursorForm = /^(\d{4}-\d{2}-\d{2}(?:\.\d{1,3})?):(\d{1,15})$/;
/** Ends the name of a copy that is being written. */
const copyEnd = ".erasing";
/** Approximate size of a page; a longer line is a page by itself. */
const pageBytes = 1024 * 1024;

interface Kept {
  readonly bytes: number;
  readonly prompts: number;
}

/** The capture that the lines come from. */
interface Room {
  readonly retentionDays: number;
  readonly mostBytes: number;
}

/** Prompts that were deleted because their time was over, or to make room for new ones. */
export interface ExpiredPrompts {
  readonly prompts: number;
  /** Of UTC. */
  readonly day: string;
  readonly why: "time" | "room";
}

export interface CapturePage {
  readonly lines: readonly string[];
  /** Null on the last page. */
  readonly next: string | null;
}

/**
 * Captured prompts in `captured/`, one per line, readable by this user only. There is one file for each day of UTC and retention; the
 * retention is part of its name, so that a promise for some prompts holds whatever is captured later. Operations run one after the other.
 */
export class CaptureFiles {
  readonly #directory: string;
  readonly #onExpired: (expired: ExpiredPrompts) => void;
  readonly #files = new Map<string, Kept>();
  readonly #mutex = new Mutex();

  constructor(stateDirectory: string, onExpired: (expired: ExpiredPrompts) => void = () => undefined) {
    this.#directory = join(stateDirectory, "captured");
    this.#onExpired = onExpired;
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

  /** Resolves when all operations so far are done. */
  get settled(): Promise<void> {
    return this.#mutex.run(async () => undefined);
  }

  /** Loads the files of earlier starts; removes the partial line, and the partial copy of a file, that a crash left. */
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
        else if (file.endsWith(copyEnd)) await rm(join(this.#directory, file));
      }
    });
  }

  /**
   * Appends lines; deletes the oldest file if there is no room.
   * @returns how many of the first lines fitted. Rejects if they cannot be written; then none of them is kept.
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

  /** Deletes files older than their promised retention or than `mostDays`, whichever is less. The day of `nowMs` counts as the first. */
  sweep(nowMs: number, mostDays: number): Promise<void> {
    return this.#mutex.run(async () => {
      for (const name of this.#names) {
        const days = Math.min(mostDays, Number(name.split(".")[1] ?? mostDays));
        if (dayIn(name) < dayOf(nowMs - (days - 1) * dayMs)) await this.#expire(name, "time");
      }
    });
  }

  /**
   * Deletes the prompts of one key or user, and lines whose content is not text.
   * @returns how many.
   */
  eraseOf(whose: Whose): Promise<number> {
    const isErased = (line: string): boolean => {
      const owner = ownerOf(line);
      return owner !== null && isOf(owner, whose);
    };
    return this.#mutex.run(async () => {
      let erased = 0;
      for (const name of this.#names) {
        const before = this.#files.get(name)?.prompts ?? 0;
        const left = await rewritten(this.#path(name), isErased);
        if (left.prompts === 0) await this.#remove(name);
        else this.#files.set(name, left);
        erased += before - left.prompts;
      }
      return erased;
    });
  }

  /** Deletes all. */
  erase(): Promise<void> {
    return this.#mutex.run(async () => {
      await rm(this.#directory, { recursive: true, force: true });
      this.#files.clear();
    });
  }

  /**
   * Lines after a cursor, oldest first.
   * @param after `next` of the previous page; empty: from the first. Returns null if the cursor is invalid.
   */
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

  /** Deletes the oldest files until there is room; false if today's files alone leave none. */
  async #makeRoom(bytes: number, today: string, mostBytes: number): Promise<boolean> {
    while (this.summary.bytes + bytes > mostBytes) {
      const oldest = this.#names[0];
      if (oldest === undefined || dayIn(oldest) >= today) return false;
      await this.#expire(oldest, "room");
    }
    return true;
  }

  async #expire(name: string, why: ExpiredPrompts["why"]): Promise<void> {
    const prompts = this.#files.get(name)?.prompts ?? 0;
    await this.#remove(name);
    this.#onExpired({ prompts, day: dayIn(name), why });
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

/** Replaces a file by a copy without some lines; a crash leaves the old file or the new one, and perhaps a copy beside it. */
async function rewritten(path: string, isErased: (line: string) => boolean): Promise<Kept> {
  const copy = `${path}${copyEnd}`;
  const file = await open(copy, "w", 0o600);
  let [bytes, prompts] = [0, 0];
  try {
    for await (const lines of textLines(createReadStream(path), "as they are")) {
      const kept = lines.flatMap((line) => ("text" in line && !isErased(line.text) ? [`${line.text}\n`] : []));
      await file.appendFile(kept.join(""));
      prompts += kept.length;
    }
    await file.sync();
    bytes = (await file.stat()).size;
  } catch (error) {
    await rm(copy, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(copy, path);
  return { bytes, prompts };
}

/** Appends a text at a byte offset of a file; removes the part that was written if the write fails, as on a full disk. */
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
