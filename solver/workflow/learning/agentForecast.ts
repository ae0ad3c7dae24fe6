/**
 * The forecast from an agent's calls so far. What has not converged orders nothing: the distance is that of the agent, else of all agents,
 * else 0. A request's duration is its agent's once that has converged, until then that of all agents as far as it is known.
 */
export interface AgentForecast {
  /** Application and agent, as `application/agent`. */
  readonly agent: string;
  /**
   * Distance of the agent's remaining latencies from zero, on the line of all agents (Kairos, section 5.1): the smaller, the
   * sooner its programs end.
   */
  readonly distanceSeconds: number;
  /** Sequential calls that its program has yet to make, including this one: the mean over earlier programs. */
  readonly remainingCalls: number;
  /** Mode of the time from dispatch to the answer, of the agent's requests at the model. */
  readonly requestSeconds: number;
  /** Growth of a request's KV cache in tokens a second at the model. */
  readonly tokensPerSecond: number;
}
