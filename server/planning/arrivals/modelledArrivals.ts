import type { ArrivalsChoice } from "@/server/contracts/studio";
import type { SeriesKey, SeriesRange } from "@/server/contracts/studio/seriesRange";
import { boundedRange, bucketWidth } from "@/server/series/bucketWidth";
import { AZURE_CONVERSATION_SHAPE } from "@/solver/engine/gammaArrivals";
import { expectedArrivals, hourlyArrivals, type RateStep } from "@/solver/workload/hourlyArrivals";
import type { Stretch } from "@/solver/workload/segmentArrivals";
import { type Found, tooFew, type WatchedCluster } from "./foundArrivals";

/** Eight megabytes of arrivals; a plan simulates 20,000 at most. */
const MOST_ARRIVALS = 1_000_000;

const MODELLED = `modelled within each as a Gamma renewal process of shape ${AZURE_CONVERSATION_SHAPE}, fitted to the Azure conversation trace of 2023`;

const tooMany = (steps: readonly RateStep[], wayOut: string): string | null => {
  const expected = expectedArrivals(steps);
  if (expected <= MOST_ARRIVALS) return null;
  return `That is ${Math.round(expected).toLocaleString("en-US")} arrivals, and a workload takes at most a million: ${wayOut}`;
};

/** Arrivals of a day with the given rates by hour. */
export function typedArrivals({ requestsPerSecond }: Extract<ArrivalsChoice, { kind: "hours" }>, seed: number): Found {
  const steps = requestsPerSecond.map((rate) => ({ seconds: 3600, requestsPerSecond: rate }));
  const problem = tooMany(steps, "give smaller rates of the same proportions, as a plan scales them to the rate it is made for.");
  if (problem !== null) return { ok: false, message: problem };
  if (requestsPerSecond.every((rate) => rate === 0)) return { ok: false, message: "All hours are 0: give at least one of them a rate." };
  const arrivalSeconds = hourlyArrivals({ steps, shape: AZURE_CONVERSATION_SHAPE, seed });
  const few = tooFew(arrivalSeconds, "at these rates");
  if (few !== null) return { ok: false, message: few };
  const mean = requestsPerSecond.reduce((sum, rate) => sum + rate, 0) / requestsPerSecond.length;
  const most = Math.max(...requestsPerSecond);
  const origin = `typed rates of 24 hours, ${mean.toFixed(2)} requests/s in the mean and ${most} at most; ${MODELLED}`;
  const clock = { beginsAtMs: 0, timeScale: 1, anyDay: true };
  return { ok: true, found: { arrivalSeconds, origin, known: [{ from: 0, to: 86_400 }], clock } };
}

export interface CounterSpan {
  readonly cluster: Pick<WatchedCluster, "series" | "timeScale">;
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  readonly seed: number;
}

/** Rates of a gateway: all requests except those rejected as invalid. */
const GATEWAY_QUANTITIES = ["requestsPerSecond", "errorsPerSecond", "shedPerSecond"];

/** Most steps in a span, so that weeks of many engines are read within a second. */
const MOST_STEPS = 20_000;

/** A step of the finest roll-ups: finer samples exist for the last hour only. */
const LEAST_STEP_MS = 10_000;

/**
 * Arrivals at the rates of a cluster's counters over a span of time: the gateway's if it handled requests, otherwise the sum of its
 * engines'.
 */
export async function counterArrivals({ cluster, name, nowMs, seed, ...asked }: CounterSpan): Promise<Found> {
  const { fromMs, toMs } = boundedRange(asked, nowMs);
  if (fromMs >= toMs) return { ok: false, message: "The span ends before it begins, or is yet to come: choose an earlier one." };
  const timeScale = cluster.timeScale();
  const read = async (series: readonly SeriesKey[]): Promise<Rates> => {
    const bucketMs = bucketWidth(toMs - fromMs, MOST_STEPS, LEAST_STEP_MS);
    return ratesOf(await cluster.series.range({ fromMs, toMs, bucketMs, series }), { fromMs, toMs, timeScale });
  };
  const subjects = await cluster.series.subjects(fromMs, toMs);
  const ofGateway = await read(GATEWAY_QUANTITIES.map((quantity) => ({ subject: "gateway", quantity })));
  const engines = subjects.filter((subject) => subject.startsWith("engine:"));
  const isGateways = expectedArrivals(ofGateway.steps) > 0 || engines.length === 0;
  const rates = isGateways ? ofGateway : await read(engines.map((subject) => ({ subject, quantity: "requestsPerSecond" })));
  const { steps, known, stepSeconds, missedShare, partly } = rates;
  if (known.length === 0) {
    return {
      ok: false,
      message: [`Nothing is known of ${name} in that span: choose one in which the studio watched it.`, ...rates.problems].join(" "),
    };
  }
  const problem = tooMany(steps, "choose a shorter span.");
  if (problem !== null) return { ok: false, message: problem };
  const arrivalSeconds = hourlyArrivals({ steps, shape: AZURE_CONVERSATION_SHAPE, seed });
  const few = tooFew(arrivalSeconds, `at the rates that ${name} had in that span`);
  if (few !== null) return { ok: false, message: few };
  const gapSeconds = steps.reduce((sum, { seconds, requestsPerSecond }) => sum + (requestsPerSecond === null ? seconds : 0), 0) / timeScale;
  const origin = [
    isGateways
      ? `counters of the gateway of ${name}, answered, failed and shed`
      : `counters of ${engines.length} engines of ${name}, where a request counts at each engine that answered it`,
    `, ${utc(fromMs)} to ${utc(toMs)} in steps of ${stepSeconds} s`,
    isGateways || partly === 0 ? "" : `, ${partly} of them seen in a part of the span only and counted as none in the rest`,
    missedShare === 0 ? "" : `, ${(100 * missedShare).toPrecision(2)} % of readings missing and counted as the ones before them`,
    gapSeconds < 1 ? "" : `, ${Math.round(gapSeconds)} s without a reading left out`,
    timeScale === 1 ? "" : `; emulated, ${timeScale} seconds in one of the wall`,
    `; ${MODELLED}`,
  ].join("");
  return { ok: true, found: { arrivalSeconds, origin, known, clock: { beginsAtMs: fromMs, timeScale, anyDay: false } } };
}

const utc = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 19)}Z`;

interface Rates {
  /** In engine seconds, from the beginning of the span to its end. */
  readonly steps: readonly RateStep[];
  readonly known: readonly Stretch[];
  readonly stepSeconds: number;
  readonly problems: readonly string[];
  /** Share of the summed readings that were taken from an earlier step because their own step had none. */
  readonly missedShare: number;
  /** Number of series that begin later or end earlier than the others. */
  readonly partly: number;
}

/**
 * The sum of all series, step by step; null if none of them was known. A series that was not read between two of its readings counts at the
 * earlier value: as zero it would make the load smaller than it was. Before its first and after its last reading it is unknown whether the
 * target existed.
 */
function ratesOf(
  { atMs, bucketMs, series, problems }: SeriesRange,
  span: { readonly fromMs: number; readonly toMs: number; readonly timeScale: number },
): Rates {
  const steps: RateStep[] = [];
  const known: Stretch[] = [];
  let reachedMs = span.fromMs;
  const seconds = (fromMs: number, toMs: number): number => ((toMs - fromMs) / 1000) * span.timeScale;
  const add = (untilMs: number, requestsPerSecond: number | null): void => {
    const endMs = Math.min(span.toMs, untilMs);
    if (endMs <= reachedMs) return;
    steps.push({ seconds: seconds(reachedMs, endMs), requestsPerSecond });
    const [from, to] = [seconds(span.fromMs, reachedMs), seconds(span.fromMs, endMs)];
    const last = known.at(-1);
    if (requestsPerSecond !== null && last?.to === from) known[known.length - 1] = { from: last.from, to };
    else if (requestsPerSecond !== null) known.push({ from, to });
    reachedMs = endMs;
  };
  const isRead = (rate: number | null): boolean => rate !== null;
  const read = series.flatMap(({ mean }) =>
    mean.some(isRead) ? [{ mean, first: mean.findIndex(isRead), last: mean.findLastIndex(isRead) }] : [],
  );
  const latest = read.map(() => 0);
  let [summed, missed] = [0, 0];
  for (const [at, beginsMs] of atMs.entries()) {
    if (!read.some(({ mean }) => isRead(mean[at] ?? null))) continue;
    let sum = 0;
    for (const [one, { mean, first, last }] of read.entries()) {
      if (at < first || at > last) continue;
      const rate = mean[at] ?? null;
      latest[one] = rate ?? latest[one] ?? 0;
      sum += latest[one];
      summed += 1;
      missed += rate === null ? 1 : 0;
    }
    add(beginsMs, null);
    add(beginsMs + bucketMs, Math.max(0, sum));
  }
  add(span.toMs, null);
  const [begins, ends] = [Math.min(...read.map(({ first }) => first)), Math.max(...read.map(({ last }) => last))];
  const partly = read.filter(({ first, last }) => first > begins || last < ends).length;
  return { steps, known, stepSeconds: bucketMs / 1000, problems, missedShare: summed === 0 ? 0 : missed / summed, partly };
}
