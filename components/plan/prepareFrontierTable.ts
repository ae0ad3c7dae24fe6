import type { Candidate, Choice, Exploration } from "@/solver/cascade/exploration";
import { formatDelta } from "../ui/format";
import { formatRouting, type RoutingChoice } from "./routingKey";
import { routingOf } from "./routingOf";

/** Rows are for comparing; a longer list is a chart. */
const MAX_ROWS = 60;

export interface FrontierRow {
  readonly routing: number;
  readonly key: string;
  readonly cascade: RoutingChoice;
  readonly gpus: readonly number[];
  readonly candidate: Candidate;
  readonly role: "chosen" | "frontier" | "alone" | "pinned";
  readonly pinned: boolean;
  /** Differences from what runs, in words; null where nothing runs. */
  readonly delta: { readonly quality: string; readonly p95Seconds: string } | null;
}

/** What a row is compared with. */
export interface Baseline {
  readonly quality: number;
  readonly p95Seconds: number;
}

/** Decides the rows under the chart: pinned plans first, the recommended one, then the frontier by rising quality, then models standing alone. */
export function prepareFrontierTable(input: {
  readonly exploration: Exploration;
  readonly choice: Choice;
  readonly pins: readonly string[];
  readonly running: Baseline | null;
}): { readonly rows: readonly FrontierRow[]; readonly total: number } {
  const { exploration, choice, running } = input;
  const frontier = new Set(choice.frontier);
  const rows: FrontierRow[] = [];
  for (const [index, candidate] of choice.candidates.entries()) {
    if (!Number.isFinite(candidate.latencySeconds)) continue;
    const cascade = routingOf(exploration, candidate.routing);
    const key = formatRouting(cascade);
    const pinned = input.pins.includes(key);
    const chosen = choice.chosen?.routing === candidate.routing;
    const alone = cascade.models.length === 1;
    if (!(pinned || chosen || alone || frontier.has(index))) continue;
    rows.push({
      routing: candidate.routing,
      key,
      cascade,
      gpus: candidate.gpus,
      candidate,
      role: chosen ? "chosen" : frontier.has(index) ? "frontier" : alone ? "alone" : "pinned",
      pinned,
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
  return { rows: rows.slice(0, MAX_ROWS), total: rows.length };
}
