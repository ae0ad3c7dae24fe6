import { mean } from "@/solver/numeric/quantile";
import { cascadiaBenchmarks } from "../cascadia/cascadia";
import { type CascadiaLadder, cascadiaCases } from "../cascadia/cases";
import type { RaceRow } from "../cascadia/race";
import { type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { distinct, ratioOf, type SeedPair } from "../lib/bySeed";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { keptOrRun, type RunRows } from "./keptOrRun";

/** What two systems are compared by; the first of the two is the one that divides. */
const metrics = {
  "highest rate": { of: ({ highest }: RaceRow) => [highest?.requestsPerSecond ?? null], better: "more" },
  "SLO scale": { of: ({ scales }: RaceRow) => scales.map((at) => at?.sloScale ?? null), better: "less" },
  cost: { of: ({ half }: RaceRow) => [half?.costUsdPerRequest ?? null], better: "less" },
} as const;

type Metric = keyof typeof metrics;
type Summary = "mean" | "most";

/** A ratio of the race of systems that are planned anew at every rate. */
interface Replanned {
  readonly metric: Metric;
  /** Weir is compared with each of them. */
  readonly systems: readonly string[];
  readonly summary: Summary;
  readonly ladders: readonly CascadiaLadder[];
}

/** As `npm run bench -- "Cascadia, re-planned"` names a ladder's race. */
const benchmarkOf = ({ name }: CascadiaLadder): string => `Cascadia, re-planned: ${name}`;

const races = new Map(cascadiaCases.ladders.map((ladder) => [ladder, once(() => raceOf(ladder))]));

/** The rows of a ladder's race; whole where every case has every seed. */
const raceOf = (ladder: CascadiaLadder): Promise<RunRows<RaceRow>> =>
  keptOrRun<RaceRow>({
    name: `cascadia-${ladder.family.toLowerCase()}`,
    isWhole: (rows) => distinct(rows.map((row) => `${row.case}|${row.seed}`)).length === ladder.cases.length * cascadiaCases.seeds.length,
    run: async () => cascadiaBenchmarks.find(({ name }) => name === benchmarkOf(ladder))?.run(),
  });

/**
 * Weir against a system by case, and by rate where a metric has several: how many times better Weir is. Only where both have the figure under
 * every seed; a system that is overloaded has none.
 */
export function pairsOf(rows: readonly RaceRow[], system: string, metric: Metric): readonly SeedPair[] {
  const { of, better } = metrics[metric];
  return distinct(rows.map((row) => row.case)).flatMap((name) => {
    const [weir, other] = ["Weir", system].map((one) => rows.filter((row) => row.case === name && row.system === one).map(of));
    return (weir?.[0] ?? []).flatMap((_, at) => {
      const [own, reference] = [weir, other].map((seeds) => (seeds ?? []).flatMap((values) => values[at] ?? []));
      if (own?.length !== weir?.length || reference?.length !== own?.length || own === undefined || reference === undefined) return [];
      return [better === "more" ? { own, reference } : { own: reference, reference: own }];
    });
  });
}

async function measured({ metric, systems, summary, ladders }: Replanned): Promise<Measurement> {
  const read: RunRows<RaceRow>[] = [];
  for (const ladder of ladders) read.push((await races.get(ladder)?.()) ?? { rows: [], source: "no rows" });
  const rows = read.flatMap((own) => own.rows);
  const pairs = systems.flatMap((system) => pairsOf(rows, system, metric));
  const ratios = pairs.map(({ own, reference }) => mean(own) / mean(reference));
  const most = Math.max(...ratios);
  const span = pairs.length === 0 ? "" : `, ${Math.min(...ratios).toFixed(2)} to ${most.toFixed(2)}`;
  const cases = `${pairs.length} comparisons in ${distinct(rows.map((row) => row.case)).length} cases`;
  return {
    ...(summary === "mean" ? overSeeds(ratioOf(pairs)) : { figure: pairs.length === 0 ? Number.NaN : most }),
    unit: "x",
    detail: `${metric}, how many times better Weir is than ${systems.join(" and ")}: ${cases}${span}; ${cascadiaCases.seeds.length} seeds, held-out prompts on an unseen part of the trace, engines perturbed by the seed; ${distinct(read.map(({ source }) => source)).join("; ")}`,
  };
}

/** The name of the benchmark of a ratio. */
export const replannedName = ({ metric, systems, summary, ladder }: Omit<Replanned, "ladders"> & { readonly ladder?: string }): string =>
  ["re-planned", metric, `over ${systems.join(" and ")}`, summary, ...(ladder === undefined ? [] : [ladder])].join(", ");

/** The smallest model that meets the floor, alone on all GPUs: the source's stand-alone model. */
export const STAND_ALONE = "Sarathi-Serve";
export const CASCADE_SERVE = "CascadeServe";
export const ROUTER = "trained router";

/** The ladder that is also compared alone. */
const [LLAMA] = cascadiaCases.ladders;

const ratios: readonly Benchmark[] = (["mean", "most"] as const).flatMap((summary) => [
  ...(["highest rate", "SLO scale", "cost"] as const).flatMap((metric) =>
    [STAND_ALONE, CASCADE_SERVE, ROUTER].map((system): Benchmark => {
      const own = { metric, systems: [system], summary };
      return { name: replannedName(own), budget: null, run: () => measured({ ...own, ladders: cascadiaCases.ladders }) };
    }),
  ),
  ...[LLAMA].flatMap((ladder): Benchmark[] => {
    if (ladder === undefined) return [];
    const own = { metric: "SLO scale", systems: [STAND_ALONE, CASCADE_SERVE], summary } as const;
    return [{ name: replannedName({ ...own, ladder: "Llama" }), budget: null, run: () => measured({ ...own, ladders: [ladder] }) }];
  }),
]);

/** Ratios of the race over all ladders, and of SLO scales over the Llama ladder alone; none without the data. */
export const replannedBenchmarks: readonly Benchmark[] = dataPresent() ? ratios : [];
