/** One call of an agent as whoever serves it sees it, once it has ended. All times are seconds of one clock. */
export interface ObservedCall {
  readonly id: string;
  /** The run of an application that it belongs to: Kairos' message. */
  readonly programId: string;
  /** What the client calls the application; empty where it does not say: then it is known by the agent that calls first. */
  readonly application: string;
  /** Empty where the client names none. */
  readonly agent: string;
  /** Agents of the same program whose answers it follows; empty where the client names none. */
  readonly upstream: readonly string[];
  readonly model: string;
  /** When it came. Calls that were sent side by side come together, whenever they are served. */
  readonly arrivedSeconds: number;
  /** When it was sent to an engine; of several tries the last. */
  readonly dispatchedSeconds: number;
  readonly finishedSeconds: number;
  readonly inputTokens: number;
  /** Null where nobody counted them. */
  readonly outputTokens: number | null;
  /** Without an answer: it stands in the graph, and its times teach nothing. */
  readonly failed: boolean;
}

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
