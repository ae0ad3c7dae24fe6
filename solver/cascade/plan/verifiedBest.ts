import { allocate } from "../choose/allocate";
import { best, candidatesFor, NEAR_TIE, promisedQuality } from "../choose/choose";
import { onFewestGpus } from "../choose/onFewestGpus";
import type { ToDeploy } from "../deploy/deployed";
import type { Finalist } from "../deploy/finalist";
import type { Candidate, Exploration, Knobs } from "../explore/exploration";

/** Maximum number of finalists simulated whole, and of others that may be better: each costs about as much as the rest of a small plan. */
const MAX_FINALISTS = 4;
const MAX_RIVALS = 2;

export interface Contest {
  readonly exploration: Exploration;
  readonly pool: readonly Candidate[];
  readonly knobs: Knobs;
  /** Whether GPUs are counted again once a cascade's tables are corrected; else the pool's figures are of real deployments. */
  readonly resized: boolean;
  /** Deploys and simulates one; null where no plan results. */
  deploy(asked: ToDeploy): Finalist | null;
  /** USD per request of the deployment. */
  cost(finalist: Finalist): number;
}

export interface Contested {
  readonly finalist: Finalist | null;
  /** All that were simulated whole, including the finalist. */
  readonly verified: readonly Finalist[];
}

/** A candidate with its maximum number of GPUs for deployment, and the latency that its corrected tables must meet there. */
interface Entry extends ToDeploy {
  readonly candidate: Candidate;
}

/**
 * The best candidate after verification. Each verification corrects the tables of its whole cascade by the ratio found. The
 * search ends when the best by corrected tables is a verified one, and no unverified cascade would be as good within the tables' error (its
 * latency, or its excess over the budget, within that error). Where the cost is minimised, a candidate that misses the budget
 * is tried again with one more GPU.
 */
export function verifiedBest({ exploration, pool, knobs, resized, deploy, cost }: Contest): Contested {
  const quality = promisedQuality(knobs);
  const floor = knobs.qualityFloor ?? 0;
  const budget = knobs.latencyBudgetSeconds ?? Number.POSITIVE_INFINITY;
  const byCost = knobs.kind === "cost-under-both";
  const cascadeOf = ({ routing }: Candidate): string => (exploration.routings[routing]?.stages ?? []).join("-");
  const corrections = new Map<string, number>();
  const correctionOf = (candidate: Candidate): number => corrections.get(cascadeOf(candidate)) ?? 1;
  const seen = new Map<string, Finalist | null>();
  const keyOf = ({ routing, gpus }: Pick<ToDeploy, "routing" | "gpus">): string => `${routing} ${gpus}`;
  /** Per routing, the number of GPUs not known to be too few. */
  const least = new Map<number, number>();
  const verified = (): Finalist[] => [...seen.values()].flatMap((one) => one ?? []);

  /** @param allowance factor on the budget. */
  function entryOf(candidate: Candidate, allowance: number): Entry[] {
    const { routing } = candidate;
    const correction = correctionOf(candidate) / allowance;
    const budgetSeconds = knobs.latencyBudgetSeconds === null ? null : knobs.latencyBudgetSeconds / correction;
    if (!byCost) return [{ candidate, routing, gpus: knobs.maxGpus, budgetSeconds }];
    const onAll = candidatesFor(exploration, { ...knobs, kind: "latency-under-quality" })[routing] ?? candidate;
    const fewest =
      resized && correction !== 1 ? onFewestGpus(exploration, onAll, { ...knobs, latencyBudgetSeconds: budgetSeconds }) : candidate;
    const gpus = Math.max(fewest.gpusTotal, least.get(routing) ?? 0);
    if (gpus > knobs.maxGpus) return [];
    const larger = resized && gpus > fewest.gpusTotal ? allocate(exploration, routing, { gpus, latency: knobs.latency }) : fewest;
    return [{ candidate: larger, routing, gpus, budgetSeconds }];
  }

  let finalistsLeft = MAX_FINALISTS;
  let rivalsLeft = MAX_RIVALS;
  for (;;) {
    const entries = new Map(pool.flatMap((candidate) => entryOf(candidate, 1)).map((entry) => [entry.routing, entry]));
    const corrected = [...entries.values()].flatMap(({ candidate, ...asked }) => {
      const known = knownOf(asked);
      if (known === null || (finalistsLeft === 0 && known === undefined)) return [];
      const latencySeconds = known?.verifiedSeconds ?? candidate.latencySeconds * correctionOf(candidate);
      const meets =
        quality(candidate) >= floor && (known?.heldSeconds ?? latencySeconds) <= budget && latencySeconds < Number.POSITIVE_INFINITY;
      return meets ? [{ ...candidate, latencySeconds, costUsdPerRequest: known ? cost(known) : candidate.costUsdPerRequest }] : [];
    });
    const leader = best(corrected, knobs.kind, quality);
    const asked = leader === null ? undefined : entries.get(leader.routing);
    const known = asked === undefined ? undefined : knownOf(asked);
    const rival = rivalsLeft === 0 || (asked !== undefined && known === undefined) ? null : rivalOf(leader);
    if (known && rival === null) return { finalist: cheapestKept() ?? known, verified: verified() };
    const next = rival ?? asked;
    if (next === undefined) return { finalist: cheapestKept(), verified: verified() };
    if (rival === null) finalistsLeft -= 1;
    else rivalsLeft -= 1;
    const finalist = deploy(next);
    seen.set(keyOf(next), finalist);
    if (finalist !== null) corrections.set(cascadeOf(next.candidate), finalist.verifiedSeconds / next.candidate.latencySeconds);
    if (byCost && (finalist === null || finalist.heldSeconds > budget)) least.set(next.routing, next.gpus + 1);
  }

  /** The outcome of an entry; at the end of all tries, also the outcome of its routing on more GPUs. */
  function knownOf(asked: Pick<ToDeploy, "routing" | "gpus">): Finalist | null | undefined {
    const known = seen.get(keyOf(asked));
    if (known || finalistsLeft > 0) return known;
    return cheapestKept(asked.routing) ?? known;
  }

  /**
   * Where the cost is minimised, the cheapest that was simulated whole and meets the budget; else null. Corrections found on other GPU
   * counts may by then contradict its entry, but it is known to meet all demands.
   */
  function cheapestKept(routing?: number): Finalist | null {
    if (!byCost) return null;
    const kept = verified().filter((one) => one.heldSeconds <= budget && (routing === undefined || one.routing === routing));
    return kept.sort((a, b) => cost(a) - cost(b))[0] ?? null;
  }

  /**
   * Among the cascades without a verification, the best routing of each that is better than the leader, or may be within the tables' error;
   * of these the one with the lowest latency, as the likeliest to meet the budget.
   */
  function rivalOf(leader: Candidate | null): Entry | null {
    const untried = new Map<string, Map<Candidate, Entry>>();
    const open = pool.filter((candidate) => quality(candidate) >= floor && !corrections.has(cascadeOf(candidate)));
    for (const entry of open.flatMap((candidate) => entryOf(candidate, NEAR_TIE))) {
      const { candidate } = entry;
      if (candidate.latencySeconds > Math.min(NEAR_TIE * budget, Number.MAX_VALUE) || seen.has(keyOf(entry))) continue;
      const own = untried.get(cascadeOf(candidate)) ?? new Map<Candidate, Entry>();
      untried.set(cascadeOf(candidate), own.set(candidate, entry));
    }
    const rivals = [...untried.values()].flatMap((own) => {
      const candidate = best([...own.keys()], knobs.kind, quality);
      return candidate !== null && (leader === null || challenges(candidate, leader)) ? [candidate] : [];
    });
    const closest = best(rivals, "latency-under-quality", quality);
    return closest === null ? null : (untried.get(cascadeOf(closest))?.get(closest) ?? null);
  }

  function challenges(candidate: Candidate, leader: Candidate): boolean {
    if (knobs.kind === "latency-under-quality") return candidate.latencySeconds <= NEAR_TIE * leader.latencySeconds;
    return best([leader, candidate], knobs.kind, quality) === candidate;
  }
}
