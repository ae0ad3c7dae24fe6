import type { Logger } from "pino";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import {
  type CaptureErased,
  type CaptureErasure,
  type CaptureRequest,
  type Capture as CaptureSummary,
  captureRequestSchema,
  type Signature,
} from "@/server/contracts/gateway/gatewayControls";
import type { RedactionChoice } from "@/solver/redaction/redactor";
import { Capture, type CaptureOutcome, everybody, redactionLimitMs } from "../capture/capture";
import { CaptureFiles, type CapturePage, type ExpiredPrompts } from "../capture/captureFiles";
import { RedactionThread } from "../capture/redactionThread";
import { UserPseudonyms } from "../capture/userPseudonyms";
import { type ApiError, badRequest, conflict, nothingToEnd } from "../http/apiError";
import { withReason } from "../lib/auditLog";
import { percent } from "./canarySteps";
import type { Control, ControlDeps } from "./control";

export interface CaptureDeps extends ControlDeps {
  readonly stateDirectory: string;
  readonly metrics: { recordCapture(outcome: CaptureOutcome): void };
  readonly log: Logger;
}

/** Interval of the search for prompts past their retention. */
const sweepMs = 60_000;
/** Retention if the newest capture's is unknown, for example because the controls' file was lost. */
const unknownRetentionDays = 7;

/** A capture that an operator controls, and the files it leaves. */
export class CaptureControl implements Control<CaptureRequest, CaptureSummary> {
  readonly schema = captureRequestSchema;
  readonly #deps: CaptureDeps;
  readonly #files: CaptureFiles;
  readonly #pseudonyms: UserPseudonyms;
  readonly #sweeping: NodeJS.Timeout;
  #capture: Capture | null = null;

  constructor(deps: CaptureDeps) {
    this.#deps = deps;
    this.#files = new CaptureFiles(deps.stateDirectory, (expired) => this.#noteExpired(expired));
    this.#pseudonyms = new UserPseudonyms(deps.stateDirectory);
    this.#sweeping = setInterval(() => void this.#sweep(), sweepMs);
    this.#sweeping.unref();
  }

  /** Resumes what an earlier start kept. */
  async resume(): Promise<void> {
    const { store, serving, log } = this.#deps;
    await this.#files.load().catch((error) => log.error({ code: codeOf(error) }, "captured prompts cannot be read"));
    await this.#sweep();
    const { capture } = store.kept;
    if (capture === null || capture.endedMs !== null) return;
    await this.#pseudonyms.load();
    this.#start(capture);
    if (serving.config !== null) this.installed(serving.config);
  }

  async begin(request: CaptureRequest): Promise<ApiError | null> {
    const { store, audit } = this.#deps;
    const refusal = this.#keyRefusal(request.keys) ?? (await slownessRefusal(request.redactions));
    if (refusal !== null) return refusal;
    await this.#pseudonyms.load();
    this.#start(request);
    await store.keep({ capture: { ...request, sinceMs: Date.now(), endedMs: null } });
    await audit.note({ by: request.by, action: "capture started", detail: withReason(describe(request), request.reason) });
    await this.#sweep();
    return null;
  }

  read(): CaptureSummary {
    const { serving, store } = this.#deps;
    const { capture } = store.kept;
    const { endedMs = null, ...running } = capture ?? { endedMs: 0 };
    return {
      running: "keys" in running && endedMs === null ? running : null,
      keyNames: serving.config?.settings?.keys?.map(({ name }) => name) ?? null,
      counts: this.#capture?.counts ?? noCounts,
      files: { ...this.#files.summary, retentionDays: this.#retentionDays, ...this.#leastRetention() },
    };
  }

  async end({ by, reason }: Signature): Promise<ApiError | null> {
    if (this.read().running === null) return nothingToEnd("There is no capture to end.");
    await this.#end({ by, detail: withReason(`The capture ended; ${this.#remains()}`, reason) });
    return null;
  }

  /** Ends the capture if it runs, and deletes all that is kept; audited. */
  async erase({ by, reason }: Signature): Promise<ApiError | null> {
    const { store, audit } = this.#deps;
    const { running, files } = this.read();
    if (running === null && files.bytes === 0) return nothingToEnd("No capture is running, and no captured prompts are stored.");
    this.#stop();
    await this.#files.erase();
    await store.keep({ capture: null });
    const what = `${running === null ? "" : "The capture ended; "}${files.prompts} captured prompts were deleted`;
    await audit.note({ by, action: "capture erased", detail: withReason(what, reason) });
    return null;
  }

  /** Deletes what is kept of one key or of one user, and what of theirs waits to be kept; audited, also where that is nothing. */
  async eraseSome({ by, reason, of }: CaptureErasure): Promise<CaptureErased> {
    await this.#pseudonyms.load();
    const whose = "key" in of ? of : { user: this.#pseudonyms.of(of.user) };
    this.#capture?.forget(whose);
    const prompts = await this.#files.eraseOf(whose);
    const name = "key" in whose ? `the key ${whose.key}` : `the user with the pseudonym ${whose.user}`;
    await this.#deps.audit.note({
      by,
      action: "capture erased",
      detail: withReason(`${prompts} captured prompts of ${name} were deleted`, reason),
    });
    return { prompts, of: whose };
  }

  /** A page of about 1 MB of captured prompts; null if `after` is not a valid cursor. */
  page(after: string): Promise<CapturePage | null> {
    return this.#files.page(after);
  }

  /** Ends the capture for keys that the configuration no longer has. */
  installed(config: GatewayConfig): void {
    const { running } = this.read();
    if (running === null) return;
    const names = config.settings?.keys?.map(({ name }) => name) ?? [everybody];
    const gone = running.keys.filter((key) => !names.includes(key));
    if (gone.length === 0) return;
    for (const key of gone) this.#capture?.drop(key);
    const keys = running.keys.filter((key) => names.includes(key));
    const of = gone.includes(everybody) ? "there are keys now" : `${gone.join(", ")} left the settings`;
    const detail = keys.length === 0 ? `The capture ended: ${of}; ${this.#remains()}.` : `Part of the capture ended: ${of}.`;
    const { store, audit, log } = this.#deps;
    const note = { by: "gateway", detail };
    const change =
      keys.length === 0
        ? this.#end(note)
        : store.keep({ capture: { ...running, keys, endedMs: null } }).then(() => audit.note({ ...note, action: "capture ended" }));
    change.catch((err: unknown) => log.error({ err }, "the end of a capture could not be written"));
  }

  /** Stops capturing; stored prompts stay, and the next start resumes the capture. */
  close(): void {
    clearInterval(this.#sweeping);
    this.#capture?.close();
    this.#deps.serving.capture = null;
  }

  /** Resolves when all writes are done. */
  get written(): Promise<void> {
    return this.#files.settled;
  }

  /** The upper bound: prompts with a shorter promised retention are deleted earlier. */
  get #retentionDays(): number {
    return this.#deps.store.kept.capture?.retentionDays ?? unknownRetentionDays;
  }

  #leastRetention(): { readonly leastRetentionDays?: number } {
    const { leastDays } = this.#files;
    return leastDays === null ? {} : { leastRetentionDays: Math.min(leastDays, this.#retentionDays) };
  }

  #remains(): string {
    const { prompts } = this.#files.summary;
    return `${prompts} prompts stay until their retention time ends, at most ${this.#retentionDays} days, or until they are erased`;
  }

  #start(request: CaptureRequest): void {
    this.#capture?.close();
    const onPrompt = (outcome: CaptureOutcome): void => this.#deps.metrics.recordCapture(outcome);
    const pseudonymOf = (user: string): string => this.#pseudonyms.of(user);
    this.#capture = new Capture({ request, files: this.#files, pseudonymOf, onPrompt });
    this.#deps.serving.capture = this.#capture;
  }

  /** Stops the capture; its figures stay readable. */
  #stop(): void {
    this.#capture?.close();
    this.#deps.serving.capture = null;
  }

  async #end({ by, detail }: { readonly by: string; readonly detail: string }): Promise<void> {
    const { store, audit } = this.#deps;
    this.#stop();
    const { capture } = store.kept;
    if (capture !== null) await store.keep({ capture: { ...capture, endedMs: Date.now() } });
    await audit.note({ by, action: "capture ended", detail });
  }

  #noteExpired({ prompts, day, why }: ExpiredPrompts): void {
    const reason = why === "time" ? "their retention time was over" : "room was needed for newer ones";
    const detail = withReason(`${prompts} captured prompts of ${day} were deleted`, `${reason}.`);
    const { audit, log } = this.#deps;
    audit
      .note({ by: "gateway", action: "capture expired", detail })
      .catch((err: unknown) => log.error({ err }, "the deletion of captured prompts could not be noted"));
  }

  async #sweep(): Promise<void> {
    const failed = (error: unknown): void =>
      this.#deps.log.error({ code: codeOf(error) }, "captured prompts that are too old could not be deleted");
    await this.#files.sweep(Date.now(), this.#retentionDays).catch(failed);
  }

  #keyRefusal(keys: readonly string[]): ApiError | null {
    const { config } = this.#deps.serving;
    if (config === null) return conflict("No configuration is in force yet, so there is no traffic to capture.");
    const names = config.settings?.keys?.map(({ name }) => name);
    if (names === undefined)
      return keys.length === 1 && keys[0] === everybody
        ? null
        : conflict('This gateway has no API keys: give ["*"] as keys to capture of everybody, or set keys first.');
    const unknown = keys.find((key) => !names.includes(key));
    if (unknown === undefined) return null;
    if (unknown === everybody)
      return conflict(`This gateway has API keys: name the keys whose prompts may be captured, of ${names.join(", ")}.`);
    return conflict(`There is no key ${JSON.stringify(unknown)}; there are ${names.join(", ")}.`);
  }
}

function describe({ share, keys, redactions: { builtIn, own }, retentionDays }: CaptureRequest): string {
  const without = [...builtIn, ...own.map(({ name }) => name)].join(", ") || "nothing";
  const of = keys.includes(everybody) ? "everybody" : keys.join(", ");
  return `${percent(share)} of chat requests of ${of} are kept for ${retentionDays} days, without ${without}`;
}

/** Tries rules on texts that make bad patterns slow, in a thread that can be ended; the error names the first slow rule. */
async function slownessRefusal(redactions: RedactionChoice): Promise<ApiError | null> {
  const isSlow = async (choice: RedactionChoice): Promise<boolean> => {
    const redactor = new RedactionThread(choice, redactionLimitMs);
    const messages = hostileTexts(choice.own.map(({ pattern }) => pattern));
    const [outcome] = await redactor.redact([JSON.stringify({ messages })]);
    redactor.close();
    return typeof outcome === "string";
  };
  if (redactions.own.length === 0 || !(await isSlow(redactions))) return null;
  for (const rule of redactions.own) if (await isSlow({ builtIn: [], own: [rule] })) return tooSlow(`The rule ${rule.name} takes`);
  return tooSlow("The rules together take");
}

const tooSlow = (what: string): ApiError =>
  badRequest(`${what} longer than ${redactionLimitMs / 1000} s on repetitive text: do not nest repetitions in a pattern.`);

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "unknown");

const noCounts: CaptureSummary["counts"] = {
  kept: 0,
  dropped: { busy: 0, "too-long": 0, "not-text": 0, "too-slow": 0, "no-room": 0, failed: 0 },
  redacted: {},
};

/** Length in characters of a text on which slow patterns show. */
const hostileLength = 4000;

/**
 * Texts on which backtracking patterns take longest: long runs of one character or pair, with an end that matches nothing. They consist of
 * common letters, digits and blanks, and of what the patterns themselves name.
 */
function hostileTexts(patterns: readonly string[]): readonly string[] {
  const own = patterns.flatMap((pattern) => {
    const literal = pattern.replace(/\\./g, "").replace(/[^\p{L}\p{N} @._-]/gu, "");
    return literal === "" ? [] : [literal, ...new Set(literal)];
  });
  const runs = ["a", "0", " ", "a ", "0 ", "a.", "a@", "-", ...own].slice(0, 100);
  return [...new Set(runs)].map((run) => `${run.repeat(Math.ceil(hostileLength / run.length))}\u0000`);
}
