import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ComparedMean, comparedMeans } from "@/server/planning/compare/comparedMeans";
import { type ComparedCase, compareSystems } from "@/server/planning/compare/compareSystems";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { mean } from "@/solver/numeric/quantile";
import type { Workload } from "@/solver/workload/workload";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent, workloadOf } from "../lib/compareData";
import { once } from "../lib/once";
import { resultsFolder } from "../lib/results";
import { table } from "../lib/tables";
import { trainedOutcomes } from "../lib/trainedScores";

const LADDERS = [
  { family: "Llama-3.1-Instruct", tasks: ["gsm", "crux"] },
  { family: "Gemma-2-it", tasks: ["gsm", "crux"] },
  { family: "Qwen2.5-Instruct", tasks: ["crux"] },
];

/** Floors, as shares of the way from the smallest model's quality to the largest's, rounded down to whole points. */
const FLOORS = [0.5, 0.75, 0.9];

/** Reliability of the judge: the default of an unmeasured one, and the source's own setting, where one score gates and counts. */
const JUDGES = [0.8, 1];

/** The deadline for the highest throughput, in bases: about the time of the slowest cascade at the compared rate. */
const SLO_SCALE = 5;

interface Compared {
  readonly judgeAuc: number;
  readonly cases: readonly ComparedCase[];
  readonly means: readonly ComparedMean[];
}

/** All ladders under both judges. Writes every figure to bench/results/compare.json. */
const compared = once(async (): Promise<readonly Compared[]> => {
  const engine = await loadGlpkEngine();
  const all: Compared[] = [];
  for (const judgeAuc of JUDGES) {
    const cases: ComparedCase[] = [];
    for (const ladder of LADDERS) {
      const workload = await workloadOf({ ...ladder, judgeAuc });
      const nodes = [1, 2, 3, 4].map((node) => ({ name: `node${node}`, gpus: 8 }));
      cases.push(
        ...compareSystems({
          situation: {
            workload,
            workloadId: workloadHash(workload),
            cluster: { id: "bench", name: "bench", kind: "described", gpu: "h100-sxm", nodes, usdPerGpuHour: 2.67 },
          },
          floors: floorsOf(workload),
          trained: await trainedOutcomes(workload),
          rate: { kind: "load", least: 0.6, most: 0.9 },
          sloScale: SLO_SCALE,
          requests: 10_000,
          // bench/cascadia plans every system for every rate, with seeds.
          replan: false,
          engine,
          progress: (line) => process.stderr.write(`${line}\n`),
        }),
      );
    }
    all.push({ judgeAuc, cases, means: comparedMeans(cases) });
  }
  writeFileSync(join(resultsFolder(), "compare.json"), `${JSON.stringify({ sloScale: SLO_SCALE, all }, null, 2)}\n`);
  for (const { judgeAuc, means, cases } of all)
    process.stderr.write(`\njudge at AUC ${judgeAuc}\n\n${meansTable(means)}\n\n${casesTable(cases)}`);
  return all;
});

function floorsOf({ outcomes }: Workload): number[] {
  const qualities = outcomes.models.map(({ label }) => mean(label));
  const [smallest, largest] = [qualities[0] ?? 0, qualities.at(-1) ?? 100];
  return FLOORS.map((share) => Math.floor(smallest + share * (largest - smallest)));
}

const times = (ratio: number | null): string => (ratio === null ? "-" : `${ratio.toFixed(2)}x`);

const meansTable = (means: readonly ComparedMean[]): string =>
  table(
    ["against", "cases", "keeps up in", "SLO scale where it keeps up", "SLO scale in all", "throughput (cases)", "floor held"],
    means.map(({ kind, cases, keepsUp, sloScale, sloScaleOfRun, throughput, throughputCases, heldFloor }) => [
      ...[kind, String(cases), String(keepsUp), times(sloScale), times(sloScaleOfRun)],
      ...[`${times(throughput)} (${throughputCases})`, `${heldFloor} of ${cases}`],
    ]),
  );

/** One row per case: Weir's own figures, then each baseline's SLO scale and highest rate. */
function casesTable(cases: readonly ComparedCase[]): string {
  const kinds = [
    "Weir",
    "stand-alone",
    "CascadeServe",
    "uniform parallelism",
    "uniform allocation",
    "trained router",
    "router",
    "oracle router",
  ];
  return table(
    ["case", "requests/s", ...kinds],
    cases.map(({ workload, floor, requestsPerSecond, systems }) => {
      const cells = kinds.map((kind) => {
        const own = systems.find((system) => system.kind === kind);
        if (own === undefined) return "-";
        const scale = own.busiestLoad < 1 ? own.sloScale.toFixed(2) : "overloaded";
        return `${scale}, ${own.highestRequestsPerSecond.toFixed(0)}/s`;
      });
      return [`${workload}, ${floor}`, requestsPerSecond.toFixed(0), ...cells];
    }),
  );
}

async function figure(kind: string, metric: "sloScale" | "throughput"): Promise<Measurement> {
  const [usual, oracle] = await compared();
  const own = usual?.means.find((one) => one.kind === kind);
  const other = oracle?.means.find((one) => one.kind === kind);
  const cases = metric === "sloScale" ? own?.keepsUp : own?.throughputCases;
  return {
    figure: own?.[metric] ?? Number.NaN,
    unit: "x",
    detail: `mean of ${cases} of ${own?.cases} cases: 3 ladders, 3 floors, 32 x h100-sxm, judge at AUC 0.8, measured on prompts nobody planned on; with an oracle judge ${times(other?.[metric] ?? null)}`,
  };
}

/** The largest ratio over the cases behind the mean: for the SLO scale those in which the baseline is not overloaded. */
async function most(kind: string, metric: "sloScale" | "throughput"): Promise<Measurement> {
  const [usual] = await compared();
  const own = (usual?.cases ?? []).flatMap(({ systems }) => systems.filter((system) => system.kind === kind));
  const ratios = own.flatMap(({ busiestLoad, against }) => {
    const ratio = against[metric] ?? Number.NaN;
    return Number.isFinite(ratio) && (metric === "throughput" || busiestLoad < 1) ? [ratio] : [];
  });
  return {
    figure: ratios.length === 0 ? Number.NaN : Math.max(...ratios),
    unit: "x",
    detail: `the most of the ${ratios.length} cases behind the mean`,
  };
}

const FIGURES = [
  { kind: "stand-alone", metric: "sloScale", name: "SLO scale of stand-alone over Weir's" },
  { kind: "stand-alone", metric: "throughput", name: "throughput of Weir over stand-alone's" },
  { kind: "CascadeServe", metric: "sloScale", name: "SLO scale of CascadeServe over Weir's" },
  { kind: "CascadeServe", metric: "throughput", name: "throughput of Weir over CascadeServe's" },
  { kind: "uniform parallelism", metric: "sloScale", name: "SLO scale of uniform parallelism over Weir's" },
  { kind: "uniform allocation", metric: "sloScale", name: "SLO scale of uniform allocation over Weir's" },
  { kind: "trained router", metric: "sloScale", name: "SLO scale of a trained router over Weir's" },
  { kind: "trained router", metric: "throughput", name: "throughput of Weir over a trained router's" },
] as const;

/** Weir against the baselines of its source on real outcomes and arrivals; none where the data is missing. */
export const compareBenchmarks: readonly Benchmark[] = dataPresent()
  ? FIGURES.flatMap(({ kind, metric, name }) => [
      { name, budget: null, run: () => figure(kind, metric) },
      { name: `${name}, at most`, budget: null, run: () => most(kind, metric) },
    ])
  : [];
