import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type GatewayAuditLine, gatewayAuditLineSchema } from "@/server/contracts/gatewayControls";
import { isMissing, writeDurably } from "./durableFile";

const keptLines = 10_000;
const pageSize = 1000;

export interface AuditPage {
  readonly lines: readonly GatewayAuditLine[];
  readonly latest: number;
}

/** What operators and the gateway itself did to live traffic, one line each in `audit.jsonl` of the state directory. */
export class AuditLog {
  readonly #path: string;
  #lines: GatewayAuditLine[] = [];
  #latest = 0;
  #written: Promise<void> = Promise.resolve();

  constructor(stateDirectory: string) {
    this.#path = join(stateDirectory, "audit.jsonl");
  }

  get latest(): number {
    return this.#latest;
  }

  /** Resolves when every line so far is written, or could not be. */
  get written(): Promise<void> {
    return this.#written;
  }

  /** Takes up the lines of earlier starts. What is no line, as the half of one after a crash, is left out. */
  async load(): Promise<void> {
    const text = await readFile(this.#path, "utf8").catch((error) => {
      if (isMissing(error)) return "";
      throw error;
    });
    const found = text.split("\n").filter((line) => line !== "");
    this.#lines = found.flatMap((line) => lineOf(line) ?? []).slice(-keptLines);
    this.#latest = this.#lines.at(-1)?.sequence ?? 0;
    const whole = this.#lines.length === found.length && (text === "" || text.endsWith("\n"));
    if (!whole) await writeDurably(this.#path, this.#lines.map(asText).join(""));
  }

  /** Notes what was done. Rejects where it cannot be written; it is then still told by `page`. */
  note({ by, action, detail }: Pick<GatewayAuditLine, "by" | "action" | "detail">): Promise<void> {
    this.#latest += 1;
    const line = { sequence: this.#latest, atMs: Date.now(), by, action, detail };
    this.#lines.push(line);
    if (this.#lines.length > keptLines) this.#lines.shift();
    const written = this.#written.then(() => this.#append(asText(line)));
    this.#written = written.catch(() => undefined);
    return written;
  }

  /** At most 1000 lines whose sequence is above `after`, oldest first. */
  page(after: number): AuditPage {
    return { lines: this.#lines.filter(({ sequence }) => sequence > after).slice(0, pageSize), latest: this.#latest };
  }

  async #append(text: string): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    await appendFile(this.#path, text, { mode: 0o600, flush: true });
  }
}

const asText = (line: GatewayAuditLine): string => `${JSON.stringify(line)}\n`;

function lineOf(text: string): GatewayAuditLine | null {
  try {
    return gatewayAuditLineSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
