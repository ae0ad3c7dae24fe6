import type { Logger } from "pino";
import type { z } from "zod";
import type { Signature } from "@/server/contracts/gatewayControls";
import type { ApiError } from "./apiError";
import { type Control, type ControlGround, nothingToEnd, withReason } from "./control";
import type { GatewayLimits } from "./limits";
import type { GatewayMetrics } from "./metrics";
import type { Turns } from "./turns";

/** What those who watch count with and are bounded by. */
export interface WatchGround extends ControlGround {
  readonly metrics: GatewayMetrics;
  readonly limits: GatewayLimits;
  readonly turns: Turns;
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

/** A watcher under an operator's hand. After a restart it begins anew with the same request. */
export class WatchControl<Request extends Signature, Document> implements Control<Request, Document> {
  readonly schema: z.ZodType<Request>;
  readonly #ground: ControlGround;
  readonly #options: WatchOptions<Request, Document>;
  #watcher: Watcher<Document> | null = null;

  constructor(ground: WatchGround, options: WatchOptions<Request, Document>) {
    this.schema = options.schema;
    this.#ground = ground;
    this.#options = options;
    const refusal = options.kept === null ? null : this.#start(options.kept);
    if (refusal !== null) ground.log.warn({ reason: refusal.message }, `the ${options.name} of before is not taken up`);
  }

  async begin(request: Request): Promise<ApiError | null> {
    const { store, audit } = this.#ground;
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
    const { store, audit } = this.#ground;
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
