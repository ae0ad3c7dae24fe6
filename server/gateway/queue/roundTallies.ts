import type { Action, ReplicaView } from "@/solver/policies/core/policy";
import type { MetricRegistry } from "../lib/metricRegistry";
import { Tally } from "../lib/tally";

/** Wall seconds of a decision. */
const decisionBuckets = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05];

/** Times decisions of policies, and counts those of policies that choose models at dispatch, since the gateway was started. */
export class RoundTallies {
  readonly #rounds = new Tally([]);
  readonly #requests = new Tally(["model"]);
  readonly #refused = new Tally([]);
  #observe: (seconds: number) => void = () => undefined;

  /** A decision on all waiting work was made and carried out. @param seconds of the wall that both took. */
  decided(seconds: number): void {
    this.#observe(seconds);
  }

  /** A decision that dispatched or refused something. */
  round(actions: readonly Action[], replicas: readonly ReplicaView[]): void {
    let given = 0;
    for (const action of actions) {
      if (action.kind === "refuse") this.#refused.inc({});
      if (action.kind !== "dispatch") continue;
      const model = replicas.find(({ id }) => id === action.replicaId)?.model;
      if (model !== undefined) this.#requests.inc({ model });
      given += 1;
    }
    if (given > 0) this.#rounds.inc({});
  }

  register(registry: MetricRegistry): void {
    const seconds = "Time of one decision on all waiting work of a policy, with carrying it out, in wall seconds.";
    const histogram = registry.histogram("weir_gateway_decision_seconds", seconds, { labels: [], buckets: decisionBuckets });
    this.#observe = (value) => histogram.observe({}, value);
    const rounds = "Decisions of a just-in-time policy that gave waiting requests a model.";
    registry.counter("weir_gateway_rounds_total", rounds, [], this.#rounds);
    const requests = "Requests that a just-in-time policy gave a model, by model; a request whose engine failed counts again.";
    registry.counter("weir_gateway_round_requests_total", requests, ["model"], this.#requests);
    const refused = "Requests refused because every configuration of their workflow needs a model that is down.";
    registry.counter("weir_gateway_round_refusals_total", refused, [], this.#refused);
  }
}
