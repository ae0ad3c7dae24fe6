import { BAND_CONFIDENCE, errorBand } from "@/solver/calibration/predictServing";
import { unmatchedMetrics } from "@/solver/calibration/servingErrors";
import { type ArrivalLaw, arrivals } from "@/solver/engine/arrivals";
import { type LatencySummary, type OutcomeSummary, summarizeOutcome } from "@/solver/engine/outcomeSummary";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { CAUTION_UTILISATION, type Stability, saturationRate, stabilityOf, utilisationAt } from "@/solver/engine/saturation";
import { simulateClosedLoop } from "@/solver/engine/simulateClosedLoop";
import { simulateReplica } from "@/solver/engine/simulateReplica";
import type { ProfileErrors, ServingMetric } from "@/solver/hardware/engineProfile";
import { textTable } from "./textTable";

/** Number of requests for measuring a replica's saturation, in largest batches. */
const SATURATION_BATCHES = 8;

export type Load =
  | { readonly kind: "open"; readonly requestsPerSecond: number; readonly law: ArrivalLaw }
  | { readonly kind: "closed"; readonly concurrency: number };

export interface ForecastInput {
  readonly replica: ReplicaModel;
  readonly load: Load;
  readonly requests: number;
  /** Every request has exactly these lengths. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly prefixHitRate: number;
  readonly seed: number;
  /** Errors of the profile on runs that its fit had not seen: how far means and the saturation rate may be off; null if unknown. */
  readonly errors: ProfileErrors | null;
  /** The dimensions in which a load with so many requests in flight is outside of the rows the profile was fitted to. */
  extrapolatedAt(concurrency: number): readonly string[];
}

export interface Forecast {
  /** null in a closed loop, whose rate never exceeds that of the answers. */
  readonly stability: Stability | null;
  /** `null` in a closed loop, or if the KV cache cannot hold one request. */
  readonly utilisation: number | null;
  readonly saturationRequestsPerSecond: number | null;
  /** `null` if the queue grows without bound, and with it every latency. */
  readonly figures: OutcomeSummary | null;
  /** Range of nine of ten measured means; null without figures, or without errors of the profile. */
  readonly bands: Readonly<Record<ServingMetric, { readonly low: number; readonly high: number }>> | null;
  readonly extrapolated: readonly string[];
  /** Metrics that the profile predicts too inaccurately. */
  readonly notMatched: readonly ServingMetric[];
  /** Tokens in the KV cache, and its use: mean over time and peak. */
  readonly kvTokens: number;
  readonly meanKvTokens: number | null;
  readonly notes: readonly string[];
}

const PERCENTILES_UNVALIDATED = "Public measurements of engines hold means only: no percentile here is validated by them.";

/** The behaviour of one replica under a load, or that it is overloaded. */
export function forecast(input: ForecastInput): Forecast {
  const { replica, load, requests: count } = input;
  const requests = lengths(input, count);
  const batches = SATURATION_BATCHES * replica.maxSequences;
  const saturationRequestsPerSecond = saturationRate(replica, lengths(input, batches), batches);
  const utilisation =
    load.kind === "open" && saturationRequestsPerSecond !== null
      ? utilisationAt(load.requestsPerSecond, saturationRequestsPerSecond)
      : null;
  const stability = utilisation === null ? null : stabilityOf(utilisation, relativeError(input));
  const { kvTokens } = replica;
  const common = { stability, utilisation, saturationRequestsPerSecond, kvTokens, notMatched: unmatchedMetrics(input.errors) };
  if (stability === "unstable") {
    const extrapolated = input.extrapolatedAt(replica.maxSequences);
    return { ...common, figures: null, bands: null, extrapolated, meanKvTokens: null, notes: [instability(input, common)] };
  }
  const outcome =
    load.kind === "closed"
      ? simulateClosedLoop(replica, requests, { concurrency: load.concurrency, recordKvUse: true })
      : simulateReplica(
          replica,
          { ...requests, arrivalSeconds: arrivals({ ...load, requests: count, seed: input.seed }) },
          { recordKvUse: true },
        );
  const figures = summarizeOutcome(outcome, saturationRequestsPerSecond);
  const caution = `At a utilisation of ${CAUTION_UTILISATION} and more, a little more traffic or a little error costs much latency: do not rely on these figures.`;
  // By Little's law, if the load does not state it.
  const inFlight = load.kind === "closed" ? load.concurrency : figures.requestsPerSecond * figures.endToEndSeconds.mean;
  const extrapolated = input.extrapolatedAt(Math.max(1, Math.round(inFlight)));
  return {
    ...common,
    figures,
    bands: bandsOf(figures, input.errors, extrapolated.length > 0),
    extrapolated,
    meanKvTokens: meanKvTokens(figures),
    notes: [...(stability === "near-saturation" ? [caution] : []), PERCENTILES_UNVALIDATED],
  };
}

const relativeError = ({ errors }: ForecastInput): number => errors?.endToEnd.meanAbsolute ?? 0;

function bandsOf(figures: OutcomeSummary, errors: ProfileErrors | null, extrapolated: boolean): Forecast["bands"] {
  if (errors === null || figures.served === 0) return null;
  return {
    ttft: errorBand(figures.ttftSeconds.mean, errors.ttft, extrapolated),
    tpot: errorBand(figures.tpotSeconds.mean, errors.tpot, extrapolated),
    endToEnd: errorBand(figures.endToEndSeconds.mean, errors.endToEnd, extrapolated),
  };
}

function lengths({ inputTokens, outputTokens, prefixHitRate }: ForecastInput, count: number) {
  return {
    inputTokens: new Int32Array(count).fill(inputTokens),
    outputTokens: new Int32Array(count).fill(outputTokens),
    prefixHitRate,
  };
}

function instability(input: ForecastInput, { utilisation, saturationRequestsPerSecond }: Partial<Forecast>): string {
  const limit = `The replica saturates at ${saturationRequestsPerSecond?.toPrecision(3)} requests/s`;
  return (utilisation ?? 0) >= 1
    ? `${limit}: its queue grows without end, and no latency is given.`
    : `${limit}, known to ${percent(relativeError(input))} only: its queue may grow without end, and no latency is given.`;
}

/** The bins have equal width except the last. */
function meanKvTokens({ kvUse }: OutcomeSummary): number | null {
  const end = kvUse?.at(-1)?.toSeconds ?? 0;
  const start = kvUse?.[0]?.fromSeconds ?? 0;
  if (kvUse === null || !(end > start)) return null;
  return kvUse.reduce((sum, { fromSeconds, toSeconds, meanTokens }) => sum + (toSeconds - fromSeconds) * meanTokens, 0) / (end - start);
}

/** A forecast as terminal text for an operator. */
export function describeForecast({
  stability,
  utilisation,
  saturationRequestsPerSecond,
  figures,
  bands,
  extrapolated,
  notMatched,
  kvTokens,
  meanKvTokens,
  notes,
}: Forecast): string {
  const share =
    utilisation === null
      ? []
      : [
          `  utilisation ${percent(utilisation)} of the ${saturationRequestsPerSecond?.toPrecision(3)} requests/s at saturation: ${stability}\n`,
        ];
  const told = [
    ...extrapolated.map((reason) => `  - extrapolated: ${reason}\n`),
    ...(notMatched.length === 0 ? [] : [`  - ${notMatched.map((metric) => METRIC_NAMES[metric]).join(" and ")}: ${NOT_MATCHED}\n`]),
    ...notes.map((note) => `  - ${note}\n`),
  ];
  if (figures === null) return [...share, ...told].join("");
  const row = (name: string, { mean, p50, p90, p95, p99 }: LatencySummary, metric?: ServingMetric) => [
    name,
    seconds(mean),
    metric === undefined || bands === null ? "-" : bandText(bands[metric]),
    ...[p50, p90, p95, p99].map(seconds),
  ];
  const refused = figures.refused === 0 ? "" : `, ${figures.refused} refused: they exceed the KV cache`;
  return [
    textTable([
      ["", "mean", `${percent(BAND_CONFIDENCE)} band`, "p50", "p90", "p95", "p99"],
      row("queue", figures.queueSeconds),
      row("TTFT", figures.ttftSeconds, "ttft"),
      row("TPOT", figures.tpotSeconds, "tpot"),
      row("end to end", figures.endToEndSeconds, "endToEnd"),
    ]),
    `\n  ${figures.served} requests served at ${figures.requestsPerSecond.toPrecision(3)} requests/s, ${Math.round(figures.outputTokensPerSecond)} output tokens/s${refused}\n`,
    ...share,
    `  KV cache of ${kvTokens} tokens: ${meanKvTokens === null ? "" : `${percent(meanKvTokens / kvTokens)} in use on average, `}${percent(figures.peakKvTokens / kvTokens)} at most, ${figures.preemptions} preemptions\n`,
    ...told,
  ].join("");
}

const percent = (value: number): string => `${(100 * value).toFixed(value < 0.1 ? 1 : 0)} %`;

export const METRIC_NAMES: Readonly<Record<ServingMetric, string>> = { ttft: "TTFT", tpot: "TPOT", endToEnd: "end to end" };
export const NOT_MATCHED = "not matched, the profile misses it by more than 25 % on runs its fit had not seen";

/** Seconds for an operator; a dash if there are none. */
export const seconds = (value: number): string =>
  Number.isNaN(value) ? "-" : value < 1 ? `${(1000 * value).toPrecision(3)} ms` : `${value.toPrecision(3)} s`;

/** A band of seconds, such as `12.1 ms to 14.2 ms`. */
export const bandText = ({ low, high }: { readonly low: number; readonly high: number }): string => `${seconds(low)} to ${seconds(high)}`;
