import type { Action, ReplicaView } from "@/solver/policies/policy";
import type { MetricRegistry } from "./metricRegistry";
import { Tally } from "./tally";

/** Counts what policies that choose models at dispatch decided since the gateway was started. */
export class RoundTallies {
  readonly #rounds = new Tally([]);
  readonly #requests = new Tally(["model"]);
  readonly #refused = new Tally([]);

  /** A decision that gave or refused something. */
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
    const rounds = "Decisions that gave requests the models they wait for, where those are chosen when engines have room.";
    registry.counter("weir_gateway_rounds_total", rounds, [], this.#rounds);
    const requests = "Requests that those gave a model, by model; one that an engine failed counts again.";
    registry.counter("weir_gateway_round_requests_total", requests, ["model"], this.#requests);
    const refused = "Requests refused because no configuration of their workflow was left that needs no model that is down.";
    registry.counter("weir_gateway_round_refusals_total", refused, [], this.#refused);
  }
}
