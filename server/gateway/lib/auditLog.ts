import { appendFile, mkdir, readFile, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type GatewayAuditLine, gatewayAuditLineSchema } from "@/server/contracts/gateway/gatewayControls";
import { reasonOf } from "@/server/lib/reasonOf";
import { isRecord } from "@/solver/collections/isRecord";
import { isMissing } from "./durableFile";

const toldLines = 10_000;
const pageSize = 1000;

export interface AuditPage {
  readonly lines: readonly GatewayAuditLine[];
  readonly latest: number;
}

/** An audit note: a line before it has its sequence number and time. */
export type AuditNote = Omit<GatewayAuditLine, "sequence" | "atMs">;

/**
 * Log of what operators and the gateway itself did to live traffic, one line each in `audit.jsonl` of the state directory, kept without
 * limit. The latest lines are served.
 */
export class AuditLog {
  readonly #path: string;
  #lines: GatewayAuditLine[] = [];
  #latest = 0;
  /** The latest line that put a configuration into force; null if none is known. */
  #change: GatewayAuditLine | null = null;
  #written: Promise<void> = Promise.resolve();

  constructor(stateDirectory: string) {
    this.#path = join(stateDirectory, "audit.jsonl");
  }

  get latest(): number {
    return this.#latest;
  }

  get latestChange(): GatewayAuditLine | null {
    return this.#change;
  }

  /** Resolves when every pending line is written, or could not be. */
  get written(): Promise<void> {
    return this.#written;
  }

  /**
   * Loads the lines of earlier starts. Only the partial line that a crash left is removed from the file: lines that a newer gateway wrote
   * are not served, but they stay and count.
   * @returns why the file cannot be used, in one sentence; what could be read is served anyway.
   */
  async load(): Promise<string | null> {
    try {
      const bytes = await readFile(this.#path);
      const end = bytes.lastIndexOf("\n") + 1;
      const rest = bytes.toString("utf8", end);
      const whole = isRecord(parsed(rest));
      this.#take([...bytes.toString("utf8", 0, end).split("\n"), rest].map(parsed).filter(isRecord));
      if (whole) await appendFile(this.#path, "\n", { flush: true });
      else if (rest !== "") await truncate(this.#path, end);
      return null;
    } catch (error) {
      return isMissing(error) ? null : `${this.#path} cannot be used: ${reasonOf(error)}.`;
    }
  }

  /** Appends a note. Rejects if it cannot be written; `page` still serves it then. */
  note(note: AuditNote): Promise<void> {
    const line = { sequence: this.#latest + 1, atMs: Date.now(), ...note };
    this.#latest = line.sequence;
    this.#tell(line);
    const written = this.#written.then(() => this.#append(`${JSON.stringify(line)}\n`));
    this.#written = written.catch(() => undefined);
    return written;
  }

  /** At most 1000 lines whose sequence is above `after`, oldest first. */
  page(after: number): AuditPage {
    return { lines: this.#lines.filter(({ sequence }) => sequence > after).slice(0, pageSize), latest: this.#latest };
  }

  #take(found: readonly Readonly<Record<string, unknown>>[]): void {
    for (const line of found) {
      if (Number.isSafeInteger(line.sequence)) this.#latest = Math.max(this.#latest, Number(line.sequence));
      const known = gatewayAuditLineSchema.safeParse(line);
      if (known.success) this.#tell(known.data);
    }
  }

  #tell(line: GatewayAuditLine): void {
    if (line.etag !== undefined) this.#change = line;
    this.#lines.push(line);
    if (this.#lines.length > toldLines) this.#lines.shift();
  }

  async #append(text: string): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await appendFile(this.#path, text, { mode: 0o600, flush: true });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A sentence followed by an operator's reason. */
export function withReason(sentence: string, reason: string): string {
  return reason === "" ? `${sentence}.` : `${sentence}: ${reason}`;
}
