import { mean } from "@/solver/numeric/quantile";
import { agentRunsPresent } from "../lib/agentRuns";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { keptRows, writeRows, writeTables } from "../lib/results";
import { ALL_TERMS, allTermsSystems, LEFT_OUT } from "./allTerms";
import cases from "./cases.json" with { type: "json" };
import { jointLiveBenchmarks } from "./live";
import { type Mix, mixOf } from "./mixes";
import { type MixRace, type PartRow, raceMix } from "./race";
import { ALONE, BY_WORKFLOW, JOINT, jointSystems, PAIRS, VARIANTS, worthOf } from "./systems";
import { figuresTable, highestLoadTable, matrixTable, mixTable, noiseTable, promisesTable, tenthBelow, termsTable } from "./tables";
import { weightTable } from "./weights";

/** Mixes that are raced together: the name of their rows and tables, and of their benchmarks. */
interface RacedMixes {
  readonly name: string;
  readonly file: string;
  readonly mixes: readonly Mix[];
  readonly loads: readonly number[];
  /** Whether the joint policy's variants are raced too. */
  readonly ablated: boolean;
}

const MIXES: RacedMixes = {
  ...{ name: "joint policy, mixes", file: "joint", loads: cases.loads, ablated: true },
  mixes: cases.mixes.map((seed) => mixOf(seed)),
};
const UNSEEN: RacedMixes = {
  ...{ name: "joint policy, unseen mixes", file: "joint-unseen", loads: cases.unseen.loads, ablated: false },
  mixes: cases.unseen.mixes.map((seed) => mixOf(seed)),
};
const WITH_RUNS: RacedMixes = {
  ...{ name: "joint policy, recorded runs", file: "joint-recorded", loads: cases.recordedLoads, ablated: false },
  mixes: cases.withRecordedRuns.map((seed) => mixOf(seed, true)),
};

const isSameCase = (one: PartRow, other: PartRow): boolean =>
  one.mix === other.mix && one.load === other.load && one.system === other.system;

/** One variant is raced everywhere: which parts it helps depends on the mix. */
const isVariant = (name: string): boolean => name !== BY_WORKFLOW && Object.values(VARIANTS).some((own) => own === name);

interface Raced extends Omit<RacedMixes, "ablated">, Pick<NonNullable<Parameters<typeof raceMix>[2]>, "choose"> {
  readonly seeds?: readonly number[];
  /** Called after each mix. */
  readonly onMix?: (races: readonly MixRace[]) => void;
}

/** Races systems on mixes. Rows are written load by load, and with `WEIR_BENCH_KEPT=1` those of an earlier run are not run again. */
async function race({ file, mixes, choose, onMix, loads, seeds = cases.seeds }: Raced): Promise<readonly PartRow[]> {
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
    races.push(await raceMix(mix, { loads, seeds, programs: cases.programs }, { kept, onRows, ...(choose && { choose }) }));
    onMix?.(races);
  }
  return races.flatMap((one) => one.rows);
}

/** Races all systems on the mixes, and the joint policy on other seeds; writes their tables after each mix. */
async function raceAll(raced: RacedMixes): Promise<readonly PartRow[]> {
  const { file, loads, ablated } = raced;
  const noise = await race({
    ...{ ...raced, file: `${file}-noise`, seeds: cases.otherSeeds },
    choose: (parts) => jointSystems(parts).filter(({ name }) => name === JOINT),
  });
  return race({
    ...{ ...raced, choose: (parts) => jointSystems(parts).filter(({ name }) => ablated || !isVariant(name)) },
    onMix(races) {
      const rows = races.flatMap((one) => one.rows);
      writeTables(file, [
        mixTable(races),
        matrixTable(rows, "meanSeconds"),
        matrixTable(rows, "p95Seconds"),
        promisesTable(rows),
        highestLoadTable(rows),
        termsTable(rows, { reference: JOINT, variants: ablated ? VARIANTS : { "by workflow, over time slots": BY_WORKFLOW }, loads }),
      ]);
      writeTables(`${file}-noise`, [noiseTable(rows, noise)]);
      writeTables(`${file}-figures`, [matrixTable(rows, "secondsPerToken"), figuresTable(rows)]);
    },
  });
}

/** All terms at once with learnt heads, each left out in turn, and the systems alone. */
async function allTerms(): Promise<Measurement> {
  const { loads } = cases.allTerms;
  const file = "joint-all-terms";
  const rows = await race({
    ...{ ...MIXES, file, loads, choose: allTermsSystems },
    onMix(races) {
      const own = races.flatMap((one) => one.rows);
      const variants = Object.fromEntries([JOINT, ...ALONE].map((name) => [name, name]));
      writeTables(file, [
        termsTable(own, { reference: ALL_TERMS, variants: LEFT_OUT, loads }),
        termsTable(own, { reference: ALL_TERMS, variants, loads }),
      ]);
      writeTables(`${file}-figures`, [figuresTable(own)]);
    },
  });
  const of = (system: string): readonly number[] =>
    rows.filter((row) => row.system === system && row.part === "all").map(({ meanSeconds }) => mean(meanSeconds));
  const [joint, all] = [of(JOINT), of(ALL_TERMS)];
  return {
    figure: Math.exp(mean(all.map((seconds, at) => Math.log(seconds / (joint[at] ?? Number.NaN))))),
    unit: "x",
    detail: `mean latency with all terms over that of the joint policy, both with learnt heads: geometric mean over ${all.length} cases, mixes at loads of ${loads.join(", ")}; ${cases.seeds.length} seeds`,
  };
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
  const rows = once(() => raceAll(raced));
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
  ? [{ name: "joint policy: weight of others' delay", budget: null, run: weighed }, ...against(MIXES), ...jointLiveBenchmarks]
  : [];

/** The joint policy with all its terms. */
export const jointAllTermsBenchmarks: readonly Benchmark[] = dataPresent()
  ? [{ name: "joint policy, all terms", budget: null, run: allTerms }]
  : [];

/** The same on mixes that were drawn after the last change of a rule. */
export const jointUnseenBenchmarks: readonly Benchmark[] = dataPresent() ? against(UNSEEN) : [];

/** The same on mixes with recorded runs of agents; where these are missing, one line that says so. */
export const jointRecordedBenchmarks: readonly Benchmark[] = dataPresent() ? (agentRunsPresent() ? against(WITH_RUNS) : [skipped]) : [];
