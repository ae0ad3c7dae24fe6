import type { ObservedCall } from "./observedCall";

/** No clock of anybody's is beyond it; sums of times below stay numbers. */
const LATEST_SECONDS = 1e12;
/** Upstream names of a call that are looked at. */
const MOST_UPSTREAM = 64;

/** The application of a program whose first call says so; slashes would make keys of agents ambiguous. */
export function applicationOf(application: string, firstAgent: string): string {
  const name = application || firstAgent || "unnamed";
  return name.includes("/") ? name.replaceAll("/", "-") : name;
}

/** With times in order; null where a time is no number, or absurd. */
export function tidied(call: ObservedCall): ObservedCall | null {
  const dispatchedSeconds = Math.max(call.arrivedSeconds, call.dispatchedSeconds);
  const finishedSeconds = Math.max(dispatchedSeconds, call.finishedSeconds);
  if (!(finishedSeconds < LATEST_SECONDS && call.arrivedSeconds > -LATEST_SECONDS)) return null;
  const counted = call.outputTokens !== null && Number.isSafeInteger(call.outputTokens) && call.outputTokens >= 0;
  return {
    ...call,
    upstream: call.upstream.length > MOST_UPSTREAM ? call.upstream.slice(0, MOST_UPSTREAM) : call.upstream,
    dispatchedSeconds,
    finishedSeconds,
    outputTokens: counted ? call.outputTokens : null,
  };
}
