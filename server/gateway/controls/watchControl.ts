import type { Logger } from "pino";
import type { z } from "zod";
import type { Signature } from "@/server/contracts/gateway/gatewayControls";
import { type ApiError, nothingToEnd } from "../http/apiError";
import type { GatewayLimits } from "../http/limits";
import type { Usage } from "../http/usage";
import { withReason } from "../lib/auditLog";
import type { Mutex } from "../lib/mutex";
import type { Control, ControlDeps } from "./control";
import type { MirrorOutcome } from "./mirror";

/** The counters that watchers and captures write. */
interface WatchMetrics {
  recordDifference(difference: "start" | "accepts" | "escalates"): void;
  recordCopy(outcome: MirrorOutcome): void;
  recordCopyTokens(usage: Usage): void;
}

/** Dependencies of watchers. */
export interface WatchDeps extends ControlDeps {
  readonly metrics: WatchMetrics;
  readonly limits: GatewayLimits;
  readonly mutex: Mutex;
  readonly log: Logger;
}

/** Something that watches live traffic and acts on none of it. */
export interface Watcher<Document> {
  summary(): Document;
  close(): void;
}

interface WatchOptions<Request, Document> {
  readonly name: "shadow" | "mirror";
  readonly schema: z.ZodType<Request>;
  /** What an earlier start kept. */
  readonly kept: Request | null;
  /** @returns the error where the configuration makes it impossible. */
  readonly start: (request: Request) => Watcher<Document> | ApiError;
  /** What it does, as a sentence without its stop. */
  readonly describe: (request: Request) => string;
}

/** A watcher that an operator starts and ends. After a restart it starts over with the same request. */
export class WatchControl<Request extends Signature, Document> implements Control<Request, Document> {
  readonly schema: z.ZodType<Request>;
  readonly #deps: ControlDeps;
  readonly #options: WatchOptions<Request, Document>;
  #watcher: Watcher<Document> | null = null;

  constructor(deps: WatchDeps, options: WatchOptions<Request, Document>) {
    this.schema = options.schema;
    this.#deps = deps;
    this.#options = options;
    const refusal = options.kept === null ? null : this.#start(options.kept);
    if (refusal !== null) deps.log.warn({ reason: refusal.message }, `the stored ${options.name} is not resumed`);
  }

  async begin(request: Request): Promise<ApiError | null> {
    const { store, audit } = this.#deps;
    const { name, describe } = this.#options;
    const refusal = this.#start(request);
    if (refusal !== null) return refusal;
    await store.keep({ [name]: request });
    await audit.note({ by: request.by, action: `${name} started`, detail: withReason(describe(request), request.reason) });
    return null;
  }

  read(): Document | null {
    return this.#watcher?.summary() ?? null;
  }

  async end({ by, reason }: Signature): Promise<ApiError | null> {
    const { store, audit } = this.#deps;
    const { name } = this.#options;
    if (this.#watcher === null) return nothingToEnd(`There is no ${name} to end.`);
    this.close();
    await store.keep({ [name]: null });
    await audit.note({ by, action: `${name} ended`, detail: withReason(`The ${name} ended`, reason) });
    return null;
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  #start(request: Request): ApiError | null {
    const started = this.#options.start(request);
    if ("status" in started) return started;
    this.close();
    this.#watcher = started;
    return null;
  }
}
