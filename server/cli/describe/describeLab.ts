import type { LabCell, LabSpec } from "@/server/contracts/studio";
import { overSeeds, paired, type SeedEstimate, type SystemFigures } from "@/solver/lab/overSeeds";
import { rateNotes } from "@/solver/lab/rateNotes";
import { systemLabels } from "@/solver/lab/systemVariants";
import { textTable } from "./textTable";

/** A run of the lab as terminal text for an operator: one table per rate, each figure with its 90 % interval over seeds. */
export function describeLab(spec: LabSpec, cells: readonly LabCell[], notes: readonly string[]): string {
  const figures = overSeeds(cells);
  const names = systemLabels(spec.systems);
  const [reference = ""] = names;
  const ratios = spec.systems.map((_, system) => paired(cells, system, 0, "meanSeconds"));
  const rates = spec.rates.map((rate, at) => {
    const rows = figures.filter((own) => own.rate === at);
    const ratioOf = ({ system }: SystemFigures): SeedEstimate | null => ratios[system]?.find((own) => own.rate === at)?.ratio ?? null;
    return [
      `${rate} programs/s\n`,
      textTable([
        [
          "system",
          "quality",
          "latency s",
          `against ${reference}`,
          "p95 s",
          "ms a token",
          "p95 ms a token",
          "p99 ms a token",
          "queue s",
          "queueing %",
          "longest wait s",
          "programs/s",
          "$ a program",
          "preempted %",
          "unserved",
        ],
        ...rows.map((row) => [
          names[row.system] ?? "",
          shown(row.figures.quality),
          shown(row.figures.meanSeconds),
          row.system === 0 ? "" : shown(ratioOf(row), (value) => `${value.toFixed(2)}x`),
          plain(row.figures.p95Seconds),
          plain(row.figures.meanSecondsPerToken, 1000),
          plain(row.figures.p95SecondsPerToken, 1000),
          plain(row.figures.p99SecondsPerToken, 1000),
          shown(row.figures.meanQueueSeconds),
          plain(row.figures.queueShare, 100),
          plain(row.figures.longestWaitSeconds),
          plain(row.figures.programsPerSecond),
          plain(row.figures.usdPerProgram),
          plain(row.figures.preemptedShare, 100),
          String(row.unserved),
        ]),
      ]),
      ...rateNotes(spec, cells, at).map((note) => `${note}\n`),
      "\n",
    ].join("");
  });
  return [
    `${spec.programs} programs for each system, rate and seed; means over ${spec.seeds.length} ${spec.seeds.length === 1 ? "seed" : "seeds"} with 90 % intervals (Student's t)\n\n`,
    ...rates,
    ...notes.map((note) => `${note}\n`),
  ].join("");
}

const three = (value: number): string => String(Number(value.toPrecision(3)));

const plain = (estimate: SeedEstimate | null, scale = 1): string => (estimate === null ? "-" : three(scale * estimate.value));

function shown(estimate: SeedEstimate | null, write: (value: number) => string = three): string {
  if (estimate === null) return "-";
  const { value, low, high } = estimate;
  return low === null || high === null ? write(value) : `${write(value)} [${write(low)}, ${write(high)}]`;
}
