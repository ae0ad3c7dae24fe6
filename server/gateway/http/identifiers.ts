import type { IncomingHttpHeaders } from "node:http";
import { deprecatedHeaders } from "@/server/contracts/deprecatedNames";
import { workflowName } from "@/server/contracts/gateway/gatewayLearning";
import { agentHeader, parentsHeader, startedAtHeader } from "@/server/contracts/gateway/gatewayWorkflows";
import { saneNameOf } from "./clientNames";

/** What a client states about the origin of a request. It is never an error: an invalid name counts as absent. */
export interface Identifiers {
  /** Its session, or else its trace, or else its own id. */
  readonly programId: string;
  /** Whether `programId` is a session's. */
  readonly inSession: boolean;
  /** The client's names of its workflow and of the stage in it; empty if absent. Without a stage name the agent's name is the stage. */
  readonly workflow: string;
  readonly stage: string;
  /** The agent that sends the request; if it names none, the stage; empty if it names neither. */
  readonly agent: string;
  /** Agents whose answers the request follows; an agent appears once for each of its answers. */
  readonly upstreamAgents: readonly string[];
  /** When its program began, in Unix milliseconds; null if the client does not say, or gives an impossible time. */
  readonly startedAtMs: number | null;
}

const workflowHeader = "x-weir-workflow";
const stageHeader = "x-weir-stage";
const traceHeader = "traceparent";
/** Headers in which common clients send the session of a request; the first one present counts. */
const sessionHeaders = ["x-session-id", "x-conversation-id", "x-claude-code-session-id", "x-dynamo-session-id"] as const;
/** Most names of one request; more are a mistake, and would waste work. */
const mostUpstream = 64;
/** A day: an earlier start of a program means that its clock is wrong. */
const longestProgramMs = 86_400_000;
/** W3C Trace Context: version 00 allows nothing after the flags, later versions may; version 255 is invalid. */
const traceParent = /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;
const unixMilliseconds = /^\d{1,15}$/;
const none: readonly string[] = [];

/** Reads the identifiers from the headers of a request; a request that names no program is its own program. */
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

/** A header by its name, or by its former name. */
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

/** Node joins headers of one name by commas, so a client may also send one header for each agent. */
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
