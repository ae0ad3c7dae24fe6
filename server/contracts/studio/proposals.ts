/** How one thing of live traffic stands against the traffic that the plan in force was made for. */
export interface TrafficGauge {
  /** "rate", "input tokens", "score of llama-3.1-8b": lengths and scores of a model are those of the requests that reach it. */
  readonly name: string;
  readonly kind: "rate" | "tokens" | "score";
  /** Model whose output tokens or scores these are; left out of all requests, and in proposals of earlier versions. */
  readonly model?: string;
  /** Means; rates are requests per engine second. */
  readonly planned: number;
  /** In the last window in which it was seen; null: not yet. */
  readonly now: number | null;
  /** Distance of the distributions over the distance that counts as drift; null: too little was seen. */
  readonly level: number | null;
  readonly drifted: boolean;
}

export interface TrafficReport {
  readonly planId: string;
  /** Engine seconds of a window of traffic. */
  readonly windowSeconds: number;
  /** The window judged last; null before the first. */
  readonly last: { readonly at: string; readonly requests: number; readonly seconds: number } | null;
  readonly gauges: readonly TrafficGauge[];
  /** Since when anything has drifted without a break. */
  readonly driftedSince: string | null;
  /** Why drift led to no proposal; null where it led to one, or there is none. */
  readonly says: string | null;
}

export type ProposalState = "open" | "dismissed" | "superseded" | "applied";

/** A new plan for traffic that has drifted. Nothing is applied by it. */
export interface Proposal {
  readonly id: string;
  readonly clusterId: string;
  readonly createdAt: string;
  readonly state: ProposalState;
  /** Who or what closed it, and when; null while it is open. */
  readonly closed: { readonly at: string; readonly by: string } | null;
  /** The plan in force that it would replace. */
  readonly runningPlanId: string;
  readonly planId: string;
  readonly driftedSince: string;
  readonly drifted: readonly TrafficGauge[];
  /** Why the change is worth it, in a sentence. */
  readonly reason: string;
  /** Positive is better; latency by the plan's objective, null where the running plan does not keep up with the traffic. */
  readonly gain: { readonly latencySeconds: number | null; readonly quality: number; readonly costUsdPerHour: number };
  readonly change: { readonly started: number; readonly stopped: number; readonly seconds: number };
  /** What the figures rest on: what was seen, and what is modelled. */
  readonly basis: readonly string[];
}
