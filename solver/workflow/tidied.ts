import { UNNAMED } from "./learntAgent";
import type { ObservedCall } from "./observedCall";

/** Upstream names of a call that are looked at. */
const MOST_UPSTREAM = 64;

/** The application of a program whose first call says so; slashes would make keys of agents ambiguous. */
export function applicationOf(application: string, firstAgent: string): string {
  const name = application || firstAgent || UNNAMED;
  return name.includes("/") ? name.replaceAll("/", "-") : name;
}

/** With times in order, and a name for its agent; null where a time is no number. */
export function tidied(call: ObservedCall): ObservedCall | null {
  const dispatchedSeconds = Math.max(call.arrivedSeconds, call.dispatchedSeconds);
  const finishedSeconds = Math.max(dispatchedSeconds, call.finishedSeconds);
  if (!Number.isFinite(finishedSeconds)) return null;
  const counted = call.outputTokens !== null && Number.isFinite(call.outputTokens) && call.outputTokens >= 0;
  return {
    ...call,
    agent: call.agent || UNNAMED,
    upstream: call.upstream.length > MOST_UPSTREAM ? call.upstream.slice(0, MOST_UPSTREAM) : call.upstream,
    dispatchedSeconds,
    finishedSeconds,
    outputTokens: counted ? call.outputTokens : null,
  };
}
