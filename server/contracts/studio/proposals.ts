/** One quantity of live traffic compared with the traffic that the plan in force was made for. */
export interface TrafficGauge {
  /** "rate", "input tokens", "score of llama-3.1-8b": lengths and scores of a model cover the requests that reach it. */
  readonly name: string;
  readonly kind: "rate" | "tokens" | "score";
  /** Model of these output tokens or scores; absent for quantities of all requests, and in proposals of earlier versions. */
  readonly model?: string;
  /** Means; rates are requests per engine second. */
  readonly planned: number;
  /** In the last window with observations; null: not yet. */
  readonly now: number | null;
  /** Distance of the distributions, relative to the distance that counts as drift; null: too few observations. */
  readonly level: number | null;
  readonly drifted: boolean;
}

export interface TrafficReport {
  readonly planId: string;
  /** Engine seconds of a window of traffic. */
  readonly windowSeconds: number;
  /** The last window that was judged; null before the first. */
  readonly last: { readonly at: string; readonly requests: number; readonly seconds: number } | null;
  readonly gauges: readonly TrafficGauge[];
  /** Start of the present uninterrupted drift of any quantity. */
  readonly driftedSince: string | null;
  /** Why drift led to no proposal; null if it led to one, or there is none. */
  readonly says: string | null;
}

export type ProposalState = "open" | "dismissed" | "superseded" | "applied";

/** A new plan for traffic that has drifted. It applies nothing. */
export interface Proposal {
  readonly id: string;
  readonly clusterId: string;
  readonly createdAt: string;
  readonly state: ProposalState;
  /** What closed it, and when; null while it is open. */
  readonly closed: { readonly at: string; readonly by: string } | null;
  /** The plan in force that it would replace. */
  readonly runningPlanId: string;
  readonly planId: string;
  readonly driftedSince: string;
  readonly drifted: readonly TrafficGauge[];
  /** The benefit of the change, in a sentence. */
  readonly reason: string;
  /** Positive is better; latency by the plan's objective, null if the running plan cannot sustain the traffic. */
  readonly gain: { readonly latencySeconds: number | null; readonly quality: number; readonly costUsdPerHour: number };
  readonly change: { readonly started: number; readonly stopped: number; readonly seconds: number };
  /** The basis of the figures: what was observed, and what is modelled. */
  readonly basis: readonly string[];
}
