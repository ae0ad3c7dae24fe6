import { dataConcurrent, roundRobin } from "@/solver/ensemble/placement/baselineSchedules";
import type { PlacedExpert, PlacementProblem } from "@/solver/ensemble/placement/placement";
import { timeSchedule } from "@/solver/ensemble/placement/timeSchedule";
import { simulatedSessionCost } from "@/solver/ensemble/sessions/sessionCost";
import { drawnLengths, engineOf, slowness } from "./drawnSessions";
import source from "./source.json" with { type: "json" };
import { sourceExperts, sourceWorkers } from "./sourceInstances";

/** A pool of the source's (section 3, observations 1 to 3): partly published: the number of prompts of each. */
interface SourcePool {
  readonly name: string;
  readonly spread: number;
  /** Experts whose mean slowness of engines applies. */
  readonly slowAs: readonly string[];
  readonly members: readonly { readonly name: string; readonly card: string; readonly prompts: number; readonly meanTokens: number }[];
  readonly source: { readonly roundRobin: number; readonly dataConcurrent: number };
}

/**
 * Four means of the reasoning pool are published, the two others are set to give the mean of all 3,289; all are assumed to have equally
 * many prompts. In the light pool Gemma has 53 %, Qwen 24 %, two below 2 %.
 */
export const sourcePools: readonly SourcePool[] = source.pools;

const LOAD_SECONDS = 42;

/** A pool by the two baselines: round-robin in every order of its models, as the source does not give the order. Seconds. */
export interface PooledSeconds {
  readonly roundRobin: { readonly least: number; readonly mean: number; readonly most: number };
  readonly dataConcurrent: number;
  /** Among all orders, the share in which data-concurrent is faster, 0..1. */
  readonly faster: number;
}

/** Times a pool with engines as slow as the source's on MMLU-Pro. */
export function poolSeconds({ members, spread, slowAs }: SourcePool, seed: number): PooledSeconds {
  const slow = sourceExperts.filter(({ name }) => slowAs.includes(name)).map((expert) => slowness(expert, { seed }));
  const factor = slow.reduce((sum, one) => sum + one, 0) / slow.length;
  const experts = members.map(({ name, card, prompts, meanTokens }): PlacedExpert => {
    const cost = simulatedSessionCost(engineOf(card), drawnLengths({ name, meanTokens, spread, seed }), {
      mostPrompts: prompts,
      concurrency: null,
    });
    return { name, prompts, loadSeconds: LOAD_SECONDS, cost: (count) => factor * cost(count) };
  });
  const problemOf = (ordered: readonly PlacedExpert[]): PlacementProblem => ({
    ...{ workers: sourceWorkers, experts: ordered, maxModelsPerWorker: Math.ceil(ordered.length / sourceWorkers), replicas: "amortised" },
  });
  const dataSeconds = timeSchedule(experts, dataConcurrent(problemOf(experts))).makespanSeconds;
  const seconds = orders(experts).flatMap((ordered) => {
    const schedule = roundRobin(problemOf(ordered));
    return schedule === null ? [] : [timeSchedule(ordered, schedule).makespanSeconds];
  });
  return {
    roundRobin: {
      least: Math.min(...seconds),
      mean: seconds.reduce((sum, one) => sum + one, 0) / seconds.length,
      most: Math.max(...seconds),
    },
    dataConcurrent: dataSeconds,
    faster: seconds.filter((one) => dataSeconds < one).length / seconds.length,
  };
}

function orders<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((first, at) => orders(items.filter((_, other) => other !== at)).map((rest) => [first, ...rest]));
}
