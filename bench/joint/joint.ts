import { agentRunsPresent } from "../lib/agentRuns";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { keptRows, writeRows, writeTables } from "../lib/results";
import cases from "./cases.json" with { type: "json" };
import { jointLiveBenchmarks } from "./live";
import { type Mix, mixOf } from "./mixes";
import { type MixRace, type PartRow, raceMix } from "./race";
import { ALONE, jointSystems, PAIRS, worthOf } from "./systems";
import { figuresTable, matrixTable, mixTable, tenthBelow, termsTable } from "./tables";
import { weightTable } from "./weights";

/** Mixes that are raced together: the name of their rows and tables, and of their benchmarks. */
interface RacedMixes {
  readonly name: string;
  readonly file: string;
  readonly mixes: readonly Mix[];
}

const MEASURED: RacedMixes = { name: "joint policy", file: "joint", mixes: cases.mixes.map((seed) => mixOf(seed)) };
const FRESH: RacedMixes = { name: "joint policy, fresh mixes", file: "joint-fresh", mixes: cases.fresh.mixes.map((seed) => mixOf(seed)) };
const WITH_RUNS: RacedMixes = {
  ...{ name: "joint policy, recorded runs", file: "joint-recorded" },
  mixes: cases.fresh.withRecordedRuns.map((seed) => mixOf(seed, true)),
};

const isSameCase = (one: PartRow, other: PartRow): boolean =>
  one.mix === other.mix && one.load === other.load && one.system === other.system;

/** Races all systems on the mixes. Rows are written load by load, and with `WEIR_BENCH_KEPT=1` those of an earlier run are not run again. */
async function race({ file, mixes }: RacedMixes): Promise<readonly PartRow[]> {
  const kept = keptRows<PartRow>(file) ?? [];
  const races: MixRace[] = [];
  for (const mix of mixes) {
    const begun = performance.now();
    const before = races.flatMap((one) => one.rows);
    const onRows = (own: readonly PartRow[]): void => {
      const rows = [...before, ...own];
      writeRows(file, [...rows, ...kept.filter((row) => !rows.some((other) => isSameCase(row, other)))]);
      process.stderr.write(`${mix.name}, load ${own.at(-1)?.load}: ${((performance.now() - begun) / 1000).toFixed(0)} s\n`);
    };
    races.push(await raceMix(mix, cases, { kept, onRows }));
    const rows = races.flatMap((one) => one.rows);
    writeTables(file, [mixTable(races), matrixTable(rows), termsTable(rows)]);
    writeTables(`${file}-figures`, [figuresTable(rows)]);
  }
  return races.flatMap((one) => one.rows);
}

/** The weight of others' delay on the tuning mixes. */
async function weighed(): Promise<Measurement> {
  const { mixes, seeds, delayWeights } = cases.tuning;
  const races: MixRace[] = [];
  for (const seed of mixes) {
    races.push(
      await raceMix(
        mixOf(seed),
        { ...cases, seeds },
        {
          choose: (parts) => {
            const joint = jointSystems(parts).find(({ name }) => name === "joint");
            if (joint?.policy.kind !== "just-in-time") throw new Error("There is no joint policy among the systems.");
            const { policy } = joint;
            return delayWeights.map((weight) => ({ ...joint, name: `${weight}`, policy: { ...policy, selection: worthOf(weight) } }));
          },
        },
      ),
    );
  }
  const rows = races.flatMap((one) => one.rows);
  const { text, best } = weightTable(rows);
  writeTables("joint-weights", [text]);
  return {
    figure: best,
    unit: "weight",
    detail: `with the least mean latency over ${mixes.length} mixes that are not measured, loads of ${cases.loads.join(", ")} and ${seeds.length} seeds, of ${delayWeights.join(", ")}`,
  };
}

const skipped: Benchmark = {
  ...{ name: WITH_RUNS.name, budget: null },
  run: () => ({ figure: Number.NaN, unit: "% of the cases", detail: "skipped: recorded runs of agents are missing" }),
};

/** The joint policy against the best system alone and the best pair, on mixes that are raced once for all four figures. */
function against(raced: RacedMixes): readonly Benchmark[] {
  const rows = once(() => race(raced));
  return (["meanSeconds", "p95Seconds"] as const).flatMap((figure) => {
    const of = figure === "meanSeconds" ? "mean" : "p95";
    return ([ALONE, PAIRS] as const).map((others) => ({
      name: `${raced.name}: ${of} latency, a tenth below the best ${others === ALONE ? "alone" : "pair"}`,
      budget: null,
      run: async () => tenthBelow(await rows(), others, figure),
    }));
  });
}

/** The joint policy against each system alone, and against the best pairs, on mixes that nothing was tuned on; and in a live gateway. */
export const jointBenchmarks: readonly Benchmark[] = dataPresent()
  ? [{ name: "joint policy: weight of others' delay", budget: null, run: weighed }, ...against(MEASURED), ...jointLiveBenchmarks]
  : [];

/** The same on mixes of which no rule and no setting has seen a figure. */
export const jointFreshBenchmarks: readonly Benchmark[] = dataPresent() ? against(FRESH) : [];

/** The same on mixes with recorded runs of agents; where these are missing, one line that says so. */
export const jointRecordedBenchmarks: readonly Benchmark[] = dataPresent() ? (agentRunsPresent() ? against(WITH_RUNS) : [skipped]) : [];
