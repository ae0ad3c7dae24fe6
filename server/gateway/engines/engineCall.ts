import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { FailureKind } from "@/server/contracts/gateway/gatewayAdmin";
import type { EndSignal } from "@/server/lib/requestEnd";
import type { Listed } from "@/server/lib/roster";

/** A POST to an engine or a judge. */
export interface EngineCall {
  readonly pool: Dispatcher;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly signal: EndSignal;
  /** Largest answer that is collected; a longer one counts as failed. */
  readonly mostBytes: number;
  /** Reserves memory for each piece of a collected answer; false if there is none, and the call fails. */
  readonly grow?: (bytes: number) => boolean;
  /** Receives the body of a 200 answer piece by piece; without it the body is collected. */
  readonly onData?: (chunk: Buffer, flow: Flow) => void;
  /** Seconds of silence after which the engine counts as failed; absent: no limit but the signal. A paused flow does not count. */
  readonly silenceSeconds?: number;
  /** Sees the call and its data, and may end it. */
  readonly watch?: CallWatch;
}

/** A call under way. */
export interface WatchedCall extends Listed {
  /** Ends it as failed, for a reason. */
  fail(failure: FailureKind, reason: string): void;
}

/** Watches all calls of an engine. */
export interface CallWatch {
  began(call: WatchedCall): void;
  /** Something came from the engine. */
  heard(): void;
  ended(call: WatchedCall): void;
}

/** Holds the upstream back while the client reads slowly, or ends the call. */
export interface Flow {
  readonly headers: IncomingHttpHeaders;
  pause(): void;
  resume(): void;
  abort(reason: string): void;
}

export type EngineReply =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly contentType: string;
      readonly body: Buffer;
      /** What it says about sending the request again; only of an answer that is not 200. */
      readonly retry?: EngineRetry;
    }
  /** `isUnsent`: nothing of the request reached the engine. */
  | { readonly kind: "failed"; readonly failure: FailureKind; readonly reason: string; readonly isUnsent?: boolean }
  | { readonly kind: "aborted" };

const retryHeaders = ["retry-after", "retry-after-ms", "x-should-retry"] as const;
/** An engine's own headers that clients obey before they send a request again. */
type EngineRetry = Readonly<Partial<Record<(typeof retryHeaders)[number], string>>>;

function retryOf(headers: IncomingHttpHeaders): EngineRetry {
  return Object.fromEntries(
    retryHeaders.flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
}

/** Whether a status says that an engine is broken or full, whatever it was asked. */
export function isBrokenOrFull(status: number): boolean {
  return status >= 500 || status === 429;
}

/**
 * Sends one POST and settles when the answer is whole, the engine failed, or `signal` fired (which also cuts the upstream
 * connection, so that the engine stops generating). Never rejects.
 */
export function callEngine(call: EngineCall): Promise<EngineReply> {
  if (call.signal.aborted) return Promise.resolve({ kind: "aborted" });
  return new Promise((resolve) => new EngineExchange(call, resolve).begin());
}

/** One call and its answer. A class, since a dozen closures for each call cost more than the call's own state. */
class EngineExchange implements Dispatcher.DispatchHandler, WatchedCall {
  place = -1;
  readonly #call: EngineCall;
  readonly #resolve: (reply: EngineReply) => void;
  #controller: Dispatcher.DispatchController | undefined;
  /** Set while the body of a 200 answer is passed on piece by piece. */
  #flow: Flow | undefined;
  #status = 0;
  #contentType = "application/json";
  #retry: EngineRetry | undefined;
  #settled = false;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #silence: NodeJS.Timeout | undefined;
  readonly #onAbort = (): void => this.#end({ kind: "aborted" }, "the request was aborted");

  constructor(call: EngineCall, resolve: (reply: EngineReply) => void) {
    this.#call = call;
    this.#resolve = resolve;
  }

  fail(failure: FailureKind, reason: string): void {
    this.#end({ kind: "failed", failure, reason }, reason);
  }

  begin(): void {
    const { pool, path, headers, body, signal, watch } = this.#call;
    this.#listen();
    signal.addEventListener("abort", this.#onAbort, { once: true });
    watch?.began(this);
    try {
      pool.dispatch({ method: "POST", path, headers, body }, this);
    } catch (error) {
      // What translates a body may fail on it.
      this.#settle({ kind: "failed", failure: "other", reason: describe(error as Error), isUnsent: true });
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error("the request was aborted"));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#call.watch?.heard();
    this.#status = status;
    this.#contentType = String(headers["content-type"] ?? this.#contentType);
    if (status !== 200) this.#retry = retryOf(headers);
    else if (this.#call.onData) this.#flow = this.#flowOf(controller, headers);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    const { watch, onData, mostBytes, grow } = this.#call;
    this.#silence?.refresh();
    watch?.heard();
    if (this.#flow && onData) {
      onData(chunk, this.#flow);
      return;
    }
    this.#bytes += chunk.length;
    if (this.#bytes > mostBytes) this.fail("other", tooLong(mostBytes));
    else if (grow?.(chunk.length) === false) this.fail("other", "no memory is left for its answer");
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    const body = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks);
    const answered = { kind: "answered", status: this.#status, contentType: this.#contentType, body } as const;
    this.#settle(this.#retry === undefined ? answered : { ...answered, retry: this.#retry });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const isUnsent = this.#controller === undefined;
    this.#settle({ kind: "failed", failure: "connection", reason: describe(error), ...(isUnsent && { isUnsent }) });
  }

  #flowOf(controller: Dispatcher.DispatchController, headers: IncomingHttpHeaders): Flow {
    return {
      headers,
      pause: () => {
        clearTimeout(this.#silence);
        controller.pause();
      },
      resume: () => {
        this.#listen();
        controller.resume();
      },
      abort: (reason) => this.fail("other", reason),
    };
  }

  #listen(): void {
    const { silenceSeconds: seconds } = this.#call;
    if (seconds === undefined) return;
    this.#silence = setTimeout(() => this.fail("silent", `nothing came for ${seconds} s`), seconds * 1000);
  }

  /** Settles first, since aborting reports an error at once. */
  #end(reply: EngineReply, reason: string): void {
    this.#settle(reply);
    this.#controller?.abort(new Error(reason));
  }

  #settle(reply: EngineReply): void {
    this.#settled = true;
    clearTimeout(this.#silence);
    this.#call.watch?.ended(this);
    this.#call.signal.removeEventListener("abort", this.#onAbort);
    this.#resolve(reply);
  }
}

/** Why an answer that is longer than the gateway takes has failed. */
export function tooLong(mostBytes: number): string {
  return `its answer is longer than ${mostBytes} bytes, this gateway's limit`;
}

function describe(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
  return `${error.message || error.name}${code}`;
}
