import { promptsReaching } from "@/solver/cascade/routing";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import type { Plan } from "@/solver/plan/plan";
import type { SeenRequest } from "@/solver/workload/seenWorkload";
import type { Workload } from "@/solver/workload/workload";
import { routedByPlan } from "./plannedTraffic";

/** Fewer scores of a model are no distribution. */
const LEAST_SCORES = 50;

/**
 * The workload with judged scores as they are seen, and all else as planned. Only answers of requests that reach a model are judged, so its scores on the
 * planning prompts that the plan sends there take the distribution of those seen, each prompt at the rank it had; prompts that are not sent there
 * follow the same curve. Stage by stage, since the scores of one decide which prompts reach the next.
 *
 * @returns null where of no model enough scores were seen.
 */
export function withSeenScores(
  plan: Pick<Plan, "policy" | "inputs">,
  workload: Workload,
  requests: readonly SeenRequest[],
): Workload | null {
  let made: Workload | null = null;
  const { models } = routedByPlan(plan, workload);
  for (const [stage, model] of models.slice(0, -1).entries()) {
    const seen = requests.flatMap(({ visits }) => visits.find((visit) => visit.model === model)?.judged ?? []);
    if (seen.length < LEAST_SCORES) continue;
    const current: Workload = made ?? workload;
    const { planning, routed } = routedByPlan(plan, current);
    const rows = Array.from(promptsReaching(routed, stage), (prompt) => planning[prompt] ?? 0);
    const columns = current.outcomes.models.map((column) =>
      column.model === model ? { ...column, judged: followed(column.judged, rows, { seen, seed: mixSeed(workload.seed, model) }) } : column,
    );
    made = { ...current, outcomes: { ...current.outcomes, models: columns } };
  }
  return made;
}

/** Scores with the distribution that was seen on some rows. Equal scores are told apart by chance, so that what is seen of them keeps its spread. */
function followed(
  judged: ArrayLike<number>,
  rows: readonly number[],
  { seen, seed }: { readonly seen: readonly number[]; readonly seed: number },
): Float64Array {
  const random = seededRandom(seed);
  const sortedSeen = Float64Array.from(seen).sort();
  const order = rows
    .map((row) => ({ row, score: judged[row] ?? 0, chance: random.next() }))
    .sort((a, b) => a.score - b.score || a.chance - b.chance);
  const at = (share: number): number => sortedSeen[Math.min(sortedSeen.length - 1, Math.floor(share * sortedSeen.length))] ?? 0;
  const scores = order.map(({ score }) => score);
  const made = Float64Array.from(judged, (score) =>
    at((below(scores, score) + below(scores, score, true)) / (2 * Math.max(1, scores.length))),
  );
  for (const [rank, { row }] of order.entries()) made[row] = at((rank + 0.5) / order.length);
  return made;
}

/** How many of the ascending values are below one, or not above it. */
function below(sorted: readonly number[], value: number, orEqual = false): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const one = sorted[middle] ?? 0;
    if (one < value || (orEqual && one === value)) from = middle + 1;
    else to = middle;
  }
  return from;
}
