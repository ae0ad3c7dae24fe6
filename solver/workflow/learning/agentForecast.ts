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

/** Maximum number of forecasts of a model between two publications: in practice there are fewer agents. */
const MOST_FORECASTS = 65_536;

/**
 * The forecasts in force: those of the latest publication. Learning goes on in between, but all calls of one agent have the same forecast
 * at a time, however long they wait, so that their order is that of their programs. Kairos updates its priorities in the background likewise
 * (section 7.7).
 */
export class PublishedForecasts {
  /** Increases with each publication: waiting calls then need their forecasts anew. */
  revision = 0;
  /** By model, then by agent; null: none was there. Nested, as a thousand waiting calls ask at once after a publication. */
  private readonly known = new Map<string, Map<string, AgentForecast | null>>();

  /** @param read the current forecast of what is learnt. */
  constructor(private readonly read: (agentKey: string, model: string) => AgentForecast | undefined) {}

  /** From now on forecasts are as learnt by now. */
  publish(): void {
    this.known.clear();
    this.revision += 1;
  }

  /** The forecast of an agent at a model: the same object until the next publication; undefined where nothing was learnt before it. */
  of(agentKey: string, model: string): AgentForecast | undefined {
    let ofModel = this.known.get(model);
    if (ofModel === undefined) {
      ofModel = new Map();
      this.known.set(model, ofModel);
    }
    const known = ofModel.get(agentKey);
    if (known !== undefined) return known ?? undefined;
    const forecast = this.read(agentKey, model);
    if (ofModel.size >= MOST_FORECASTS) ofModel.clear();
    ofModel.set(agentKey, forecast ?? null);
    return forecast;
  }
}
