import { formatCount, formatCounted, formatPercent, formatSeconds } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { EnsemblePlacement, PlacedSchedule } from "@/server/contracts/studio";
import { optimalityText } from "@/solver/ensemble/placement/optimality";
import { secondsAtShare } from "@/solver/ensemble/sessions/aggregatorStage";
import type { Baseline } from "../address/ensemblesCodec";
import { type GanttPicture, linesOfSchedule, prepareGantt, sinceStart } from "../gantt/prepareGantt";
import { scheduleNames } from "../gantt/scheduleNames";

export interface PlacedExpertRow {
  readonly model: string;
  readonly prompts: string;
  readonly perPrompt: string;
  readonly costWord: "measured" | "modelled";
  readonly costSource: string;
  readonly load: string;
  readonly loadWord: "measured" | "estimated";
  readonly loadSource: string;
  /** `3 of at most 8`. */
  readonly replicas: string;
  readonly tokens: string;
  /** The throughput that its shards lose, if any. */
  readonly shard: string;
  readonly says: string;
}

interface AggregatorRow {
  /** Of the questions that it answers. */
  readonly share: string;
  readonly seconds: string;
  /** Experts, the aggregator's load and its answers. */
  readonly whole: string;
}

export interface PlacementPicture {
  readonly gantt: GanttPicture | null;
  /** null: no baseline exists within the same limits. */
  readonly speedUp: { readonly value: string; readonly detail: string; readonly name: string } | null;
  readonly makespan: { readonly value: string; readonly detail: string };
  readonly loads: { readonly value: string; readonly detail: string };
  readonly idle: { readonly value: string; readonly detail: string };
  readonly experts: readonly PlacedExpertRow[];
  readonly sweep: readonly { readonly k: string; readonly makespan: string; readonly beside: string; readonly chosen: boolean }[];
  readonly bound: string;
  /** The aggregator's time after the experts; null: it fits the workers in no shape. */
  readonly aggregator: { readonly says: string; readonly rows: readonly AggregatorRow[] } | null;
  /** The baseline it is drawn with; null: none exists. */
  readonly baseline: Baseline | null;
  /** Baselines that exist. */
  readonly baselines: readonly Baseline[];
}

const times = (ratio: number): string => `${ratio.toFixed(2)} ×`;

/** Times that differ by less count as the same. */
const NO_MATTER = 0.005;

function boundText({ makespanSeconds, lowerBoundSeconds, engine, seconds, by, ...known }: EnsemblePlacement["solved"]): string {
  const phrase = optimalityText({ ...known, by });
  const bound = `${formatSeconds(makespanSeconds)} against a bound of ${formatSeconds(lowerBoundSeconds)}`;
  return `The placement is ${phrase}. It takes ${bound}, found in ${formatSeconds(seconds)}${by === "milp" ? ` by ${engine}` : ""}.`;
}

/** Shares of questions for which the aggregator's time is shown. */
const SHARES_TOLD = [0, 0.2, 0.4, 0.6, 0.8, 1] as const;

function aggregatorOf({ aggregator }: EnsemblePlacement, expertsSeconds: number): PlacementPicture["aggregator"] {
  if (aggregator === null) return null;
  const { model, tp, copies, loadSeconds, points } = aggregator;
  return {
    says: `${formatCounted(copies, "engine")} of ${model} on ${formatCounted(tp, "GPU")} ${copies === 1 ? "" : "each "}after the experts, loaded in ${formatSeconds(loadSeconds)}.`,
    rows: SHARES_TOLD.map((share) => {
      const seconds = secondsAtShare(points, share);
      // For no questions nothing is loaded.
      const whole = expertsSeconds + (share === 0 ? 0 : loadSeconds + seconds);
      return { share: formatPercent(share), seconds: sinceStart(seconds), whole: formatSeconds(whole) };
    }),
  };
}

/** Default baseline: data-concurrent if round-robin leaves workers without any expert, because no operator would run that. */
function baselineOf({ schedules, experts }: EnsemblePlacement, named: Baseline | null): Baseline | null {
  const kinds = schedules.flatMap(({ kind }) => (kind === "placed" ? [] : [kind]));
  if (named !== null && kinds.includes(named)) return named;
  const workers = schedules[0]?.workers.length ?? 0;
  const spread = experts.length < workers ? kinds.find((kind) => kind === "data-concurrent") : undefined;
  return spread ?? kinds[0] ?? null;
}

/** A placement compared with a baseline: drawn, in figures, and in words. @param named null: a suitable one. */
export function preparePlacement(
  placement: EnsemblePlacement,
  named: Baseline | null,
  identities: ReadonlyMap<string, ModelIdentity>,
): PlacementPicture {
  const after = placement.schedules.find(({ kind }) => kind === "placed");
  const others = placement.schedules.flatMap(({ kind }) => (kind === "placed" ? [] : [kind]));
  const baseline = baselineOf(placement, named);
  const before = placement.schedules.find(({ kind }) => kind === baseline);
  const word = placement.experts.some(({ cost }) => cost.kind === "modelled") ? "modelled" : "estimated";
  const drawn = (schedule: PlacedSchedule, when: string) => ({
    ...{ key: schedule.kind, title: `${when}: ${scheduleNames[schedule.kind]}`, word, idle: schedule.idle },
    lines: linesOfSchedule(schedule),
  });
  const beforeName = before === undefined ? "" : scheduleNames[before.kind];
  const ratio = after === undefined || before === undefined ? null : before.makespanSeconds / after.makespanSeconds;
  const instead = (text: string): string => (before === undefined ? "" : `${text} ${beforeName}`);
  const least = placement.sweep.reduce((best, { makespanSeconds }) => Math.min(best, makespanSeconds), Number.POSITIVE_INFINITY);
  return {
    gantt: prepareGantt(
      [...(before === undefined ? [] : [drawn(before, "Before")]), ...(after === undefined ? [] : [drawn(after, "After")])],
      identities,
    ),
    speedUp:
      ratio === null || before === undefined
        ? null
        : {
            value: times(ratio),
            detail: `over ${beforeName}, experts alone`,
            name: ratio > 1 + NO_MATTER ? "Faster" : ratio < 1 - NO_MATTER ? "Slower" : "As fast",
          },
    makespan: { value: formatSeconds(after?.makespanSeconds), detail: instead(`${formatSeconds(before?.makespanSeconds)} by`) },
    loads: { value: formatCount(after?.loads), detail: instead(`${formatCount(before?.loads)} by`) },
    idle: { value: formatPercent(after?.idle), detail: instead(`${formatPercent(before?.idle)} by`) },
    experts: placement.experts.map((expert) => ({
      model: expert.model,
      prompts: formatCount(expert.prompts),
      perPrompt: formatSeconds(expert.secondsPerPrompt),
      ...{ costWord: expert.cost.kind, costSource: expert.cost.source },
      load: formatSeconds(expert.loadSeconds),
      ...{ loadWord: expert.load.kind, loadSource: expert.load.source },
      replicas: expert.prompts === 0 ? "none" : `${formatCount(expert.replicas)} of at most ${formatCount(expert.replicaCap)}`,
      tokens: `${formatCount(Math.round(expert.tokensPerSecond.whole))}/s`,
      shard: expert.tokensPerSecond.shard === null ? "" : `${formatCount(Math.round(expert.tokensPerSecond.shard))}/s a shard`,
      says: expert.says,
    })),
    sweep: placement.sweep.map(({ maxModelsPerWorker, makespanSeconds }) => ({
      k: formatCount(maxModelsPerWorker),
      makespan: formatSeconds(makespanSeconds),
      beside: makespanSeconds === least ? "least" : `+${formatPercent(makespanSeconds / least - 1)}`,
      chosen: maxModelsPerWorker === placement.maxModelsPerWorker,
    })),
    bound: `A worker has ${formatCounted(placement.maxModelsPerWorker, "model")} at most (K). ${boundText(placement.solved)}`,
    aggregator: aggregatorOf(placement, after?.makespanSeconds ?? 0),
    baseline,
    baselines: others,
  };
}
