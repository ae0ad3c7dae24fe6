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
