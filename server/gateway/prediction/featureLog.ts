import { createHmac, randomBytes } from "node:crypto";
import { appendFile, mkdir, open, readFile, rename, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { LearningLine } from "@/server/contracts/gateway/gatewayLearning";
import { isMissing, writeDurably } from "../lib/durableFile";
import { Mutex } from "../lib/mutex";

/** Size limit of each of the two files; a line is 300 to 3000 bytes. */
const fileBytes = 16 * 1024 * 1024;
/** The time that a file must cover, so that most of the log is about programs that have ended. */
const spanMs = 2 * 3600_000;
/** Interval of the checks whether there is room for more programs again. */
const lookMs = 900_000;
/** Minimum share of the programs; below it one file holds days of any traffic. */
const leastShare = 2 ** -20;
/** Time for which lines are collected before a write. */
const writeMs = 1_000;
/** Bytes that wait to be written; further lines are lost. They fit into a file. */
const mostWaitingBytes = 8 * 1024 * 1024;
const newline = 10;

/** Outcome of an answer: stored as a line, left out with its program (no room for all) or dropped (the rate is too high). */
export type Noted = "kept" | "left-out" | "dropped";

/**
 * The gateway's log of answered requests for training, features only: two files of `learning/` in turn; the older one is deleted when the
 * newer one is full. If that would be too soon, every other program is removed instead, and left out from then on: by a hash of its name,
 * so that the remaining programs stay complete. The last second is lost if the gateway is killed.
 */
export class FeatureLog {
  readonly #directory: string;
  readonly #mutex = new Mutex();
  readonly #onFailed: (error: unknown) => void;
  #key: Buffer | null = null;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** Share of the programs, by the hashes of their names. */
  #share = 1;
  /** Completion times of the first answer in the newer file, and of the latest one that was noted. */
  #sinceMs: number | null = null;
  #latestMs = 0;
  /** Bytes written since the last check for room for more programs. */
  #looked = { atMs: 0, bytes: 0 };
  #timer: NodeJS.Timeout | undefined;
  #passOn: ((line: LearningLine) => void) | null = null;

  constructor(stateDirectory: string, onFailed: (error: unknown) => void) {
    this.#directory = join(stateDirectory, "learning");
    this.#onFailed = onFailed;
  }

  /**
   * Reads, or creates, the key that hashes program names, and removes the partial line that a crash left. Without a key nothing is logged.
   */
  async load(): Promise<void> {
    const path = join(this.#directory, "key");
    try {
      this.#key = await readFile(path).catch(async (error) => {
        if (!isMissing(error)) throw error;
        const made = randomBytes(32);
        await mkdir(this.#directory, { recursive: true, mode: 0o700 });
        await writeDurably(path, made);
        return made;
      });
      const newer = await readFile(this.#path("newer")).catch(() => Buffer.alloc(0));
      const whole = newer.lastIndexOf(newline) + 1;
      if (whole < newer.length) await truncate(this.#path("newer"), whole);
      this.#goOnFrom(newer.toString("latin1", 0, whole).split("\n"));
    } catch (error) {
      this.#onFailed(error);
    }
  }

  /** Writes no more, and passes further answers on. */
  passOn(onLine: (line: LearningLine) => void): void {
    this.#passOn = onLine;
  }

  /** Notes an answer; the name of its program is hashed. */
  note({ program: name, ...line }: LearningLine): Noted {
    if (this.#passOn !== null) {
      this.#passOn({ program: name, ...line });
      return "kept";
    }
    if (this.#key === null) return "dropped";
    const program = createHmac("sha256", this.#key).update(name).digest("hex").slice(0, programDigits);
    if (!isAmong(program, this.#share)) return "left-out";
    // The program comes first: it is used to find lines for removal.
    const text = JSON.stringify({ program, ...line, ...(this.#share < 1 && { share: this.#share }) });
    if (this.#waitingBytes + text.length > mostWaitingBytes) return "dropped";
    this.#latestMs = Math.max(this.#latestMs, line.finishedAtMs);
    this.#waiting.push(text);
    this.#waitingBytes += text.length;
    this.#timer ??= setTimeout(() => void this.written(), writeMs).unref();
    return "kept";
  }

  /** Resolves when all noted answers are in the files. Never rejects. */
  written(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#mutex.run(() => this.#write()).catch(this.#onFailed);
  }

  /** Paths of the log files, older first. */
  async files(): Promise<readonly string[]> {
    await this.written();
    return [this.#path("older"), this.#path("newer")];
  }

  /** Deletes all. */
  erase(): Promise<void> {
    this.#waiting = [];
    this.#waitingBytes = 0;
    return this.#mutex.run(async () => {
      this.#sinceMs = null;
      for (const name of ["older", "newer"] as const) await rm(this.#path(name), { force: true });
    });
  }

  async #write(): Promise<void> {
    let lines = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (lines.length === 0) return;
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const newer = this.#path("newer");
    if ((await sizeOf(newer)) + bytesOf(lines) > fileBytes) {
      await this.#makeRoom();
      lines = lines.filter((line) => isAmong(programOf(line), this.#share));
      if ((await sizeOf(newer)) + bytesOf(lines) > fileBytes) await this.#turnOver();
    }
    if (lines.length === 0) return;
    this.#sinceMs ??= this.#latestMs;
    await appendFile(newer, lines.map((line) => `${line}\n`).join(""), { mode: 0o600 });
    this.#lookForRoom(bytesOf(lines));
  }

  /** Deletes the older file if the newer one covers enough time, otherwise half of the programs in both. */
  async #makeRoom(): Promise<void> {
    if (this.#latestMs - (this.#sinceMs ?? 0) >= spanMs || this.#share <= leastShare) return this.#turnOver();
    this.#share /= 2;
    this.#looked = { atMs: this.#latestMs, bytes: 0 };
    for (const name of ["older", "newer"] as const) await this.#thin(this.#path(name));
  }

  async #turnOver(): Promise<void> {
    await rename(this.#path("newer"), this.#path("older"));
    this.#sinceMs = null;
  }

  /** Removes the programs that are now left out. Works line by line: requests are served meanwhile. */
  async #thin(path: string): Promise<void> {
    const kept: string[] = [];
    try {
      const file = await open(path);
      for await (const line of file.readLines()) if (isAmong(programOf(line), this.#share)) kept.push(`${line}\n`);
    } catch (error) {
      if (isMissing(error)) return;
      throw error;
    }
    await writeDurably(path, kept.join(""));
  }

  /** Doubles the share of programs if the files fill several times more slowly than required. */
  #lookForRoom(writtenBytes: number): void {
    if (this.#looked.atMs === 0) this.#looked.atMs = this.#latestMs;
    this.#looked.bytes += writtenBytes;
    const pastMs = this.#latestMs - this.#looked.atMs;
    if (pastMs < lookMs) return;
    if ((pastMs * fileBytes) / this.#looked.bytes > 4 * spanMs) this.#share = Math.min(1, 2 * this.#share);
    this.#looked = { atMs: this.#latestMs, bytes: 0 };
  }

  /** Continues where an earlier start ended. */
  #goOnFrom(lines: readonly string[]): void {
    const [first, last] = [lines[0], lines.at(-2)].map((line) => (line ? (JSON.parse(line) as LearningLine) : null));
    this.#sinceMs = first?.finishedAtMs ?? null;
    this.#latestMs = last?.finishedAtMs ?? 0;
    this.#share = last?.share ?? 1;
  }

  #path(name: "older" | "newer"): string {
    return join(this.#directory, `${name}.ndjson`);
  }
}

const programDigits = 16;
const beforeProgram = '{"program":"';

const programOf = (line: string): string => line.slice(beforeProgram.length, beforeProgram.length + programDigits);

/** Whether a program is in a share of all. A smaller share is a subset of a larger one. */
const isAmong = (program: string, share: number): boolean => Number.parseInt(program.slice(0, 8), 16) < share * 2 ** 32;

const bytesOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => ({ size: 0 }))).size;
