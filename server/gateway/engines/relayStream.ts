import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { FinishReason } from "@/server/contracts/gateway/gatewayAdmin";
import { abortError, abortKindOf } from "../http/abortError";
import { type ApiError, errorBody } from "../http/apiError";
import type { GatewayLimits } from "../http/limits";
import type { Usage } from "../http/usage";
import { callEngine, type EngineCall, type EngineReply, type Flow, tooLong } from "./engineCall";
import { beforeError, endsInData, withOpenEvent } from "./streamErrors";
import { overlong, StreamScanner } from "./streamScanner";
import { StreamWriter } from "./streamWriter";
import { withoutUsage } from "./usageEvent";
import { WholeLines } from "./wholeLines";

export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;

export interface Relay {
  readonly call: Omit<EngineCall, "onData" | "silenceSeconds">;
  readonly response: ServerResponse;
  /** Called at the first token, when the headers are sent. */
  readonly headers: () => OutgoingHttpHeaders;
  /** Whether the gateway asked for the usage and the client did not: its event is read, and not passed on. */
  readonly hidesUsage?: boolean;
  readonly limits: Pick<GatewayLimits, "streamSilenceSeconds" | "clientStallSeconds" | "answerBytes">;
}

/** What the stream said of its answer. */
interface Relayed {
  readonly usage: Usage;
  readonly finishReasons: readonly FinishReason[];
  readonly firstTokenMs: number;
}

export type RelayOutcome =
  | ({ readonly kind: "streamed" } & Relayed)
  /** The engine failed or the request was aborted after the first token: the client got an error event (after the engine's own, where its data came before its end), and the stream ended without `[DONE]`. */
  | ({ readonly kind: "broken"; readonly reason: string } & Relayed)
  /** Nothing was sent to the client: a whole answer, a failure that may be retried, or an abort. */
  | { readonly kind: "not-begun"; readonly reply: EngineReply };

interface Begun {
  held: Buffer[];
  heldBytes: number;
  firstTokenMs: number | null;
  /** The lines that were sent last, with those before them of the same event. */
  last: Buffer;
}

/**
 * Passes an engine's event stream to the client byte by byte, line by line. Everything before the first token is held back, so a request
 * whose engine fails until then can still be sent to another one; a line that an engine breaks off in is never sent.
 */
export async function relayStream({ call, response, headers, hidesUsage = false, limits }: Relay): Promise<RelayOutcome> {
  const scanner = new StreamScanner();
  const writer = new StreamWriter(response, { stallSeconds: limits.clientStallSeconds });
  const lines = new WholeLines();
  const begun: Begun = { held: [], heldBytes: 0, firstTokenMs: null, last: Buffer.alloc(0) };
  const onData = (chunk: Buffer, flow: Flow): void => {
    scanner.feed(chunk);
    if (scanner.overlong) {
      flow.abort(overlong);
      return;
    }
    if (begun.firstTokenMs !== null) {
      const fed = lines.feed(chunk);
      const whole = hidesUsage ? withoutUsage(fed) : fed;
      const passed = scanner.error === null ? whole : beforeError(whole);
      if (passed.length > 0) {
        begun.last = withOpenEvent(begun.last, passed);
        writer.write(passed, flow);
      }
      // What follows an error is no part of an answer, and a [DONE] would make it look like a whole one.
      if (scanner.error !== null) flow.abort(scanner.error);
      return;
    }
    begun.held.push(chunk);
    begun.heldBytes += chunk.length;
    if (begun.heldBytes > limits.answerBytes) flow.abort(tooLong(limits.answerBytes));
    else if (scanner.error !== null) flow.abort(scanner.error);
    else if (scanner.sawToken) {
      begun.firstTokenMs = performance.now();
      response.writeHead(200, { ...headers(), ...eventStreamHeaders });
      const held = lines.feed(Buffer.concat(begun.held));
      begun.last = hidesUsage ? withoutUsage(held) : held;
      writer.write(begun.last, flow);
      begun.held = [];
    }
  };
  const reply = await callEngine({ ...call, onData, silenceSeconds: limits.streamSilenceSeconds });
  const { firstTokenMs, held } = begun;
  if (firstTokenMs === null) {
    // A 200 without a token: the data received is the answer, unless the engine failed on the way.
    if (reply.kind === "answered" && held.length > 0) return { kind: "not-begun", reply: { ...reply, body: Buffer.concat(held) } };
    return { kind: "not-begun", reply };
  }
  if (reply.kind === "answered") {
    scanner.close();
    if (scanner.ended && scanner.error === null) {
      response.end(lines.rest);
      return { kind: "streamed", usage: scanner.usage, finishReasons: scanner.finishReasons, firstTokenMs };
    }
  }
  const { signal } = call;
  const failure = scanner.error ?? (reply.kind === "failed" ? reply.reason : "the stream ended without [DONE]");
  const reason = reply.kind === "aborted" ? abortKindOf(signal) : failure;
  const error = reply.kind === "aborted" ? errorBody(abortError(signal)) : (scanner.errorText ?? errorBody(engineFailed(reason)));
  // An event of which data has been sent is ended first, or the error would be a part of it.
  if (!response.destroyed) response.end(`${endsInData(begun.last) ? "\n" : ""}data: ${error}\n\n`);
  return { kind: "broken", reason, usage: scanner.usage, finishReasons: scanner.finishReasons, firstTokenMs };
}

function engineFailed(reason: string): ApiError {
  const message = `The engine failed while it was answering: ${reason}.`;
  return { status: 502, message, type: "server_error", code: "engine_failed" };
}
