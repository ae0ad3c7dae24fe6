import type { CaptureRequest, Capture as CaptureSummary } from "@/server/contracts/gateway/gatewayControls";
import type { ModelRequest } from "../http/modelRequest";
import { stableShare } from "../lib/stableShare";
import { capturedFields } from "./capturedFields";
import type { CaptureFiles } from "./captureFiles";
import { type Redacted, RedactionThread } from "./redactionThread";
import { isOf, type Whose } from "./whosePrompt";

type DropReason = keyof CaptureSummary["counts"]["dropped"];
/** Outcome of a prompt of the share. */
export type CaptureOutcome = "kept" | DropReason;

export interface CaptureOptions {
  readonly request: CaptureRequest;
  readonly files: CaptureFiles;
  /** What is kept in place of a user's id. */
  readonly pseudonymOf: (user: string) => string;
  readonly onPrompt: (outcome: CaptureOutcome) => void;
}

/** A request that was answered. */
export interface OfferedPrompt {
  readonly asked: ModelRequest;
  /** Name of its key; null where none is needed. */
  readonly key: string | null;
  readonly objective: string | null;
  /** Unix milliseconds at which it came. */
  readonly atMs: number;
}

interface Waiting {
  readonly offered: OfferedPrompt;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly bytes: number;
}

/** Stands for all clients if there are no API keys. */
export const everybody = "*";

/** A quarter of a million tokens: writing a longer one as JSON would block the gateway. */
const mostPromptBytes = 1024 * 1024;
/** Prompts that wait to be redacted and written: how many, and their bytes as received. */
const mostWaiting = 1000;
const mostWaitingBytes = 32 * 1024 * 1024;
/** Prompts that are redacted and written together, so that the capture sustains the rate of requests. */
const mostAtOnce = 64;
const mostBytesAtOnce = 256 * 1024;
/** Many times what Weir's own rules need for the largest prompt. */
export const redactionLimitMs = 1000;

/** Stores a redacted share of the prompts of some keys without delaying requests: prompts beyond its time or room are dropped. */
export class Capture {
  readonly #options: CaptureOptions;
  readonly #redactor: RedactionThread;
  readonly #keys: Set<string>;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** Those that are being redacted or written. */
  #inFlight: readonly Waiting[] = [];
  /** Those of them that must not be kept any more. */
  #forgotten = new Set<Waiting>();
  #working = false;
  #ended = false;
  readonly #redacted = new Map<string, number>();
  readonly #outcomes: Record<CaptureOutcome, number> = {
    kept: 0,
    busy: 0,
    "too-long": 0,
    "not-text": 0,
    "too-slow": 0,
    "no-room": 0,
    failed: 0,
  };

  constructor(options: CaptureOptions) {
    this.#options = options;
    this.#keys = new Set(options.request.keys);
    this.#redactor = new RedactionThread(options.request.redactions, redactionLimitMs);
  }

  get counts(): CaptureSummary["counts"] {
    const { kept, ...dropped } = this.#outcomes;
    return { kept, dropped, redacted: Object.fromEntries(this.#redacted) };
  }

  /** Captures the prompt later if it is in the share; returns at once and never throws. */
  offer(offered: OfferedPrompt): void {
    const { asked, key } = offered;
    if (this.#ended || !this.#keys.has(key ?? everybody)) return;
    if (asked.endpoint.operation !== "chat" || stableShare(`capture ${asked.decisionId}`) >= this.#options.request.share) return;
    const bytes = asked.inputTokens * 4;
    const fields = capturedFields(asked.body);
    if (bytes > mostPromptBytes) this.#count("too-long");
    else if (fields === null) this.#count("not-text");
    else if (this.#waiting.length >= mostWaiting || this.#waitingBytes + bytes > mostWaitingBytes) this.#count("busy");
    else {
      this.#waiting.push({ offered, fields, bytes });
      this.#waitingBytes += bytes;
      if (!this.#working) void this.#work();
    }
  }

  /** Drops what of theirs is not stored yet; later prompts of theirs are kept. */
  forget(whose: Whose): void {
    const isTheirs = ({ offered }: Waiting): boolean => isOf({ key: offered.key, user: this.#pseudonym(offered) }, whose);
    for (const one of this.#inFlight) if (isTheirs(one)) this.#forgotten.add(one);
    this.#leave((one) => !isTheirs(one));
  }

  /** Stops storing prompts of this key, waiting ones included. */
  drop(key: string): void {
    this.#keys.delete(key);
    this.#leave(({ offered }) => offered.key !== key);
  }

  #leave(stays: (one: Waiting) => boolean): void {
    this.#waiting = this.#waiting.filter(stays);
    this.#waitingBytes = this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #pseudonym({ asked: { body } }: OfferedPrompt): string | null {
    return typeof body.user === "string" && body.user !== "" ? this.#options.pseudonymOf(body.user) : null;
  }

  /** Stops storing prompts. */
  close(): void {
    this.#ended = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#redactor.close();
  }

  async #work(): Promise<void> {
    this.#working = true;
    while (this.#waiting.length > 0) {
      // Runs after the pending requests: writing JSON here blocks them for as long.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#takeBatch();
      this.#inFlight = batch;
      const outcomes = await this.#keep(batch).catch(() => batch.map(() => "failed" as const));
      this.#inFlight = [];
      this.#forgotten.clear();
      for (const outcome of outcomes) if (outcome !== null) this.#count(outcome);
    }
    this.#working = false;
  }

  #takeBatch(): readonly Waiting[] {
    const batch: Waiting[] = [];
    let bytes = 0;
    for (const next of this.#waiting) {
      if (batch.length === mostAtOnce || (bytes > 0 && bytes + next.bytes > mostBytesAtOnce)) break;
      batch.push(next);
      bytes += next.bytes;
    }
    this.#waiting = this.#waiting.slice(batch.length);
    this.#waitingBytes -= bytes;
    return batch;
  }

  /** @returns the outcome of each prompt; null if it was to be dropped meanwhile. */
  async #keep(batch: readonly Waiting[]): Promise<readonly (CaptureOutcome | null)[]> {
    const { request, files } = this.#options;
    const redacted = await this.#redactor.redact(batch.map(({ fields }) => JSON.stringify(fields)));
    const outcomes = batch.map((waiting, at): CaptureOutcome | null => {
      if (this.#ended || this.#forgotten.has(waiting) || !this.#keys.has(waiting.offered.key ?? everybody)) return null;
      const one = redacted[at] ?? "failed";
      return typeof one === "string" ? one : "kept";
    });
    const toKeep = batch.flatMap(({ offered }, at) => {
      const one = redacted[at];
      return outcomes[at] === "kept" && typeof one === "object"
        ? [{ line: lineOf(offered, this.#pseudonym(offered), one), counts: one.counts }]
        : [];
    });
    if (toKeep.length === 0) return outcomes;
    const lines = toKeep.map(({ line }) => line);
    const kept = await files.append(lines, Date.now(), request).catch(() => null);
    for (const { counts } of toKeep.slice(0, kept ?? 0))
      for (const [name, count] of Object.entries(counts)) this.#redacted.set(name, (this.#redacted.get(name) ?? 0) + count);
    let place = 0;
    return outcomes.map((outcome) => {
      if (outcome !== "kept") return outcome;
      place += 1;
      return kept === null ? "failed" : place > kept ? "no-room" : "kept";
    });
  }

  #count(outcome: CaptureOutcome): void {
    this.#outcomes[outcome] += 1;
    this.#options.onPrompt(outcome);
  }
}

/** A prompt as a line of a capture file. */
function lineOf({ asked, key, objective, atMs }: OfferedPrompt, user: string | null, { text }: Redacted): string {
  const head = JSON.stringify({
    id: asked.decisionId,
    atMs: Math.round(atMs),
    category: objective ?? key ?? "",
    metadata: { key, objective, inputTokens: asked.inputTokens, ...(user === null ? {} : { user }) },
  });
  // Merges two JSON objects as text: what the worker wrote is not parsed again here.
  return `${head.slice(0, -1)},${text.slice(1)}`;
}
