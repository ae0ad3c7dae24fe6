import { loadHighsEngine } from "@/server/planning/ensembles/highsEngine";
import type { TimedSchedule } from "@/solver/ensemble/placement/timeSchedule";
import { simulatedSessionCost } from "@/solver/ensemble/sessions/sessionCost";
import { type SeedEstimate, seedEstimate } from "@/solver/lab/overSeeds";
import { type Benchmark, type Measurement, overSeeds as seeded } from "../lib/benchmark";
import { writeRows, writeTables } from "../lib/results";
import { estimate, ratio, table } from "../lib/tables";
import { aggregatedSeconds } from "./aggregated";
import { type CostWay, LINEAR, SCALED, WAYS } from "./costWays";
import { drawnLengths, engineOf } from "./drawnSessions";
import {
  aggregatorLengths,
  measuredInstance,
  measuredTable,
  measuredWholeTable,
  optimalities,
  replicasText,
  TRUTH_SEEDS,
  timesFaster,
  timesFasterWhole,
} from "./measuredInstances";
import { onlineEnsembleBenchmarks } from "./online";
import { KNOWN_SEED } from "./perturbedEngines";
import { type RacedSchedules, raceSchedules } from "./placedInstances";
import { mmluPro, type SourceInstance, sourceExperts, sourceInstances } from "./sourceInstances";
import { poolSeconds, sourcePools } from "./sourcePools";

const SEEDS = [1, 2, 3];

/** Among the aggregator's answers to split questions, the share that does not terminate, in the second way of timing it. */
const RUN_ON = 0.03;

const overSeeds = (of: (seed: number) => number): SeedEstimate | null => seedEstimate(SEEDS.map(of));

/** Every way on one instance, seed by seed; made once. */
const raced = new Map<string, RacedSchedules>();
async function racedOf(way: CostWay, instance: SourceInstance): Promise<(seed: number) => RacedSchedules> {
  const engine = await loadHighsEngine();
  return (seed) => {
    const key = `${way.name}, ${instance.name}, seed ${seed}`;
    const found = raced.get(key) ?? raceSchedules(way.experts(instance, way.scale(instance, seed), seed), engine);
    raced.set(key, found);
    return found;
  };
}

const speedUp = ({ roundRobin }: RacedSchedules, over: TimedSchedule): number => roundRobin.makespanSeconds / over.makespanSeconds;
const whole = (of: SeedEstimate | null): string => estimate(of && rounded(of, Math.round), 4);
const times = (of: SeedEstimate | null): string => ratio(of && rounded(of, (value) => Number(value.toFixed(2))));

/** Where all seeds have the same value there is no interval to show. */
function rounded({ value, low, high, seeds }: SeedEstimate, round: (value: number) => number): SeedEstimate {
  const [least, most] = [low && round(low), high && round(high)];
  return least === most ? { value: round(value), low: null, high: null, seeds } : { value: round(value), low: least, high: most, seeds };
}

async function expertTable(instance: SourceInstance): Promise<string> {
  const { expertStage } = instance;
  const rows: (readonly string[])[] = [];
  for (const way of WAYS) {
    const of = await racedOf(way, instance);
    const [first] = SEEDS.map(of);
    const scale = overSeeds((seed) => way.scale(instance, seed));
    const idle = (read: (one: RacedSchedules) => TimedSchedule): number =>
      Math.round(100 * (overSeeds((seed) => read(of(seed)).idle)?.value ?? 0));
    rows.push([
      scale?.value === 1 ? way.name : `${way.name}: x ${times(scale)}`,
      whole(overSeeds((seed) => of(seed).roundRobin.makespanSeconds)),
      whole(overSeeds((seed) => of(seed).dataConcurrent.makespanSeconds)),
      whole(overSeeds((seed) => of(seed).listScheduling.makespanSeconds)),
      whole(overSeeds((seed) => of(seed).placed.makespanSeconds)),
      times(overSeeds((seed) => speedUp(of(seed), of(seed).placed))),
      `${idle((one) => one.roundRobin)} -> ${idle((one) => one.placed)}`,
      first?.replicas
        .map((replicas, at) => (replicas > 1 ? `${sourceExperts[at]?.name} ${replicas}` : ""))
        .filter(Boolean)
        .join(", ") || "one each",
    ]);
  }
  rows.push(["**source**", `${expertStage.roundRobin}`, "-", "-", `${expertStage.placed}`, `${expertStage.speedUp}`, "-", "-"]);
  return table(
    [
      "cost of sessions",
      "round-robin s",
      "data-concurrent s",
      "list scheduling s",
      "placed s",
      "times round-robin",
      "idle %",
      "on several workers",
    ],
    rows,
  );
}

const lengthsOf = (instance: SourceInstance, seed: number, runOn: number): Parameters<typeof aggregatedSeconds>[1] =>
  aggregatorLengths(instance, { scale: SCALED.scale(instance, seed), seed, runOn });

/** The instance planned with one profile and measured on hidden engines. */
const measuredOf = (instance: SourceInstance) => measuredInstance(instance, SCALED.scale(instance, KNOWN_SEED));

async function endToEnd(instance: SourceInstance, runOn: number): Promise<readonly string[]> {
  const of = await racedOf(SCALED, instance);
  const aggregated = (seed: number) => aggregatedSeconds(instance, lengthsOf(instance, seed, runOn));
  const before = (seed: number): number => of(seed).roundRobin.makespanSeconds + aggregated(seed).always;
  const after = (seed: number): number => of(seed).placed.makespanSeconds + aggregated(seed).gated;
  const own = instance.aggregator;
  return [
    ...[instance.name, runOn === 0 ? "all answers end" : `${100 * runOn} % of answers to split questions run on`],
    ...[whole(overSeeds((seed) => aggregated(seed).always)), whole(overSeeds((seed) => aggregated(seed).gated))],
    times(overSeeds((seed) => aggregated(seed).always / aggregated(seed).gated)),
    ...[whole(overSeeds(before)), whole(overSeeds(after)), times(overSeeds((seed) => before(seed) / after(seed)))],
    times(overSeeds((seed) => (of(seed).roundRobin.makespanSeconds + own.always) / (of(seed).placed.makespanSeconds + own.gated))),
  ];
}

async function instanceMeasurement(instance: SourceInstance): Promise<Measurement> {
  const measured = await measuredOf(instance);
  const own = timesFaster(measured, "roundRobin");
  const of = await racedOf(SCALED, instance);
  const engine = await loadHighsEngine();
  const swept = SEEDS.map((seed) => raceSchedules(SCALED.experts(instance, SCALED.scale(instance, seed), seed), engine, null));
  const sweptTimes = seedEstimate(swept.map((one) => speedUp(one, one.placed)));
  const linear = (await racedOf(LINEAR, instance))(1);
  const unhidden = overSeeds((seed) => speedUp(of(seed), of(seed).placed));
  return {
    ...seeded(own),
    unit: "times round-robin's expert stage",
    detail: `${instance.expertStage.speedUp} in the source; ${times(own)} planned with a profile and measured on hidden engines, ${TRUTH_SEEDS.length} seeds, K 2, workers ${replicasText(measured)}; data-concurrent ${times(timesFaster(measured, "dataConcurrent"))} and list scheduling ${times(timesFaster(measured, "listScheduling"))} times as long as placed; ${optimalities(measured)}; timed by the planner's own cost ${times(unhidden)} over three seeds, K swept ${times(sweptTimes)} at K ${swept.map(({ maxModelsPerWorker }) => maxModelsPerWorker).join(", ")}; with MMLU-Pro's constant seconds a prompt ${speedUp(linear, linear.placed).toFixed(2)}, ${linear.placed.makespanSeconds.toFixed(2)} s, bound ${linear.lowerBoundSeconds.toFixed(2)} s`,
  };
}

/** How many times faster an instance is when experts are placed and the aggregator is gated, all of its answers ending, measured. */
const endToEndTimes = async (instance: SourceInstance): Promise<SeedEstimate | null> => timesFasterWhole(await measuredOf(instance));

async function endToEndMeasurement(): Promise<Measurement> {
  const measured = [];
  for (const instance of sourceInstances) measured.push(await measuredOf(instance));
  const parts: string[] = [
    `**Planned with a profile, measured on hidden engines, ${TRUTH_SEEDS.length} seeds**`,
    ...[measuredTable(measured), measuredWholeTable(measured)],
  ];
  for (const instance of sourceInstances) parts.push(`**${instance.name}**`, await expertTable(instance));
  const rows: (readonly string[])[] = [];
  for (const instance of sourceInstances) {
    for (const runOn of [0, RUN_ON]) rows.push(await endToEnd(instance, runOn));
    const { aggregator, endToEnd: own } = instance;
    rows.push([
      ...[instance.name, "**source**", `${aggregator.always}`, `${aggregator.gated}`, `${aggregator.speedUp}`],
      ...[`${own.roundRobin}`, `${own.placed}`, `${own.speedUp}`, "-"],
    ]);
  }
  const header = [
    "",
    "aggregator",
    "always s",
    "gated at 2/3 s",
    "times",
    "whole, round-robin s",
    "whole, placed and gated s",
    "times",
    "times with the source's aggregator",
  ];
  parts.push("**End to end**", table(header, rows));
  writeTables("ensemble-instances", parts);
  writeRows(
    "ensemble-instances",
    [...raced].map(([key, { roundRobin, dataConcurrent, listScheduling, placed, replicas, lowerBoundSeconds }]) => ({
      ...{ key, roundRobin: roundRobin.makespanSeconds, dataConcurrent: dataConcurrent.makespanSeconds },
      ...{ listScheduling: listScheduling.makespanSeconds, placed: placed.makespanSeconds, replicas, lowerBoundSeconds },
    })),
  );
  const each = rows.filter(([, way]) => way !== "**source**").map(([name, way, , , , , , ratioText]) => `${name}, ${way}: ${ratioText}`);
  const mmlu = await endToEndTimes(mmluPro);
  return {
    ...seeded(mmlu),
    unit: "times, MMLU-Pro",
    detail: `1.71, 2.04 and 2.34 in the source; measured on hidden engines ${measured.map((one) => `${one.instance.name} ${times(timesFasterWhole(one))}`).join(", ")}; timed by the planner's own cost, three seeds: ${each.join("; ")}`,
  };
}

/** Throughput loss of a quarter of a model's prompts. */
function shards(): Measurement {
  const lost = sourceExperts.map(({ name, card, meanTokens, spread }, at) => {
    const prompts = mmluPro.prompts[at] ?? 0;
    const each = SEEDS.map((seed) => {
      const cost = simulatedSessionCost(engineOf(card), drawnLengths({ name, meanTokens, spread, seed }), {
        mostPrompts: prompts,
        concurrency: null,
      });
      return 100 * (1 - cost(prompts) / 4 / cost(prompts / 4));
    });
    return { name, prompts, lost: each.reduce((sum, one) => sum + one, 0) / each.length };
  });
  const short = lost.filter(({ name }) => ["Qwen", "Exaone", "GLM"].includes(name));
  return {
    figure: short.reduce((sum, one) => sum + one.lost, 0) / short.length,
    unit: "% lower throughput of a quarter shard",
    detail: `Qwen, Exaone and GLM, 40 to 60 % in the source; ${lost.map((one) => `${one.name} ${Math.round(one.prompts / 4)} of ${one.prompts} prompts ${one.lost.toFixed(0)} %`).join(", ")}; simulated, lognormal lengths`,
  };
}

function pools(at: number): Measurement {
  const pool = sourcePools[at];
  if (pool === undefined) throw new Error(`there is no pool ${at}`);
  const each = SEEDS.map((seed) => poolSeconds(pool, seed));
  const of = (read: (one: (typeof each)[number]) => number): SeedEstimate | null => seedEstimate(each.map(read));
  return {
    ...seeded(of((one) => one.roundRobin.mean / one.dataConcurrent)),
    unit: "times faster, data-concurrent than round-robin",
    detail: `${(pool.source.roundRobin / pool.source.dataConcurrent).toFixed(2)} in the source (${pool.source.roundRobin} and ${pool.source.dataConcurrent} s); ${whole(of((one) => one.roundRobin.mean))} and ${whole(of((one) => one.dataConcurrent))} s, round-robin in the mean over all orders of the models, ${Math.round(each[0]?.roundRobin.least ?? 0)} to ${Math.round(each[0]?.roundRobin.most ?? 0)} s; faster in ${Math.round(100 * (each[0]?.faster ?? 0))} % of the orders`,
  };
}

export const ensembleBenchmarks: readonly Benchmark[] = [
  ...sourceInstances.map((instance) => ({
    name: `ensemble instances, ${instance.name}`,
    budget: null,
    run: () => instanceMeasurement(instance),
  })),
  { name: "ensemble instances, end to end", budget: null, run: endToEndMeasurement },
  { name: "ensemble instances, small shards", budget: null, run: shards },
  ...onlineEnsembleBenchmarks,
  ...sourcePools.map(({ name }, at) => ({ name: `ensemble instances, ${name}`, budget: null, run: () => pools(at) })),
];

/** Figures of single instances that the source has, of the same simulations; `weir reproduce` shows them. */
export const mosaicSourceFigures: readonly Benchmark[] = sourceInstances.flatMap((instance): Benchmark[] => [
  {
    name: `ensemble instances, end to end, ${instance.name}`,
    budget: null,
    run: async () => ({
      ...seeded(await endToEndTimes(instance)),
      unit: "times faster",
      detail: "placed and gated at 2/3 over round-robin and always aggregated, all of the aggregator's answers ending",
    }),
  },
  {
    name: `ensemble instances, aggregator, ${instance.name}`,
    budget: null,
    run: () => ({
      ...seeded(
        overSeeds((seed) => {
          const { always, gated } = aggregatedSeconds(instance, lengthsOf(instance, seed, 0));
          return always / gated;
        }),
      ),
      unit: "times faster",
      detail: "gated at 2/3 over always, all of the aggregator's answers ending; loading included",
    }),
  },
]);
