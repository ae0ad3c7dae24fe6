import type { CellFigures } from "@/solver/lab/cellFigures";
import { mean } from "@/solver/numeric/quantile";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { oracleConfigurations } from "@/solver/workflow/configurationOutcomes";
import { addConfiguration, countOf, emptySet, hasConfiguration } from "@/solver/workflow/configurationSet";
import { directRun } from "./directRun";
import { allGpus, ORACLE } from "./raceCase";
import type { SeededRace } from "./seededRace";

/** How good the source's heads are: the middle of what it gives (section 3.1). */
const SOURCE_HEADS = { precision: 0.95, recall: 0.74 } as const;

/**
 * An oracle's set as heads of a precision and recall would tell it, modelled: each accurate configuration is accepted with the chance of the recall, and of the
 * others so many by chance that in the mean the precision is what is asked for, whichever they are. The largest models are always in it.
 *
 * @param accurateShare share of all configurations that is accurate, in the mean over programs.
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

/** What Aragog would do with heads as good as the source's: the lab has no such source of configurations. */
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
