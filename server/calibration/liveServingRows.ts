import type { EngineRows, LiveRows } from "@/server/contracts/studio/liveRows";
import type { SeriesRange } from "@/server/contracts/studio/seriesRange";
import { bucketWidth } from "@/server/series/bucketWidth";
import type { EngineQuantity } from "@/server/series/quantities";
import { rollUpSteps } from "@/server/series/rollUps";
import type { SeriesSource } from "@/server/series/seriesSource";
import { type LiveEngine, type LiveRow, liveRows, spreadRows } from "@/solver/calibration/liveRows";
import { type LiveHistory, type LiveSample, steadyWindows, type WindowRefusal, windowRefusals } from "@/solver/calibration/steadyWindows";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import type { EngineKind } from "@/solver/hardware/engineProfile";
import type { Precision } from "@/solver/hardware/modelCard";

/** An engine that is watched now. */
export interface WatchedEngine {
  readonly id: string;
  readonly model: string;
  readonly engine: { readonly type: string; readonly version: string | null } | null;
  /** How it was deployed; null if no plan in force states it. */
  readonly deployed: { readonly gpu: string; readonly tp: number; readonly pp: number; readonly precision: Precision } | null;
  /** Start of its known identity: earlier data is not used. */
  readonly knownSinceMs: number;
  readonly resetsMs: readonly number[];
}

/** A cluster whose telemetry is kept. */
export interface WatchedCluster {
  readonly name: string;
  readonly emulated: boolean;
  /** Engine seconds in a second of the wall. */
  readonly timeScale: number;
  /** Rates and means of its series cover this much wall time: no data is used for so long after a break. */
  readonly lookBackMs: number;
  readonly series: SeriesSource;
  readonly engines: readonly WatchedEngine[];
}

/** Samples read of an engine: an hour by the second, a day by 10 s, a week by the minute. */
const MOST_SAMPLES = 10_080;

/** Of time that is left out as a whole so many buckets are looked at. */
const HEARD_POINTS = 360;

/** Rows in all: each is simulated, by a fit some hundred times. */
const MOST_ROWS = 240;

/** Engine types whose work is known, as their metrics name them. */
const KINDS: Readonly<Record<string, EngineKind>> = { vllm: "vllm", "weir-emulator": "vllm", sglang: "sglang", "trtllm-serve": "trtllm" };

const NEEDED = [
  "running",
  "requestsPerSecond",
  "promptTokensPerSecond",
  "generationTokensPerSecond",
  "ttftMeanSeconds",
  "endToEndMeanSeconds",
] as const satisfies readonly EngineQuantity[];
const WELCOME = ["waiting", "preemptionsPerSecond", "prefixHitShare", "tpotMeanSeconds"] as const satisfies readonly EngineQuantity[];

/** Makes rows of measured runs from the telemetry of a cluster's engines between two times. */
export async function liveServingRows(
  cluster: WatchedCluster,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  cards: CardCatalogue,
): Promise<{ readonly rows: readonly LiveRow[]; readonly report: LiveRows }> {
  const problems = new Set<string>();
  const taken: { readonly engine: EngineRows; readonly rows: readonly LiveRow[] }[] = [];
  for (const watched of cluster.engines) {
    const shape = shapeOf(watched, cluster, cards);
    if (typeof shape === "string") {
      taken.push({ engine: { ...idle(watched), refusal: shape }, rows: [] });
      continue;
    }
    const { histories, problems: own } = await historiesOf(watched, cluster, { fromMs: Math.max(fromMs, watched.knownSinceMs), toMs });
    for (const problem of own) problems.add(problem);
    const cut = histories.map(steadyWindows);
    const windows = cut.flatMap((one) => one.windows);
    const leftOutSeconds = sumByRefusal(cut.map((one) => one.leftOutSeconds));
    const name = ({ fromMs: began }: { readonly fromMs: number }) => `${watched.id} ${new Date(began).toISOString().slice(0, 19)}Z`;
    const engine: EngineRows = {
      ...idle(watched),
      windows: windows.length,
      seconds: windows.reduce((sum, window) => sum + (window.toMs - window.fromMs) / 1000, 0),
      leftOut: leftOutOf(leftOutSeconds, await secondsHeard(watched.id, cluster, { fromMs, toMs: watched.knownSinceMs })),
    };
    taken.push({ engine, rows: liveRows(windows, shape, name) });
  }
  const gone = await goneEngines(cluster, { fromMs, toMs });
  const giving = taken.filter(({ rows }) => rows.length > 0).length;
  const kept = taken.map(({ engine, rows }) => ({
    engine,
    rows: spreadRows(rows, Math.max(2, Math.floor(MOST_ROWS / Math.max(1, giving)))),
  }));
  const rows = kept.flatMap((one) => one.rows);
  const engines = [...kept.map(({ engine, rows: own }) => ({ ...engine, rows: own.length })), ...gone];
  const emulated = rows.some(({ origin }) => origin === "emulated") || cluster.emulated;
  return { rows, report: { clusterName: cluster.name, fromMs, toMs, emulated, engines, spread: spreadOf(rows), problems: [...problems] } };
}

const idle = ({ id, model, engine }: WatchedEngine): EngineRows => ({
  id,
  model,
  engine,
  windows: 0,
  rows: 0,
  seconds: 0,
  leftOut: [],
  refusal: null,
});

/** What rows of the engine are of, or why there can be none, in a sentence. */
export function shapeOf(
  { engine, model, deployed }: WatchedEngine,
  { emulated }: Pick<WatchedCluster, "emulated">,
  cards: CardCatalogue,
): LiveEngine | string {
  if (engine === null) return "It was not heard yet: what it is is not known.";
  const kind = Object.hasOwn(KINDS, engine.type) ? KINDS[engine.type] : undefined;
  if (kind === undefined) return `The work of ${engine.type} is not modelled.`;
  if (deployed === null) return "Its GPUs, parallelism and precision are not known: no plan in force here has it.";
  const card = cardOf(cards.models, model);
  if (card === undefined) return `There is no model card "${model}".`;
  return {
    origin: emulated || engine.type === "weir-emulator" ? "emulated" : "live",
    engine: kind,
    version: engine.version,
    model,
    gpu: deployed.gpu,
    precision: deployed.precision,
    kvPrecision: card.kvBytesPerValue < 2 ? "fp8" : "bf16",
    shape: { tp: deployed.tp, pp: deployed.pp },
  };
}

const sumByRefusal = (all: readonly Readonly<Record<WindowRefusal, number>>[]): Readonly<Record<WindowRefusal, number>> =>
  Object.fromEntries(
    (Object.keys(windowRefusals) as WindowRefusal[]).map((name) => [name, all.reduce((sum, seconds) => sum + seconds[name], 0)]),
  ) as Record<WindowRefusal, number>;

const NAMES = [...NEEDED, ...WELCOME];

/** The stored history of an engine: by roll-up steps where only those reach, and after that sample by sample. */
async function historiesOf(
  { id, resetsMs }: WatchedEngine,
  { series, timeScale, lookBackMs }: WatchedCluster,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<{ readonly histories: readonly LiveHistory[]; readonly problems: readonly string[] }> {
  const read = (from: number, to: number, bucketMs: number) =>
    series.range({ fromMs: from, toMs: to, bucketMs, series: NAMES.map((quantity) => ({ subject: `engine:${id}`, quantity })) });
  const history = (range: SeriesRange): LiveHistory => {
    return { samples: samplesOf(range), sampleMs: range.bucketMs, lookBackMs, timeScale, resetsMs };
  };
  const bucketMs = bucketWidth(toMs - fromMs, MOST_SAMPLES, series.everyMs);
  const whole = await read(fromMs, toMs, bucketMs);
  const seamMs = Math.min(toMs, rolledUpUntil(whole, series.everyMs));
  if (seamMs <= fromMs) return { histories: [history(whole)], problems: whole.problems };
  const [older, newer] = [await read(fromMs, seamMs, ROLLED_UP_MS), await read(seamMs, toMs, bucketMs)];
  return { histories: [history(older), history(newer)], problems: [...older.problems, ...newer.problems] };
}

const ROLLED_UP_MS = 1000 * (rollUpSteps[0]?.stepSeconds ?? 10);

/** A bucket with more samples than fit its duration is a whole step of a roll-up. Returns the end of the last one; 0: there is none. */
function rolledUpUntil({ atMs, bucketMs, series }: SeriesRange, everyMs: number): number {
  if (bucketMs >= ROLLED_UP_MS) return 0;
  const fits = bucketMs / everyMs + 1;
  const last = atMs.findLastIndex((_, at) => series.some(({ count }) => (count[at] ?? 0) > fits));
  return last === -1 ? 0 : (atMs[last] ?? 0) + ROLLED_UP_MS;
}

function samplesOf(range: SeriesRange): readonly LiveSample[] {
  const column = (name: (typeof NAMES)[number]) => range.series[NAMES.indexOf(name)];
  return range.atMs.map((atMs, at): LiveSample => {
    // If a sample lacks one of them, counters restarted during it.
    const whole = new Set(NEEDED.map((name) => column(name)?.count[at] ?? 0)).size === 1;
    const value = (name: (typeof NAMES)[number]): number | null => (whole ? (column(name)?.mean[at] ?? null) : null);
    return {
      atMs,
      running: value("running"),
      runningAtEnd: whole ? (column("running")?.last[at] ?? null) : null,
      waiting: value("waiting"),
      requestsPerSecond: column("requestsPerSecond")?.mean[at] ?? null,
      promptTokensPerSecond: value("promptTokensPerSecond"),
      generationTokensPerSecond: value("generationTokensPerSecond"),
      preemptionsPerSecond: value("preemptionsPerSecond"),
      prefixHitShare: value("prefixHitShare"),
      ttftSeconds: value("ttftMeanSeconds"),
      tpotSeconds: value("tpotMeanSeconds"),
      endToEndSeconds: value("endToEndMeanSeconds"),
    };
  });
}

/** How long something was heard of an engine in a range, to some per cent of it. */
async function secondsHeard(
  id: string,
  { series }: WatchedCluster,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<number> {
  if (toMs <= fromMs) return 0;
  const bucketMs = bucketWidth(toMs - fromMs, HEARD_POINTS, series.everyMs);
  const range = await series.range({ fromMs, toMs, bucketMs, series: [{ subject: `engine:${id}`, quantity: "running" }] });
  const heard = range.series[0]?.count.filter((count) => count > 0).length ?? 0;
  return Math.min(toMs - fromMs, heard * range.bucketMs) / 1000;
}

function leftOutOf(seconds: Readonly<Record<WindowRefusal, number>>, beforeKnown: number): EngineRows["leftOut"] {
  const reasons = (Object.keys(windowRefusals) as WindowRefusal[]).map((name) => ({
    reason: windowRefusals[name],
    seconds: seconds[name],
  }));
  return [{ reason: "before it was known to be what it is now", seconds: beforeKnown }, ...reasons]
    .filter((one) => one.seconds > 0)
    .sort((one, other) => other.seconds - one.seconds);
}

/** Engines with stored data that are no longer watched. */
async function goneEngines(
  { series, engines }: WatchedCluster,
  range: { readonly fromMs: number; readonly toMs: number },
): Promise<EngineRows[]> {
  const subjects = await series.subjects(range.fromMs, range.toMs);
  const ids = subjects.flatMap((subject) => (subject.startsWith("engine:") ? [subject.slice("engine:".length)] : []));
  return ids
    .filter((id) => !engines.some((engine) => engine.id === id))
    .map((id) => ({
      ...idle({ id, model: "", engine: null, deployed: null, knownSinceMs: 0, resetsMs: [] }),
      refusal: "It is gone: what it was is not kept.",
    }));
}

function spreadOf(rows: readonly LiveRow[]): LiveRows["spread"] {
  if (rows.length === 0) return null;
  const span = (name: "concurrency" | "inputTokens" | "outputTokens"): readonly [number, number] => {
    const values = rows.map((row) => row[name]);
    return [Math.min(...values), Math.max(...values)];
  };
  return { concurrency: span("concurrency"), inputTokens: span("inputTokens"), outputTokens: span("outputTokens") };
}
