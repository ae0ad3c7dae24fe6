import { loadHighsEngine } from "@/server/planning/ensembles/highsEngine";
import { optimalityText } from "@/solver/ensemble/placement/optimality";
import { exponential, type SeedEstimate, seedEstimate } from "@/solver/lab/overSeeds";
import { estimate, ratio, table } from "../lib/tables";
import { type AggregatedSeconds, type AggregatorLengths, aggregatedSeconds } from "./aggregated";
import { type MeasuredRace, measuredRace } from "./perturbedEngines";
import { meanAnswerTokens, mmluPro, type SourceInstance, sourceExperts } from "./sourceInstances";

/** Seeds of calibration lengths, test lengths and hidden engines together. */
export const TRUTH_SEEDS: readonly number[] = Array.from({ length: 10 }, (_, at) => at + 1);

/** An instance under all seeds, measured. */
interface MeasuredInstance {
  readonly instance: SourceInstance;
  readonly seeds: readonly { readonly race: MeasuredRace; readonly aggregated: AggregatedSeconds }[];
}

const kept = new Map<string, MeasuredInstance>();

/** Plans and measures an instance under every seed; made once. @param scale of its answers relative to MMLU-Pro's. */
export async function measuredInstance(instance: SourceInstance, scale: number): Promise<MeasuredInstance> {
  const found = kept.get(instance.name);
  if (found !== undefined) return found;
  const engine = await loadHighsEngine();
  const seeds = TRUTH_SEEDS.map((seed) => ({
    race: measuredRace(instance, { scale, seed, engine }),
    aggregated: aggregatedSeconds(instance, { ...aggregatorLengths(instance, { scale, seed, runOn: 0 }), hiddenEngines: true }),
  }));
  const measured = { instance, seeds };
  kept.set(instance.name, measured);
  return measured;
}

/**
 * Mean answers that the aggregator reads and writes. It does not write answers as long as GPQA's reasoning ones: the source's 348 s show
 * that.
 */
export function aggregatorLengths(
  instance: SourceInstance,
  { scale, seed, runOn }: { readonly scale: number; readonly seed: number; readonly runOn: number },
): AggregatorLengths {
  const readTokens = scale * meanAnswerTokens(instance);
  return { readTokens, writtenTokens: Math.min(readTokens, meanAnswerTokens(mmluPro)), runOn, seed };
}

type Kind = "roundRobin" | "dataConcurrent" | "listScheduling" | "placed";

const over = ({ seeds }: MeasuredInstance, of: (one: MeasuredInstance["seeds"][number]) => number): SeedEstimate | null =>
  seedEstimate(seeds.map(of));
/** The geometric mean of the seeds' ratios: both answered the same prompts on the same engines under a seed. */
const ratios = (of: MeasuredInstance, read: (one: MeasuredInstance["seeds"][number]) => number): SeedEstimate | null => {
  const logarithms = over(of, (one) => Math.log(read(one)));
  return logarithms && exponential(logarithms);
};

const measuredSeconds = (race: MeasuredRace, kind: Kind): number => race[kind].measured.makespanSeconds;

/** How many times faster the placed experts are than a baseline, both measured. */
export const timesFaster = (of: MeasuredInstance, baseline: Exclude<Kind, "placed">): SeedEstimate | null =>
  ratios(of, ({ race }) => measuredSeconds(race, baseline) / measuredSeconds(race, "placed"));

/** How many times faster the whole is, placed and gated at tau 2/3, than round-robin and always aggregated. */
export const timesFasterWhole = (of: MeasuredInstance): SeedEstimate | null =>
  ratios(
    of,
    ({ race, aggregated }) =>
      (measuredSeconds(race, "roundRobin") + aggregated.always) / (measuredSeconds(race, "placed") + aggregated.gated),
  );

/** Seconds that the plan promised, over those measured. */
const plannedShare = (of: MeasuredInstance, kind: Kind): SeedEstimate | null =>
  ratios(of, ({ race }) => race[kind].plannedSeconds / measuredSeconds(race, kind));

/** The least sure of the seeds' placements, in one phrase. */
export function optimalities({ seeds }: MeasuredInstance): string {
  const all = seeds.map(({ race }) => race.optimality);
  const proven = all.filter((one) => one.proven).length;
  const widest = all.reduce((a, b) => (b.gap > a.gap ? b : a));
  return `${proven} of ${all.length} plans proven optimal under their own cost${proven === all.length ? "" : `, the widest gap ${optimalityText(widest)}`}`;
}

/** Workers of each expert under the first seed. */
export const replicasText = ({ seeds }: MeasuredInstance): string =>
  (seeds[0]?.race.replicas ?? []).map((count, at) => `${sourceExperts[at]?.name} ${count}`).join(", ");

const KINDS: readonly (readonly [Kind, string])[] = [
  ["roundRobin", "round-robin"],
  ["dataConcurrent", "data-concurrent"],
  ["listScheduling", "list scheduling"],
  ["placed", "placed"],
];

const seconds = (of: SeedEstimate | null): string => estimate(of, 4);

/** Every instance by each schedule, planned and measured, and the whole with the aggregator. */
export function measuredTable(all: readonly MeasuredInstance[]): string {
  return table(
    ["", "schedule", "planned s", "measured s", "planned over measured", "idle %", "times as long as placed"],
    all.flatMap((of) => [
      ...KINDS.map(([kind, name]) => [
        ...[of.instance.name, name, seconds(over(of, ({ race }) => race[kind].plannedSeconds))],
        seconds(over(of, ({ race }) => measuredSeconds(race, kind))),
        ratio(plannedShare(of, kind)),
        estimate(
          over(of, ({ race }) => 100 * race[kind].measured.idle),
          2,
        ),
        kind === "placed" ? "1" : ratio(timesFaster(of, kind)),
      ]),
      [
        ...[of.instance.name, "**source**, round-robin and placed", "-"],
        ...[`${of.instance.expertStage.roundRobin} and ${of.instance.expertStage.placed}`, "-", "-", `${of.instance.expertStage.speedUp}`],
      ],
    ]),
  );
}

/** Aggregator and whole on hidden engines. */
export function measuredWholeTable(all: readonly MeasuredInstance[]): string {
  return table(
    ["", "always aggregated s", "gated at 2/3 s", "whole, round-robin s", "whole, placed and gated s", "times", "source: times"],
    all.map((of) => [
      of.instance.name,
      seconds(over(of, ({ aggregated }) => aggregated.always)),
      seconds(over(of, ({ aggregated }) => aggregated.gated)),
      seconds(over(of, ({ race, aggregated }) => measuredSeconds(race, "roundRobin") + aggregated.always)),
      seconds(over(of, ({ race, aggregated }) => measuredSeconds(race, "placed") + aggregated.gated)),
      ratio(timesFasterWhole(of)),
      `${of.instance.endToEnd.speedUp}`,
    ]),
  );
}
