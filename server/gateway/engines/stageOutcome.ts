import type { FailureKind } from "@/server/contracts/gateway/gatewayAdmin";
import { eventsOf, isDone } from "@/server/lib/eventStream";
import { isRecord } from "@/solver/collections/isRecord";
import type { ApiError } from "../http/apiError";
import type { Endpoint } from "../http/endpoint";
import { type EngineReply, isBrokenOrFull } from "./engineCall";
import { wrappedError } from "./engineError";
import type { RelayOutcome } from "./relayStream";

export type WholeReply = Extract<EngineReply, { kind: "answered" }>;

/** Outcome of one engine call. */
export type StageOutcome =
  | Extract<RelayOutcome, { kind: "streamed" | "broken" }>
  /** A whole answer of which the client has seen nothing; `completion` null where the engine streamed it. */
  | { readonly kind: "answered"; readonly reply: WholeReply; readonly completion: Readonly<Record<string, unknown>> | null }
  /** The engine refuses the request; another would as well, unless it may be set up otherwise (`elsewhere`). */
  | { readonly kind: "refused"; readonly reply: WholeReply; readonly elsewhere: boolean }
  /** No usable answer, and the client has received nothing, so another engine may be asked. */
  | FailedOutcome
  | { readonly kind: "aborted" };

export interface FailedOutcome {
  readonly kind: "failed";
  readonly failure: FailureKind;
  readonly reason: string;
  /** A refusal that is passed on if no stage is left, only one of another stage. */
  readonly reply?: WholeReply;
  /** Nothing of the request reached the engine. */
  readonly isUnsent?: boolean;
  /** The answer of an engine that takes no request now (429, 503 or 529). It is passed on if no other engine can be asked. */
  readonly busy?: WholeReply;
}

/** The statuses of an engine that takes no request now. */
const busyStatuses: readonly number[] = [429, 503, 529];

/** A wrong key, or an unknown model or path, as an engine that is still being set up answers. */
const ofThisEngine: readonly number[] = [401, 403, 404];

/** Reads an engine's reply. An engine that is broken or full, or whose answer is not a completion, has failed. */
export function stageOutcome(outcome: RelayOutcome, { answersIn }: Pick<Endpoint, "answersIn">): StageOutcome {
  if (outcome.kind !== "not-begun") return outcome;
  const { reply } = outcome;
  if (reply.kind !== "answered") return reply;
  const { status } = reply;
  if (isBrokenOrFull(status))
    return {
      kind: "failed",
      failure: status === 429 ? "status-429" : "status-5xx",
      reason: refusalOf({ reply }),
      ...(busyStatuses.includes(status) && { busy: reply }),
    };
  if (status !== 200) return { kind: "refused", reply, elsewhere: status < 400 || ofThisEngine.includes(status) };
  const completion = parsed(reply.body);
  if (isRecord(completion) && Array.isArray(completion[answersIn])) return { kind: "answered", reply, completion };
  const streamed = reply.contentType.startsWith("text/event-stream");
  if (streamed && eventsOf(reply.body.toString("utf8")).some(isDone)) return { kind: "answered", reply, completion: null };
  return {
    kind: "failed",
    failure: "no-answer",
    reason: streamed ? "the engine ended its stream before the first token" : "the engine's answer is not a completion",
  };
}

/** What an engine answered without a completion. */
export function refusalOf({ reply }: { readonly reply: WholeReply }): string {
  return `the engine answered ${reply.status}`;
}

/** Whether an engine answered that a key is missing or wrong. */
export function refusesKey({ reply: { status } }: { readonly reply: WholeReply }): boolean {
  return status === 401 || status === 403;
}

/**
 * The body of an engine's error as clients read it. Text that is not JSON is unchanged, since clients take it for the message.
 * @returns null if it says nothing: the body is empty, or an object without fields.
 */
export function engineErrorBody({ status, contentType, body }: WholeReply): Pick<WholeReply, "contentType" | "body"> | null {
  const text = body.toString("utf8").trim();
  if (text === "" || text === "{}") return null;
  const document = parsed(body);
  if (document === null || (isRecord(document) && isRecord(document.error))) return { contentType, body };
  return { contentType: "application/json", body: Buffer.from(JSON.stringify(wrappedError(document, typeOf(status)))) };
}

/** The type of an error by its status, as OpenAI names it. */
export function typeOf(status: number): ApiError["type"] {
  if (status === 429) return "rate_limit_error";
  if (status >= 500) return "server_error";
  if (status === 404) return "not_found_error";
  return "invalid_request_error";
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}
