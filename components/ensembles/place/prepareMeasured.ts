import { ABSENT, formatCount, formatCounted, formatDate, formatSeconds } from "@/components/ui/format";
import type { EnsemblePlacement, MeasuredSessions } from "@/server/contracts/studio";

export interface MeasuredRow {
  readonly key: string;
  readonly of: Pick<MeasuredSessions, "model" | "gpu" | "gpus">;
  readonly engine: string;
  readonly sessions: string;
  /** Empty: none is emulated. */
  readonly emulated: string;
  readonly prompts: string;
  readonly output: string;
  readonly seconds: string;
  readonly load: string;
  readonly latest: string;
  /** How the placement uses them. */
  readonly use: string;
}

type Placed = Pick<EnsemblePlacement, "gpu" | "gpusPerWorker" | "experts" | "aggregator">;

const spanOf = (low: number | null, high: number | null, text: (value: number) => string): string =>
  low === null || high === null ? ABSENT : text(low) === text(high) ? text(low) : `${text(low)} to ${text(high)}`;

const isOf = (row: MeasuredSessions, model: string, { gpu, gpusPerWorker }: Placed): boolean =>
  row.model === model && row.gpu === gpu && row.gpus === gpusPerWorker;

function useOf(row: MeasuredSessions, placement: Placed | null): string {
  if (placement === null) return ABSENT;
  const expert = placement.experts.find(({ model }) => isOf(row, model, placement));
  if (expert !== undefined) return `Sessions ${expert.cost.source}. Loads: ${expert.load.source}.`;
  const { aggregator } = placement;
  if (row.gpu === placement.gpu && row.model === aggregator?.model && row.gpus === aggregator.tp) return "Loads of the aggregator.";
  if (placement.experts.some(({ model }) => model === row.model)) return "Other GPUs than workers have here.";
  return "No expert here.";
}

/** Rows of measured sessions, with their use in the placement. @param placement null: there is none yet. */
export const measuredRows = (groups: readonly MeasuredSessions[], placement: Placed | null): readonly MeasuredRow[] =>
  groups.map((row) => ({
    key: `${row.model} ${row.gpus} ${row.gpu}`,
    of: { model: row.model, gpu: row.gpu, gpus: row.gpus },
    engine: `${row.gpus} x ${row.gpu}`,
    sessions: formatCount(row.sessions),
    emulated: row.emulated === 0 ? "" : row.emulated === row.rows ? "emulated" : `${formatCount(row.emulated)} emulated`,
    prompts: spanOf(row.fewestPrompts, row.mostPrompts, formatCount),
    output:
      row.meanOutputTokens === null || row.maxOutputTokens === null
        ? ABSENT
        : `${formatCount(row.meanOutputTokens)} mean, ${formatCount(row.maxOutputTokens)} at most`,
    seconds: spanOf(row.leastSeconds, row.mostSeconds, formatSeconds),
    load: row.meanLoadSeconds === null ? ABSENT : `${formatSeconds(row.meanLoadSeconds)}, mean of ${formatCount(row.loads)}`,
    latest: formatDate(row.latestAt),
    use: useOf(row, placement),
  }));

/** How many there are, for a line that opens them. */
export function measuredSays(groups: readonly MeasuredSessions[]): string {
  if (groups.length === 0) return "none yet";
  const sessions = groups.reduce((sum, row) => sum + row.sessions, 0);
  const models = new Set(groups.map(({ model }) => model)).size;
  return `${formatCounted(sessions, "session")} of ${formatCounted(models, "model")}`;
}

/** Experts without measurements on workers like these, in a sentence; null: all have some, or there is no placement. */
export function unmeasuredSays(groups: readonly MeasuredSessions[], placement: Placed | null): string | null {
  if (placement === null) return null;
  const without = placement.experts.filter(({ model }) => !groups.some((row) => isOf(row, model, placement))).map(({ model }) => model);
  const worker = `${placement.gpusPerWorker} x ${placement.gpu}`;
  return without.length === 0
    ? null
    : `Nothing was measured on ${worker} of ${without.join(", ")}: sessions are simulated, loads estimated.`;
}
