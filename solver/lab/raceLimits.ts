import { MAX_SEQUENCES } from "../hardware/replicaShapes";
import { modelsOf } from "../plan/policySchema";
import { workflows } from "../workflow/templates";
import { laterStages, type Workflow } from "../workflow/workflow";
import type { LabReplicas, LabSpec, LabSystem } from "./labSpec";
import { systemLabels } from "./systemVariants";

/** The setting that reduces the engines' capacity, as the page and the description name it. */
const FEWER_AT_ONCE = "fewer requests at once on each engine (maxSequences in a file)";

type RacedSpec = Pick<LabSpec, "mix" | "programs"> & { readonly systems: readonly LabSystem[]; readonly replicas: readonly LabReplicas[] };

/**
 * What a race on such engines cannot measure, in sentences, known before it is run: nothing queues where there are too few programs to fill
 * the engines, and a choice among the engines of a model needs two of them.
 */
export function raceLimits(spec: RacedSpec): readonly string[] {
  const filled = engineFill(spec, spec.replicas);
  const labels = systemLabels(spec.systems);
  const groups = placeTwins(spec.systems, spec.replicas).map((group) => group.map((system) => labels[system] ?? "").join("; "));
  return [
    ...(filled.fits
      ? [
          `${filled.says}: unless memory runs short or a system sends all to some of them, hardly anything waits at any rate, and an order has next to nothing to choose between. ${moreWaits}`,
        ]
      : []),
    ...(groups.length > 0
      ? [
          `With one engine of each model there is no place to choose, so these differ only in what is held back while memory is short: ${groups.join(", and likewise ")}. ${morePlaces}`,
        ]
      : []),
  ];
}

/** The remedy to get a queue where programs do not fill the engines. */
export const moreWaits = `Take more programs, or ${FEWER_AT_ONCE}.`;

/** The remedy to get a queue where programs could fill the engines. */
export const moreComes = `Race them at a higher rate, or with ${FEWER_AT_ONCE}.`;

/** The remedy to get a choice of a place. */
export const morePlaces = "Give a model two engines or more to tell them apart.";

export interface EngineFill {
  /** Whether the engines run at once all requests that programs have in flight together. */
  readonly fits: boolean;
  /** Both in a clause: "600 programs have about 600 requests under way at most, and the engines run 768 at once". */
  readonly says: string;
}

/**
 * Whether the programs of a run, all present together, have no more requests in flight than engines have sequences. Programs count by
 * the shares of their workflows, each with its maximum number of parallel requests.
 */
export function engineFill({ mix, programs }: Pick<LabSpec, "mix" | "programs">, replicas: readonly LabReplicas[]): EngineFill {
  const shares = mix.reduce((sum, { share }) => sum + share, 0);
  const widest = mix.reduce((sum, { workflow, share }) => {
    const known = workflows.find(({ name }) => name === workflow);
    return sum + (share / shares) * (known === undefined ? 1 : mostSideBySide(known));
  }, 0);
  const requests = Math.round(programs * widest);
  const seats = replicas.reduce((sum, { count, maxSequences = MAX_SEQUENCES }) => sum + count * maxSequences, 0);
  return {
    fits: requests <= seats,
    says: `${programs} programs have at most about ${requests} requests under way, and the engines run ${seats} at once`,
  };
}

/**
 * Maximum number of requests that a program has in flight at once, in any shape: at most a stage and those that neither wait for it nor it
 * for them.
 */
export function mostSideBySide({ stages, otherShapes = [] }: Pick<Workflow, "stages" | "otherShapes">): number {
  const widths = [stages, ...otherShapes.map((shape) => shape.stages)].flatMap((of) => {
    const later = laterStages({ stages: of });
    return of.map((_, stage) => of.length - (later[stage]?.length ?? 0) - later.filter((after) => after.includes(stage)).length);
  });
  return Math.max(1, ...widths);
}

/**
 * Groups of systems, by index, that differ only in their place where no model that they send to has two engines: their choice is always
 * among one engine.
 */
export function placeTwins(systems: readonly LabSystem[], replicas: readonly LabReplicas[]): readonly (readonly number[])[] {
  const groups = new Map<string, number[]>();
  for (const [index, { name: _, ...system }] of systems.entries()) {
    const own = system.replicas ?? replicas;
    const engines = (model: string): number => own.reduce((sum, each) => sum + (each.model === model ? each.count : 0), 0);
    if (modelsOf(system.policy).some((model) => engines(model) > 1)) continue;
    const key = JSON.stringify({ ...system, policy: { ...system.policy, place: null } });
    groups.set(key, [...(groups.get(key) ?? []), index]);
  }
  const placeOf = (index: number): string => JSON.stringify(systems[index]?.policy.place);
  return [...groups.values()].filter((group) => new Set(group.map(placeOf)).size > 1);
}
