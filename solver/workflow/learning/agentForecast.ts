/** What calls of an agent have taught so far; of an agent that was hardly met, what all agents taught. */
export interface AgentForecast {
  /** Application and agent, as `application/agent`. */
  readonly agent: string;
  /**
   * How far the agent's remaining latencies are from none at all, on the line on which all agents stand (Kairos, section 5.1): the smaller, the
   * sooner its programs end.
   */
  readonly distanceSeconds: number;
  /** Calls one after another that its program has yet to make, this one included: the mean over earlier programs. */
  readonly remainingCalls: number;
  /** Commonest time from dispatch to the answer, of the agent's requests at the model. */
  readonly requestSeconds: number;
  /** Tokens that a request's KV cache grows by in a second at the model. */
  readonly tokensPerSecond: number;
}
