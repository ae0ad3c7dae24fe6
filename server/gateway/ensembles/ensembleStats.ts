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
  /** As it was served when `inForce` began. */
  ensemble: Ensemble;
  inForce: EnsembleCount;
  /** Of the ensemble as it is, under whichever tau. */
  underAnyTau: EnsembleCount;
  readonly all: EnsembleCount;
  /** Newest first. */
  readonly latest: EnsembleCall[];
}

/** Whether two ensembles come to the same votes. */
const voteAlike = (a: Ensemble, b: Ensemble): boolean => isDeepStrictEqual({ ...a, tau: b.tau }, b);

/**
 * What was counted of the ensembles in the configuration since the gateway started, and of each as it is served now; of one that leaves the configuration, it
 * is dropped. Any change of an ensemble, its tau included, ends its counts: an ensemble that comes back starts from 0.
 */
export class EnsembleStats {
  readonly #pages = new Map<string, Page>();
  readonly #limits: Pick<GatewayLimits, "requestSeconds">;
  readonly #requests = new Tally(["ensemble", "outcome"]);
  readonly #experts = new Tally(["ensemble", "model", "state"]);

  constructor(limits: Pick<GatewayLimits, "requestSeconds">) {
    this.#limits = limits;
  }

  /** Shows its counts among the metrics; names that are gone are taken out there. */
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
   * Counts a request of an ensemble that is served still.
   *
   * @param asked the ensemble as it was when the request came; its tau is the call's.
   */
  finished(asked: Ensemble, finished: FinishedCall): void {
    const { name } = asked;
    const page = this.#pages.get(name);
    if (page === undefined) return;
    const { call } = finished;
    const { ensemble, all, underAnyTau, inForce, latest } = page;
    all.add(finished, ensemble.experts);
    // What an ensemble decided before it changed says nothing of it as it is now.
    if (voteAlike(asked, ensemble)) {
      underAnyTau.add(finished, ensemble.experts);
      if (call.tau === ensemble.tau) inForce.add(finished, ensemble.experts);
    }
    this.#requests.inc({ ensemble: name, outcome: call.outcome });
    for (const { model, state } of call.experts) this.#experts.inc({ ensemble: name, model, state });
    latest.unshift(call);
    if (latest.length > keptCalls) latest.pop();
  }

  /** The ensembles of a configuration with what was counted of them. */
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
