/** One request as bytes, and when it is sent. */
export interface ClientRequest {
  /** Seconds since the first request of an open loop; not used by a closed loop. */
  readonly atSeconds: number;
  readonly body: string;
  /** Tokens that the answer will have; null where the model decides when it ends. */
  readonly outputTokens: number | null;
}

/** What the client process sends, read from a file. */
export interface ClientTask {
  readonly url: string;
  readonly path: string;
  readonly requests: readonly ClientRequest[];
  /** Requests before the measured ones, sent at once: they open connections. */
  readonly warmUp: number;
  /** Number of requests in flight as long as there are more; null: an open loop, each request at its own time. */
  readonly inFlight: number | null;
  /** No request is sent after so many seconds; answers are awaited for as long again. */
  readonly seconds: number;
  /** Whether answers are streams, of which times and token counts are kept; the texts of others are kept. */
  readonly streamed: boolean;
}

/** What became of a request. Seconds on the client's clock. */
export interface ClientAnswer {
  readonly index: number;
  /** Since the first request of the run. */
  readonly sentSeconds: number;
  /** Sending after the scheduled time: the client's own lag. */
  readonly lateSeconds: number;
  /** From sending to the first token of a stream; null for an answer that is none. */
  readonly firstSeconds: number | null;
  /** From sending to the end of the body. */
  readonly endSeconds: number;
  /** 0: the connection failed. */
  readonly status: number;
  /** As the answer counts them; null where it does not. */
  readonly outputTokens: number | null;
  readonly inputTokens: number | null;
  /** By a header of Weir's gateway; null elsewhere. */
  readonly answeredBy: string | null;
  /** The answer that is no stream; the failure of one that is. Left out otherwise. */
  readonly text?: string;
}

/** Answers of a run, and how many of its requests were not answered in time. */
export interface ClientRun {
  readonly answers: readonly ClientAnswer[];
  readonly unanswered: number;
}
