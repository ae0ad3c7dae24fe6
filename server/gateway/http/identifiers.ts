import type { IncomingHttpHeaders } from "node:http";
import { deprecatedHeaders } from "@/server/contracts/deprecatedNames";
import { workflowName } from "@/server/contracts/gateway/gatewayLearning";
import { agentHeader, parentsHeader, startedAtHeader } from "@/server/contracts/gateway/gatewayWorkflows";
import { saneNameOf } from "./clientNames";

/** What a client says a request belongs to. It is never an error: an invalid name counts as absent. */
export interface Identifiers {
  /** Its session, else the trace it is part of, else its own id. */
  readonly programId: string;
  /** Whether `programId` is a session's. */
  readonly inSession: boolean;
  /** What the client calls its workflow, and the stage of it, for which the agent stands where it names none; empty where it says nothing. */
  readonly workflow: string;
  readonly stage: string;
  /** Which agent asks, for which the stage stands; empty where it says nothing. */
  readonly agent: string;
  /** Agents whose answers it follows; one whose several answers it follows stands there as often. */
  readonly upstreamAgents: readonly string[];
  /** When its program began, Unix milliseconds; null where it does not say, or names a time that cannot be. */
  readonly startedAtMs: number | null;
}

const workflowHeader = "x-weir-workflow";
const stageHeader = "x-weir-stage";
const traceHeader = "traceparent";
/** Where clients in use write the session a request belongs to; the first that is there counts. */
const sessionHeaders = ["x-session-id", "x-conversation-id", "x-claude-code-session-id", "x-dynamo-session-id"] as const;
/** Names of one request; more are a mistake, and work for nothing. */
const mostUpstream = 64;
/** A day: a program that began before is one whose clock is wrong. */
const longestProgramMs = 86_400_000;
/** W3C Trace Context: of version 00 nothing follows the flags, of later ones something may, and 255 is none. */
const traceParent = /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;
const unixMilliseconds = /^\d{1,15}$/;
const none: readonly string[] = [];

/** Reads them from the headers of a request, which is its own program where it names none. */
export function identifiersOf(headers: IncomingHttpHeaders, decisionId: string): Identifiers {
  const session = sessionOf(headers);
  const agent = nameOf(headers[agentHeader]);
  const stage = nameOf(headers[stageHeader]);
  return {
    programId: session ?? traceOf(headers[traceHeader]) ?? decisionId,
    inSession: session !== undefined,
    workflow: nameOf(headers[workflowHeader]),
    stage: stage === "" ? agent : stage,
    agent: agent === "" ? stage : agent,
    upstreamAgents: namesOf(headerOf(headers, parentsHeader)),
    startedAtMs: startOf(headerOf(headers, startedAtHeader)),
  };
}

type Header = string | readonly string[] | undefined;

/** A header by its name, or by the name that it had before. */
const headerOf = (headers: IncomingHttpHeaders, name: string): Header => headers[name] ?? headers[deprecatedHeaders[name] ?? name];

function sessionOf(headers: IncomingHttpHeaders): string | undefined {
  for (const name of sessionHeaders) {
    const session = saneNameOf(headers[name]);
    if (session !== undefined) return session;
  }
  return undefined;
}

const traceOf = (value: Header): string | undefined => (typeof value === "string" ? traceParent.exec(value)?.[1] : undefined);

const nameOf = (value: Header): string => (typeof value === "string" && workflowName.test(value) ? value : "");

/** Node joins headers of one name by commas, so that a client may also send one header for each agent. */
function namesOf(value: Header): readonly string[] {
  if (typeof value !== "string") return none;
  return value
    .split(",", mostUpstream)
    .map((name) => nameOf(name.trim()))
    .filter((name) => name !== "");
}

function startOf(value: Header): number | null {
  if (typeof value !== "string" || !unixMilliseconds.test(value)) return null;
  const startedAtMs = Number(value);
  const agoMs = Date.now() - startedAtMs;
  return agoMs >= 0 && agoMs <= longestProgramMs ? startedAtMs : null;
}
