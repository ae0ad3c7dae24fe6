import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import type { ProgramOutcome } from "@/solver/cluster/programOutcome";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { arrivals } from "@/solver/engine/arrivals";
import { type CellFigures, cellFigures } from "@/solver/lab/cellFigures";
import { type MixTraffic, mixPrograms } from "@/solver/mix/mixGround";
import { mixSeed } from "@/solver/numeric/random";
import { cascadeOf, type JustInTimePolicy } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { oracleConfigurations } from "@/solver/workflow/configurationOutcomes";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import type { ProgramSample } from "@/solver/workflow/programSample";
import type { MixedReplicas } from "./mixPolicy";

/** A policy's engines under a mix. */
export interface SimulatedMix {
  readonly traffic: MixTraffic;
  readonly policy: JustInTimePolicy;
  readonly replicas: readonly MixedReplicas[];
  /** Arrivals of the workload, whose bursts all classes have. */
  readonly arrivalSeconds: Float64Array;
}

/** What a simulation gives. */
export interface MixOutcome {
  readonly sample: ProgramSample;
  readonly outcome: ProgramOutcome;
  readonly figures: CellFigures;
}

/** Programs and single requests of a simulation: so many seconds of traffic, within these bounds. */
const SIMULATED = { seconds: 300, least: 2000, most: 6000 } as const;

/** Single requests and programs a second of a mix. */
export const ratesOf = ({ singles, workflows }: Pick<MixTraffic, "singles" | "workflows">): number =>
  (singles?.requestsPerSecond ?? 0) + workflows.reduce((sum, { programsPerSecond }) => sum + programsPerSecond, 0);

/**
 * A mix at its rates on engines, under the very policy, from empty engines on. Programs are of planning prompts with modelled outcomes; which
 * configurations are accurate is known from labels where the policy names a predictor.
 *
 * @returns null where no program was completely served.
 */
export function simulateMix({ traffic, policy, replicas, arrivalSeconds }: SimulatedMix): MixOutcome | null {
  const requestsPerSecond = ratesOf(traffic);
  const programs = Math.min(SIMULATED.most, Math.max(SIMULATED.least, Math.round(SIMULATED.seconds * requestsPerSecond)));
  const seed = mixSeed(traffic.seed, "mix simulation");
  const law = arrivalSeconds.length > 0 ? ({ kind: "trace", arrivalSeconds } as const) : ({ kind: "poisson" } as const);
  const sample = mixPrograms({ ...traffic, seed }, arrivals({ law, requests: programs, requestsPerSecond, seed }));
  const spaces = policy.workflows.flatMap(({ workflow, predictor }) =>
    predictor === undefined
      ? []
      : [
          [
            workflow.name,
            configurationSpace(
              workflow,
              policy.models.map(({ model }) => model),
            ),
          ] as const,
        ],
  );
  const outcome = simulatePrograms({
    ...{ policy: buildPolicy(policy), sample, replicas: clusterReplicas(policy, replicas) },
    predictions: spaces.length === 0 ? {} : { configurations: oracleConfigurations(sample, new Map(spaces)) },
    ...scoringOf(policy, sample, traffic),
  });
  const figures = cellFigures(outcome, sample, 0);
  return figures === null ? null : { sample, outcome, figures };
}

/** The engines one by one, each with the limit of requests of its model. */
function clusterReplicas({ models }: JustInTimePolicy, replicas: readonly MixedReplicas[]): readonly ClusterReplica[] {
  const all = replicas.flatMap((own) => Array.from({ length: own.count }, () => own));
  return all.map(({ model, replica }, index) => {
    return { id: `${model} ${index + 1}`, model, replica, maxInFlight: models.find((own) => own.model === model)?.saturationBatch ?? 1 };
  });
}

/** The judge's scores of the answers, in the time of its call. */
function scoringOf(
  policy: JustInTimePolicy,
  { row }: ProgramSample,
  { outcomes }: MixTraffic,
): Pick<Parameters<typeof simulatePrograms>[0], "scoring"> {
  const cascade = cascadeOf(policy);
  if (cascade === null) return {};
  const scores = outcomes.models.map(({ judged }) => Float64Array.from(row, (own) => judged[own] ?? Number.NaN));
  return { scoring: { scores, seconds: cascade.judge.secondsPerCall } };
}
