import type { EnsembleCall, EnsembleCounts, EnsembleOutcome } from "@/server/contracts/gateway/gatewayEnsembles";

type ExpertCounts = ReturnType<typeof noExpertCounts>;

/** An answered request of an ensemble, with the numbers that the view counts. */
export interface FinishedCall {
  readonly call: EnsembleCall;
  readonly atDeadline: boolean;
  readonly belowQuorum: boolean;
  /** Not every expert was waited for. */
  readonly early: boolean;
  /** Experts that gave the leading vote. */
  readonly majority: ReadonlySet<string>;
}

/** Counts the requests of one ensemble from its creation. The memory is bounded: votes of sixteen experts fall in some hundred ways. */
export class EnsembleCount {
  readonly #sinceMs = Date.now();
  readonly #outcomes: Record<EnsembleOutcome, number> = { skipped: 0, aggregated: 0, "aggregator-failed": 0, failed: 0 };
  #atDeadline = 0;
  #belowQuorum = 0;
  readonly #votes = new Map<string, EnsembleCounts["votes"][string]>();
  readonly #experts = new Map<string, ExpertCounts>();

  /** @param experts the ensemble's experts now: those that have left are not counted. */
  add({ call, atDeadline, belowQuorum, early, majority }: FinishedCall, experts: readonly string[]): void {
    this.#outcomes[call.outcome] += 1;
    this.#atDeadline += atDeadline ? 1 : 0;
    this.#belowQuorum += belowQuorum ? 1 : 0;
    const votes = this.#votes.get(call.votes) ?? { requests: 0, skipped: 0, withQuorum: 0, early: 0 };
    votes.requests += 1;
    votes.skipped += call.outcome === "skipped" ? 1 : 0;
    votes.withQuorum += belowQuorum ? 0 : 1;
    votes.early += early ? 1 : 0;
    this.#votes.set(call.votes, votes);
    for (const { model, state } of call.experts) {
      if (!experts.includes(model)) continue;
      const expert = this.#experts.get(model) ?? noExpertCounts();
      expert.asked += 1;
      expert[countOf[state]] += 1;
      expert.inMajority += majority.has(model) ? 1 : 0;
      this.#experts.set(model, expert);
    }
  }

  /** Forgets all experts but these. */
  keep(experts: readonly string[]): void {
    for (const model of this.#experts.keys()) if (!experts.includes(model)) this.#experts.delete(model);
  }

  view(experts: readonly string[]): EnsembleCounts {
    const outcomes = { ...this.#outcomes };
    return {
      ...{ sinceMs: this.#sinceMs, outcomes, atDeadline: this.#atDeadline, belowQuorum: this.#belowQuorum },
      requests: Object.values(outcomes).reduce((sum, count) => sum + count, 0),
      votes: Object.fromEntries(this.#votes),
      experts: experts.map((model) => ({ model, ...(this.#experts.get(model) ?? noExpertCounts()) })),
    };
  }
}

const noExpertCounts = () => ({ asked: 0, voted: 0, noVote: 0, late: 0, notNeeded: 0, failed: 0, inMajority: 0 });

/** The count that each state of an expert adds to. */
const countOf = { voted: "voted", "no-vote": "noVote", late: "late", "not-needed": "notNeeded", failed: "failed" } as const;
