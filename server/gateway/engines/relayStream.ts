import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { abortError, abortKindOf } from "../http/abortError";
import { type ApiError, errorBody } from "../http/apiError";
import type { GatewayLimits } from "../http/limits";
import type { Usage } from "../http/usage";
import { callEngine, type EngineCall, type EngineReply, type Flow, tooLong } from "./engineCall";
import { overlong, StreamScanner } from "./streamScanner";
import { StreamWriter } from "./streamWriter";
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
  readonly limits: Pick<GatewayLimits, "streamSilenceSeconds" | "clientStallSeconds" | "answerBytes">;
}

export type RelayOutcome =
  | { readonly kind: "streamed"; readonly usage: Usage; readonly firstTokenMs: number }
  /** The engine failed or the request was aborted after the first token: the client got an error event, the engine's or the gateway's, and the stream ended. */
  | { readonly kind: "broken"; readonly reason: string; readonly usage: Usage; readonly firstTokenMs: number }
  /** Nothing was sent to the client: a whole answer, a failure that may be retried, or an abort. */
  | { readonly kind: "not-begun"; readonly reply: EngineReply };

/**
 * Passes an engine's event stream to the client byte by byte, line by line. Everything before the first token is held back, so a request
 * whose engine fails until then can still be sent to another one; a line that an engine breaks off in is never sent.
 */
export async function relayStream({ call, response, headers, limits }: Relay): Promise<RelayOutcome> {
  const scanner = new StreamScanner();
  const writer = new StreamWriter(response, { stallSeconds: limits.clientStallSeconds });
  const lines = new WholeLines();
  const begun: { held: Buffer[]; heldBytes: number; firstTokenMs: number | null } = { held: [], heldBytes: 0, firstTokenMs: null };
  const onData = (chunk: Buffer, flow: Flow): void => {
    scanner.feed(chunk);
    if (scanner.overlong) {
      flow.abort(overlong);
      return;
    }
    if (begun.firstTokenMs !== null) {
      const whole = lines.feed(chunk);
      if (whole.length > 0) writer.write(whole, flow);
      return;
    }
    begun.held.push(chunk);
    begun.heldBytes += chunk.length;
    if (begun.heldBytes > limits.answerBytes) flow.abort(tooLong(limits.answerBytes));
    else if (scanner.error !== null) flow.abort(scanner.error);
    else if (scanner.sawToken) {
      begun.firstTokenMs = performance.now();
      response.writeHead(200, { ...headers(), ...eventStreamHeaders });
      writer.write(lines.feed(Buffer.concat(begun.held)), flow);
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
  if (scanner.error !== null) {
    response.end();
    return { kind: "broken", reason: scanner.error, usage: scanner.usage, firstTokenMs };
  }
  if (reply.kind === "answered") {
    scanner.close();
    if (scanner.ended) {
      response.end(lines.rest);
      return { kind: "streamed", usage: scanner.usage, firstTokenMs };
    }
  }
  const { signal } = call;
  const failure = reply.kind === "failed" ? reply.reason : (scanner.error ?? "the stream ended without [DONE]");
  const reason = reply.kind === "aborted" ? abortKindOf(signal) : failure;
  const error = reply.kind === "aborted" ? abortError(signal) : engineFailed(reason);
  // An event whose last line has arrived is ended first, or the error would be a part of it.
  if (!response.destroyed) response.end(`\ndata: ${errorBody(error)}\n\n`);
  return { kind: "broken", reason, usage: scanner.usage, firstTokenMs };
}

function engineFailed(reason: string): ApiError {
  const message = `The engine failed while it was answering: ${reason}.`;
  return { status: 502, message, type: "server_error", code: "engine_failed" };
}
