import { mean } from "@/solver/numeric/quantile";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { type OrderAccuracy, orderAccuracy, SPLITS } from "./accuracy";
import { applications, raceWorkload } from "./apps";
import { lineTime } from "./line";
import { drawnPrograms, type ObservedProgram, recordedPrograms, runsPresent, withoutPauses } from "./observedPrograms";
import { structureErrors } from "./structure";

/** Drawn programs of an application, half of which is learnt from. */
const PROGRAMS = 600;

/** Agents whose priorities the source computes in 4.3 s at most, and what it takes here at most. */
const MANY = 5000;
const BUDGET_MILLISECONDS = 500;

interface AccuracyRow {
  readonly name: string;
  readonly splits: readonly OrderAccuracy[];
}

const accuracyOf = (name: string, programs: readonly ObservedProgram[]): AccuracyRow => ({
  name,
  splits: Array.from({ length: SPLITS }, (_, split) => orderAccuracy(programs, split)),
});

/** Pair accuracy of ChatDev's runs where they are at hand, and of the source's applications drawn from answers where those are. */
async function accuracy(): Promise<Measurement> {
  const rows: AccuracyRow[] = [];
  if (runsPresent()) {
    const recorded = await recordedPrograms();
    rows.push(accuracyOf("ChatDev's runs", recorded), accuracyOf("the same without pauses", recorded.map(withoutPauses)));
  }
  if (dataPresent()) {
    const { outcomes } = await raceWorkload();
    for (const { name, workflows } of applications) {
      rows.push(accuracyOf(`${name}, drawn`, drawnPrograms(outcomes, workflows, PROGRAMS * workflows.length)));
    }
  }
  const columns = [
    ["line (Kairos)", "line"],
    ["mean", "mean"],
    ["median", "median"],
    ["calls to come (Ayo)", "depth"],
    ["arrival (Parrot)", "arrival"],
    ["agents' true means", "trueMean"],
    ["any order of agents, at most", "bound"],
  ] as const;
  const percent = (row: AccuracyRow, key: keyof OrderAccuracy): string => {
    const values = row.splits.map((split) => 100 * split[key]);
    return `${mean(values).toFixed(1)} (${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)})`;
  };
  const lines = rows.map((row) => [row.name, ...columns.map(([, key]) => percent(row, key))]);
  writeTables("kairos-accuracy", [table(["%", ...columns.map(([title]) => title)], lines)]);
  const over = (key: keyof OrderAccuracy): number => 100 * mean(rows.map(({ splits }) => mean(splits.map((split) => split[key]))));
  const each = rows.map((row) => `${row.name} ${(100 * mean(row.splits.map(({ line }) => line))).toFixed(1)}`).join(", ");
  return {
    figure: over("line"),
    unit: "% of pairs",
    detail: `held-out calls of different agents in the order of their true remaining latencies, mean over ${rows.length} cases of ${SPLITS} splits each: ${each}; by calls to come ${over("depth").toFixed(1)}, by arrival ${over("arrival").toFixed(1)}; the source 83.5, 75.9 and 50`,
  };
}

export const kairosOrderBenchmarks: readonly Benchmark[] = [
  ...[10, 100, 1000, MANY].map((count) => ({
    name: `agent priorities, ${count} agents`,
    budget: count === MANY ? ({ figure: BUDGET_MILLISECONDS, keep: "at most" } as const) : null,
    run: () => lineTime(count),
  })),
  { name: "workflow structure", budget: { figure: 0, keep: "at most" }, run: structureErrors },
  ...(runsPresent() || dataPresent() ? [{ name: "order accuracy", budget: null, run: accuracy }] : []),
];
