/** One call of an agent as its server sees it, once it has ended. All times are seconds of one clock. */
export interface ObservedCall {
  readonly id: string;
  /** The run of an application that it belongs to: a message in Kairos. */
  readonly programId: string;
  /** The client's name of the application; empty where it gives none: then the agent that calls first identifies it. */
  readonly application: string;
  /** Empty where the client names none. */
  readonly agent: string;
  /** Agents of the same program whose answers it follows; empty where the client names none. */
  readonly upstream: readonly string[];
  readonly model: string;
  /** Its arrival. Calls that were sent in parallel arrive together, whenever they are served. */
  readonly arrivedSeconds: number;
  /** When it was sent to an engine; with several tries the last. */
  readonly dispatchedSeconds: number;
  readonly finishedSeconds: number;
  readonly inputTokens: number;
  /** Null where the count is unknown. */
  readonly outputTokens: number | null;
  /** Without an answer: it is in the graph, and its times are not used. */
  readonly failed: boolean;
}

/** Above any real clock, and small enough that sums of times below it stay numbers. */
const LATEST_SECONDS = 1e12;
/** Maximum number of upstream names of a call that are read. */
const MOST_UPSTREAM = 64;

/** The application of a program whose first call names it; slashes would make keys of agents ambiguous. */
export function applicationOf(application: string, firstAgent: string): string {
  const name = application || firstAgent || "unnamed";
  return name.includes("/") ? name.replaceAll("/", "-") : name;
}

/** With times in order; null where a time is not a number, or out of range. */
export function tidied(call: ObservedCall): ObservedCall | null {
  const dispatchedSeconds = Math.max(call.arrivedSeconds, call.dispatchedSeconds);
  const finishedSeconds = Math.max(dispatchedSeconds, call.finishedSeconds);
  if (!(finishedSeconds < LATEST_SECONDS && call.arrivedSeconds > -LATEST_SECONDS)) return null;
  const counted = call.outputTokens !== null && Number.isSafeInteger(call.outputTokens) && call.outputTokens >= 0;
  const isInOrder = dispatchedSeconds === call.dispatchedSeconds && finishedSeconds === call.finishedSeconds;
  if (isInOrder && (counted || call.outputTokens === null) && call.upstream.length <= MOST_UPSTREAM) return call;
  return {
    ...call,
    upstream: call.upstream.length > MOST_UPSTREAM ? call.upstream.slice(0, MOST_UPSTREAM) : call.upstream,
    dispatchedSeconds,
    finishedSeconds,
    outputTokens: counted ? call.outputTokens : null,
  };
}
