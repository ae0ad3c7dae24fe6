import { clusterReplicas, enginesByModel } from "@/server/lab/labEngines";
import { atRate } from "@/server/lab/labPrograms";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { type CellFigures, cellFigures } from "@/solver/lab/cellFigures";
import type { LabSystem } from "@/solver/lab/labSpec";
import { mean } from "@/solver/numeric/quantile";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Policy } from "@/solver/policies/core/policy";
import { oracleConfigurations } from "@/solver/workflow/configurationOutcomes";
import { addConfiguration, countOf, emptySet, hasConfiguration } from "@/solver/workflow/configurationSet";
import { allGpus, ORACLE } from "./raceCase";
import { hardware, type SeededRace } from "./seededRace";

/**
 * Settings outside the lab's description: another policy on a system's engines, or configurations from a source that the lab does not have.
 */
interface DirectRun {
  readonly policy: Policy;
  readonly replicas: LabSystem["replicas"];
  readonly configurations: (program: number) => Uint32Array | undefined;
}

/** Serves the programs of a race at a rate as the lab would. */
export function directRun(
  { spec, sample, served }: SeededRace,
  rate: number,
  { policy, replicas, configurations }: DirectRun,
): CellFigures {
  const arriving = atRate(served, rate);
  const outcome = simulatePrograms({
    ...{ policy, sample: arriving, predictions: { configurations } },
    replicas: clusterReplicas(enginesByModel(replicas ?? spec.replicas, hardware), spec, sample),
    ...{ overhead: spec.overhead, telemetrySeconds: spec.telemetrySeconds },
  });
  const figures = cellFigures(outcome, arriving, 1);
  if (figures === null) throw new Error("No program was served whole");
  return figures;
}

/**
 * The same policy, which decides at most once in so many seconds, so that free places accumulate between rounds; at once where all engines
 * are idle.
 */
export function atIntervals(policy: Policy, seconds: number): Policy {
  let next = Number.NEGATIVE_INFINITY;
  return {
    ...policy,
    decide(view) {
      if (view.nowSeconds < next && view.replicas.some(({ inFlight }) => inFlight > 0)) return [];
      next = view.nowSeconds + seconds;
      return policy.decide(view);
    },
  };
}

/**
 * Throughput of a system with an oracle's sets at a rate with rounds at intervals: not an option of the policy, which holds one whenever a
 * place is free.
 */
export function withIntervals(
  race: SeededRace,
  { policy, replicas }: LabSystem,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): CellFigures {
  const sets = oracleConfigurations(race.served, new Map(race.spec.mix.map(({ workflow }) => [workflow, race.space])));
  return directRun(race, rate, { policy: atIntervals(buildPolicy(policy), seconds), replicas, configurations: sets });
}

/** Accuracy of the source's heads: the middle of its ranges (section 3.1). */
const SOURCE_HEADS = { precision: 0.95, recall: 0.74 } as const;

/**
 * An oracle's set degraded to heads of a given precision and recall, modelled: each accurate configuration is accepted with the recall as
 * probability, and of the others so many at random that the mean precision is the given one, whichever they are. The largest models are
 * always included.
 *
 * @param accurateShare share of all configurations that is accurate, averaged over programs.
 */
export function headsLike(
  { precision, recall }: { readonly precision: number; readonly recall: number },
  { size, accurateShare, seed }: { readonly size: number; readonly accurateShare: number; readonly seed: number },
): (program: number, accurate: Uint32Array) => Uint32Array {
  const wrong = accurateShare >= 1 ? 0 : Math.min(1, (recall * accurateShare * (1 - precision)) / (precision * (1 - accurateShare)));
  return (program, accurate) => {
    const random = seededRandom(mixSeed(seed, `heads ${program}`));
    const accepted = emptySet(size);
    for (let configuration = 0; configuration < size; configuration += 1) {
      if (random.next() < (hasConfiguration(accurate, configuration) ? recall : wrong)) addConfiguration(accepted, configuration);
    }
    addConfiguration(accepted, size - 1);
    return accepted;
  };
}

/** Aragog's result with heads as good as the source's: the lab has no such source of configurations. */
export function withSourceHeads(race: SeededRace, rate: number): CellFigures {
  const { spec, systems, served, space } = race;
  const system = systems.find(({ name }) => name === allGpus(ORACLE));
  if (system?.replicas === undefined) throw new Error("Aragog is not raced on all GPUs");
  const sets = oracleConfigurations(served, new Map(spec.mix.map(({ workflow }) => [workflow, space])));
  const shares = Float64Array.from(served.workflow, (_, program) => countOf(sets(program) ?? emptySet(0)) / space.size);
  const heads = headsLike(SOURCE_HEADS, { size: space.size, accurateShare: mean(shares), seed: spec.seeds[0] ?? 0 });
  return directRun(race, rate, {
    ...{ policy: buildPolicy(system.policy), replicas: system.replicas },
    configurations: (program) => heads(program, sets(program) ?? emptySet(0)),
  });
}
