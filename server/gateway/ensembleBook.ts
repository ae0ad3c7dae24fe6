import type { GatewayConfig } from "@/server/contracts/gatewayAdmin";
import type { EnsembleCall, EnsembleOutcome, GatewayEnsembles, ServedEnsemble } from "@/server/contracts/gatewayEnsembles";
import type { Ensemble } from "@/solver/ensemble/ensembleDocument";
import type { MetricRegistry } from "./metricRegistry";
import { Tally } from "./tally";

const keptCalls = 100;

type ExpertCounts = ReturnType<typeof noExpertCounts>;

/** A request of an ensemble that is answered, with what its view counts beside what is told of it. */
export interface FinishedCall {
  readonly call: EnsembleCall;
  readonly atDeadline: boolean;
  readonly belowQuorum: boolean;
  /** Experts that gave the vote that leads. */
  readonly majority: ReadonlySet<string>;
}

interface Counts {
  readonly outcomes: Record<EnsembleOutcome, number>;
  atDeadline: number;
  belowQuorum: number;
  readonly votes: Map<string, { requests: number; skipped: number }>;
  readonly experts: Map<string, ExpertCounts>;
  /** Newest first. */
  readonly latest: EnsembleCall[];
}

/** What was counted of the ensembles in the configuration since the gateway started; of one that leaves it, it is forgotten. */
export class EnsembleBook {
  readonly #counts = new Map<string, Counts>();
  readonly #requests = new Tally(["ensemble", "outcome"]);
  readonly #experts = new Tally(["ensemble", "model", "state"]);

  /** Shows its counts among the metrics; names that are gone are taken out there. */
  register(registry: MetricRegistry): void {
    const requests = "Requests of ensembles answered, by outcome.";
    registry.counter("weir_gateway_ensemble_requests_total", requests, ["ensemble", "outcome"], this.#requests);
    const experts = "Experts asked: voted, no-vote, late (not answered when the gate decided) or failed.";
    registry.counter("weir_gateway_ensemble_experts_total", experts, ["ensemble", "model", "state"], this.#experts);
  }

  /** Forgets ensembles that are served no more, and experts that have left. */
  follow(ensembles: readonly Ensemble[]): void {
    const served = new Map(ensembles.map((ensemble) => [ensemble.name, ensemble]));
    for (const [name, { experts }] of this.#counts) {
      const ensemble = served.get(name);
      if (ensemble === undefined) this.#counts.delete(name);
      else for (const model of experts.keys()) if (!ensemble.experts.includes(model)) experts.delete(model);
    }
  }

  /** Counts a request of an ensemble that is served still. */
  finished({ name, experts }: Ensemble, { call, atDeadline, belowQuorum, majority }: FinishedCall): void {
    const counts = this.#counts.get(name) ?? noCounts();
    this.#counts.set(name, counts);
    counts.outcomes[call.outcome] += 1;
    counts.atDeadline += atDeadline ? 1 : 0;
    counts.belowQuorum += belowQuorum ? 1 : 0;
    const votes = counts.votes.get(call.votes) ?? { requests: 0, skipped: 0 };
    votes.requests += 1;
    votes.skipped += call.outcome === "skipped" ? 1 : 0;
    counts.votes.set(call.votes, votes);
    this.#requests.inc({ ensemble: name, outcome: call.outcome });
    for (const { model, state } of call.experts) {
      this.#experts.inc({ ensemble: name, model, state });
      if (!experts.includes(model)) continue;
      const expert = counts.experts.get(model) ?? noExpertCounts();
      expert.asked += 1;
      expert[state === "no-vote" ? "noVote" : state] += 1;
      expert.inMajority += majority.has(model) ? 1 : 0;
      counts.experts.set(model, expert);
    }
    counts.latest.unshift(call);
    if (counts.latest.length > keptCalls) counts.latest.pop();
  }

  /** The ensembles of a configuration with what was counted of them. */
  view(config: GatewayConfig | null): GatewayEnsembles {
    const served = new Set(config?.replicas.map(({ model }) => model));
    const view = (ensemble: Ensemble): ServedEnsemble => {
      const { outcomes, votes, experts, latest, ...counts } = this.#counts.get(ensemble.name) ?? noCounts();
      return {
        ...{ ensemble, ...counts, outcomes, latest },
        missing: [...new Set([...ensemble.experts, ensemble.aggregator.model])].filter((model) => !served.has(model)),
        requests: Object.values(outcomes).reduce((sum, count) => sum + count, 0),
        votes: Object.fromEntries(votes),
        experts: ensemble.experts.map((model) => ({ model, ...(experts.get(model) ?? noExpertCounts()) })),
      };
    };
    return { ensembles: (config?.settings?.ensembles ?? []).map(view) };
  }
}

const noCounts = (): Counts => ({
  ...{ outcomes: { skipped: 0, aggregated: 0, "aggregator-failed": 0, failed: 0 }, atDeadline: 0, belowQuorum: 0 },
  ...{ votes: new Map(), experts: new Map(), latest: [] },
});

const noExpertCounts = () => ({ asked: 0, voted: 0, noVote: 0, late: 0, failed: 0, inMajority: 0 });
