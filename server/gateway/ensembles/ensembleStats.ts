import { isDeepStrictEqual } from "node:util";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { EnsembleCall, GatewayEnsembles, ServedEnsemble } from "@/server/contracts/gateway/gatewayEnsembles";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import type { GatewayLimits } from "../http/limits";
import type { MetricRegistry } from "../lib/metricRegistry";
import { Tally } from "../lib/tally";
import { EnsembleCount, type FinishedCall } from "./ensembleCount";
import { decidesAfterSeconds } from "./ensembleTime";

const keptCalls = 100;

interface Page {
  /** The ensemble as served when `inForce` began. */
  ensemble: Ensemble;
  inForce: EnsembleCount;
  /** Counts of the present ensemble, under any tau. */
  underAnyTau: EnsembleCount;
  readonly all: EnsembleCount;
  /** Newest first. */
  readonly latest: EnsembleCall[];
}

/** Whether two ensembles produce the same votes. */
const voteAlike = (a: Ensemble, b: Ensemble): boolean => isDeepStrictEqual({ ...a, tau: b.tau }, b);

/**
 * Counts of the configured ensembles since the gateway started, and of each in its present form. The counts of an ensemble that leaves the
 * configuration are dropped. Any change of an ensemble, its tau included, ends its counts: an ensemble that comes back starts from 0.
 */
export class EnsembleStats {
  readonly #pages = new Map<string, Page>();
  readonly #limits: Pick<GatewayLimits, "requestSeconds">;
  readonly #requests = new Tally(["ensemble", "outcome"]);
  readonly #experts = new Tally(["ensemble", "model", "state"]);

  constructor(limits: Pick<GatewayLimits, "requestSeconds">) {
    this.#limits = limits;
  }

  /** Exports its counts as metrics; names that no longer exist are removed there. */
  register(registry: MetricRegistry): void {
    const requests = "Requests of ensembles answered, by outcome.";
    registry.counter("weir_gateway_ensemble_requests_total", requests, ["ensemble", "outcome"], this.#requests);
    const experts =
      "Calls of experts, by outcome: voted, no-vote, late (no answer at the deadline), not-needed (not waited for) or failed.";
    registry.counter("weir_gateway_ensemble_experts_total", experts, ["ensemble", "model", "state"], this.#experts);
  }

  /** Drops ensembles that are no longer served and experts that left; restarts the counts of ensembles that changed. */
  follow(ensembles: readonly Ensemble[]): void {
    const names = new Set(ensembles.map(({ name }) => name));
    for (const name of this.#pages.keys()) if (!names.has(name)) this.#pages.delete(name);
    for (const ensemble of ensembles) {
      const page = this.#pages.get(ensemble.name);
      if (page === undefined) this.#pages.set(ensemble.name, newPage(ensemble));
      else if (!isDeepStrictEqual(page.ensemble, ensemble)) {
        page.all.keep(ensemble.experts);
        page.inForce = new EnsembleCount();
        if (!voteAlike(page.ensemble, ensemble)) page.underAnyTau = new EnsembleCount();
        page.ensemble = ensemble;
      }
    }
  }

  /**
   * Counts a request of an ensemble that is still served.
   *
   * @param asked the ensemble at the request's arrival; its tau is the call's.
   */
  finished(asked: Ensemble, finished: FinishedCall): void {
    const { name } = asked;
    const page = this.#pages.get(name);
    if (page === undefined) return;
    const { call } = finished;
    const { ensemble, all, underAnyTau, inForce, latest } = page;
    all.add(finished, ensemble.experts);
    // What an ensemble decided before a change says nothing about its present form.
    if (voteAlike(asked, ensemble)) {
      underAnyTau.add(finished, ensemble.experts);
      if (call.tau === ensemble.tau) inForce.add(finished, ensemble.experts);
    }
    this.#requests.inc({ ensemble: name, outcome: call.outcome });
    for (const { model, state } of call.experts) this.#experts.inc({ ensemble: name, model, state });
    latest.unshift(call);
    if (latest.length > keptCalls) latest.pop();
  }

  /** The ensembles of a configuration with their counts. */
  view(config: GatewayConfig | null): GatewayEnsembles {
    const served = new Set(config?.replicas.map(({ model }) => model));
    const view = (ensemble: Ensemble): ServedEnsemble => {
      const { all, underAnyTau, inForce, latest } = this.#pages.get(ensemble.name) ?? newPage(ensemble);
      return {
        ...all.view(ensemble.experts),
        votes: underAnyTau.view(ensemble.experts).votes,
        decidesAfterSeconds: decidesAfterSeconds(ensemble, this.#limits, config?.timeScale ?? 1),
        inForce: inForce.view(ensemble.experts),
        ...{ ensemble, latest },
        missing: [...new Set([...ensemble.experts, ensemble.aggregator.model])].filter((model) => !served.has(model)),
      };
    };
    return { ensembles: (config?.settings?.ensembles ?? []).map(view) };
  }
}

const newPage = (ensemble: Ensemble): Page => ({
  ensemble,
  ...{ inForce: new EnsembleCount(), underAnyTau: new EnsembleCount(), all: new EnsembleCount() },
  latest: [],
});
