import type { Candidate, Choice, Exploration } from "@/solver/cascade/exploration";
import { formatDelta, formatUsd } from "../ui/format";
import { formatRouting, type RoutingChoice } from "./routingKey";
import { routingOf } from "./routingOf";

/** Frontier rows shown at first. Neighbours differ by one threshold step and read alike; what they trade shows over the whole range. */
const BRIEF_FRONTIER_ROWS = 6;

export interface FrontierRow {
  readonly routing: number;
  readonly key: string;
  readonly cascade: RoutingChoice;
  readonly gpus: readonly number[];
  readonly candidate: Candidate;
  readonly role: "chosen" | "frontier" | "alone" | "other";
  readonly pinned: boolean;
  /** Whether the running plan routes like this. */
  readonly runs: boolean;
  /** Whether it is shown before all are asked for. */
  readonly brief: boolean;
  /** Differences from what runs, in words; null where nothing runs. */
  readonly delta: { readonly quality: string; readonly p95Seconds: string } | null;
}

/** What a row is compared with: a running plan's routing key and what it promised. */
export interface Baseline {
  readonly key: string;
  readonly quality: number;
  readonly p95Seconds: number;
}

export interface FrontierRows {
  readonly rows: readonly FrontierRow[];
  /** Whether a request's cost tells rows apart; where every plan takes all GPUs it does not. */
  readonly costsDiffer: boolean;
}

/** The candidates nearest to qualities evenly spread over all of theirs, both ends among them. */
function spread(frontier: readonly Candidate[]): ReadonlySet<number> {
  const qualities = frontier.map((candidate) => candidate.quality);
  const low = Math.min(...qualities);
  const step = (Math.max(...qualities) - low) / (BRIEF_FRONTIER_ROWS - 1);
  const picked = new Set<number>();
  for (let row = 0; row < BRIEF_FRONTIER_ROWS; row += 1) {
    const distance = (candidate: Candidate) => Math.abs(candidate.quality - (low + row * step));
    const [first, ...rest] = frontier;
    if (first === undefined) break;
    picked.add(rest.reduce((best, candidate) => (distance(candidate) < distance(best) ? candidate : best), first).routing);
  }
  return picked;
}

/** Decides the rows under the chart: pinned plans first, the recommended one, then the frontier by rising quality, then models standing alone. */
export function prepareFrontierTable(input: {
  readonly exploration: Exploration;
  readonly choice: Choice;
  readonly pins: readonly string[];
  readonly running: Baseline | null;
}): FrontierRows {
  const { exploration, choice, running } = input;
  const frontier = new Set(choice.frontier);
  const spreadOut = spread(
    choice.candidates.filter((candidate, index) => frontier.has(index) && Number.isFinite(candidate.latencySeconds)),
  );
  const rows: FrontierRow[] = [];
  for (const [index, candidate] of choice.candidates.entries()) {
    if (!Number.isFinite(candidate.latencySeconds)) continue;
    const cascade = routingOf(exploration, candidate.routing);
    const key = formatRouting(cascade);
    const pinned = input.pins.includes(key);
    const runs = running?.key === key;
    const chosen = choice.chosen?.routing === candidate.routing;
    const alone = cascade.models.length === 1;
    if (!(pinned || runs || chosen || alone || frontier.has(index))) continue;
    rows.push({
      routing: candidate.routing,
      key,
      cascade,
      gpus: candidate.gpus,
      candidate,
      role: chosen ? "chosen" : frontier.has(index) ? "frontier" : alone ? "alone" : "other",
      pinned,
      runs,
      brief: pinned || runs || chosen || alone || spreadOut.has(candidate.routing),
      delta:
        running === null
          ? null
          : {
              quality: formatDelta(candidate.quality - running.quality, 1),
              p95Seconds: formatDelta(candidate.latencySeconds - running.p95Seconds, 1),
            },
    });
  }
  rows.sort(
    (a, b) =>
      Number(b.pinned) - Number(a.pinned) ||
      Number(b.role === "chosen") - Number(a.role === "chosen") ||
      Number(a.role === "alone") - Number(b.role === "alone") ||
      a.candidate.quality - b.candidate.quality,
  );
  return { rows, costsDiffer: new Set(rows.map((row) => formatUsd(row.candidate.costUsdPerRequest))).size > 1 };
}
