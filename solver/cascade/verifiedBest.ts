import { allocate } from "./allocate";
import { best, candidatesFor, promisedQuality } from "./choose";
import type { Candidate, Exploration, Knobs } from "./exploration";
import type { Finalist, ToDeploy } from "./finalist";
import { onFewestGpus } from "./onFewestGpus";

/** Finalists deployed and simulated whole, at most: each costs about as much as the rest of a small plan. */
const MAX_FINALISTS = 4;

/** A cascade whose tables promise no more than this many times the best verified latency may be the better one: tables err by some per cent. */
const NEAR_TIE = 1.05;

export interface Contest {
  readonly exploration: Exploration;
  readonly pool: readonly Candidate[];
  readonly knobs: Knobs;
  /** Whether GPUs are counted anew once a cascade's tables are corrected; else the pool's figures are of real deployments. */
  readonly resized: boolean;
  /** Deploys and simulates one; null where it does not come to a plan. */
  deploy(asked: ToDeploy): Finalist | null;
  /** USD per request of what was deployed. */
  cost(finalist: Finalist): number;
}

export interface Contested {
  readonly finalist: Finalist | null;
  /** All that were simulated whole, the finalist among them. */
  readonly verified: readonly Finalist[];
}

/** A candidate with the GPUs that it is to be deployed on at most, and the latency that its corrected tables must keep there. */
interface Entry extends ToDeploy {
  readonly candidate: Candidate;
}

/**
 * The best candidate once verified. Each verification corrects the tables of its whole cascade by the ratio found; the
 * search ends when the best by corrected tables is one that was verified, and no other cascade that was not comes within the
 * tables' error of it. Where the cost is minimised, a candidate that misses the budget is tried again on a GPU more.
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
  /** Per routing, GPUs that are not too few as far as is known. */
  const least = new Map<number, number>();
  const verified = (): Finalist[] => [...seen.values()].flatMap((one) => one ?? []);

  function entryOf(candidate: Candidate): Entry[] {
    const { routing } = candidate;
    const correction = correctionOf(candidate);
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

  for (let attempt = 0; attempt <= MAX_FINALISTS; attempt += 1) {
    const last = attempt === MAX_FINALISTS;
    const entries = new Map(pool.flatMap(entryOf).map((entry) => [entry.routing, entry]));
    const corrected = [...entries.values()].flatMap(({ candidate, ...asked }) => {
      const known = seen.get(keyOf(asked));
      if (known === null || (last && known === undefined)) return [];
      const latencySeconds = known?.verifiedSeconds ?? candidate.latencySeconds * correctionOf(candidate);
      const meets = quality(candidate) >= floor && latencySeconds <= budget && latencySeconds < Number.POSITIVE_INFINITY;
      return meets ? [{ ...candidate, latencySeconds, costUsdPerRequest: known ? cost(known) : candidate.costUsdPerRequest }] : [];
    });
    const leader = best(corrected, knobs.kind, quality);
    const asked = entries.get(leader?.routing ?? -1);
    if (leader === null || asked === undefined) break;
    const known = seen.get(keyOf(asked));
    const rival = known === undefined ? null : rivalOf(leader);
    if (known && rival === null) return { finalist: known, verified: verified() };
    const next = rival ?? asked;
    const finalist = deploy(next);
    seen.set(keyOf(next), finalist);
    if (finalist !== null) corrections.set(cascadeOf(next.candidate), finalist.verifiedSeconds / next.candidate.latencySeconds);
    if (byCost && (finalist === null || finalist.verifiedSeconds > budget)) least.set(next.routing, next.gpus + 1);

    function rivalOf({ latencySeconds }: Candidate): Entry | null {
      if (knobs.kind !== "latency-under-quality") return null;
      const unknown = corrected.filter(
        (candidate) => !corrections.has(cascadeOf(candidate)) && !seen.has(keyOf({ routing: candidate.routing, gpus: knobs.maxGpus })),
      );
      const closest = best(unknown, knobs.kind, quality);
      return closest !== null && closest.latencySeconds <= NEAR_TIE * latencySeconds ? (entries.get(closest.routing) ?? null) : null;
    }
  }
  return { finalist: null, verified: verified() };
}
