import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { FailureKind } from "@/server/contracts/gateway/gatewayAdmin";

/** A POST to an engine or a judge. */
export interface EngineCall {
  readonly pool: Dispatcher;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
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

/** Ends a call as failed, for a reason. */
export type FailCall = (failure: FailureKind, reason: string) => void;

/** Watches all calls of an engine. */
export interface CallWatch {
  began(fail: FailCall): void;
  /** Something came from the engine. */
  heard(): void;
  ended(fail: FailCall): void;
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
  | { readonly kind: "failed"; readonly failure: FailureKind; readonly reason: string }
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
export function callEngine({
  pool,
  path,
  headers,
  body,
  signal,
  mostBytes,
  grow,
  onData,
  silenceSeconds,
  watch,
}: EngineCall): Promise<EngineReply> {
  if (signal.aborted) return Promise.resolve({ kind: "aborted" });
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let flow: Flow | undefined;
    let status = 0;
    let contentType = "application/json";
    let retry: EngineRetry | undefined;
    let settled = false;
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onAbort = (): void => {
      // Settled first, since aborting reports an error at once.
      settle({ kind: "aborted" });
      controller?.abort(new Error("the request was aborted"));
    };
    const listen = (): NodeJS.Timeout | undefined =>
      silenceSeconds === undefined
        ? undefined
        : setTimeout(() => fail("silent", `nothing came for ${silenceSeconds} s`), silenceSeconds * 1000);
    const fail: FailCall = (failure, reason) => {
      settle({ kind: "failed", failure, reason });
      controller?.abort(new Error(reason));
    };
    let silence = listen();
    const settle = (reply: EngineReply): void => {
      settled = true;
      clearTimeout(silence);
      watch?.ended(fail);
      signal.removeEventListener("abort", onAbort);
      resolve(reply);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    watch?.began(fail);
    pool.dispatch(
      { method: "POST", path, headers, body },
      {
        onRequestStart(started) {
          controller = started;
          if (settled) started.abort(new Error("the request was aborted"));
        },
        onResponseStart(started, statusCode, responseHeaders) {
          watch?.heard();
          status = statusCode;
          contentType = String(responseHeaders["content-type"] ?? contentType);
          if (statusCode !== 200) retry = retryOf(responseHeaders);
          if (!onData || statusCode !== 200) return;
          flow = {
            headers: responseHeaders,
            pause() {
              clearTimeout(silence);
              started.pause();
            },
            resume() {
              silence = listen();
              started.resume();
            },
            abort: (reason) => fail("other", reason),
          };
        },
        onResponseData(_, chunk) {
          silence?.refresh();
          watch?.heard();
          if (flow && onData) return onData(chunk, flow);
          bytes += chunk.length;
          if (bytes > mostBytes) fail("other", tooLong(mostBytes));
          else if (grow?.(chunk.length) === false) fail("other", "no memory is left for its answer");
          else chunks.push(chunk);
        },
        onResponseEnd() {
          const answered = {
            kind: "answered",
            status,
            contentType,
            body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks),
          } as const;
          settle(retry === undefined ? answered : { ...answered, retry });
        },
        onResponseError(_, error) {
          settle({ kind: "failed", failure: "connection", reason: describe(error) });
        },
      },
    );
  });
}

/** Why an answer that is longer than the gateway takes has failed. */
export function tooLong(mostBytes: number): string {
  return `its answer is longer than ${mostBytes} bytes, this gateway's limit`;
}

function describe(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
  return `${error.message || error.name}${code}`;
}
