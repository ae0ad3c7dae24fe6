import type { EngineReply } from "./engineCall";
import { isRecord } from "./isRecord";
import type { RelayOutcome } from "./relayStream";

export type WholeReply = Extract<EngineReply, { kind: "answered" }>;

/** What came of one engine call. */
export type StageOutcome =
  | Extract<RelayOutcome, { kind: "streamed" | "broken" }>
  /** A whole answer of which the client has seen nothing; `completion` null where the engine streamed it. */
  | { readonly kind: "answered"; readonly reply: WholeReply; readonly completion: Readonly<Record<string, unknown>> | null }
  /** The engine refuses the request itself; another would as well. */
  | { readonly kind: "refused"; readonly reply: WholeReply }
  /** Nothing of use came and the client has seen nothing, so another engine may be asked. */
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "aborted" };

/** Reads an engine's reply. An engine that is broken or full, or that answers what is no completion, has failed. */
export function stageOutcome(outcome: RelayOutcome): StageOutcome {
  if (outcome.kind !== "not-begun") return outcome;
  const { reply } = outcome;
  if (reply.kind !== "answered") return reply;
  if (reply.status >= 500 || reply.status === 429) return { kind: "failed", reason: `the engine answered ${reply.status}` };
  if (reply.status !== 200) return { kind: "refused", reply };
  const completion = parsed(reply.body);
  if (isRecord(completion)) return { kind: "answered", reply, completion };
  const streamed = reply.contentType.startsWith("text/event-stream");
  if (streamed && reply.body.includes("data: [DONE]")) return { kind: "answered", reply, completion: null };
  return {
    kind: "failed",
    reason: streamed ? "the engine ended its stream before the first token" : "the engine's answer is no completion",
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}
