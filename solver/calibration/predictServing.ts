import { tpotSeconds } from "../engine/outcomeSummary";
import { simulateClosedLoop } from "../engine/simulateClosedLoop";
import { type CardCatalogue, cardOf } from "../hardware/catalogue";
import { withLimits } from "../hardware/engineLimits";
import type { EngineProfile, MetricErrors, ServingMetric } from "../hardware/engineProfile";
import { atPrecision } from "../hardware/modelCard";
import { type ReplicaFit, replicaModel } from "../hardware/replicaShapes";
import { mean } from "../numeric/quantile";
import { mixSeed, seededRandom } from "../numeric/random";
import type { Band } from "../plan/plan";
import { extrapolations } from "./extrapolations";
import type { ServingRow, UnsupportedRow } from "./servingRow";

/** The simulator's prediction of a measured run. */
export interface ServingPrediction {
  readonly row: ServingRow;
  readonly meanTtftSeconds: number;
  readonly meanTpotSeconds: number;
  readonly meanE2eSeconds: number;
  readonly preemptions: number;
  /** Predicted over measured, minus 1; null where the row has no measurement. */
  readonly errors: Readonly<Record<ServingMetric, number | null>>;
  /** Band that should contain a measured mean, from the profile's errors on rows its fit had not seen; null without such errors. */
  readonly bands: Readonly<Record<ServingMetric, Band | null>>;
  /** In which respects the run is outside the rows that the profile was fitted to and the cards were measured on. */
  readonly extrapolated: readonly string[];
}

export type PredictServing =
  | ({ readonly outcome: "predicted" } & ServingPrediction)
  | { readonly outcome: "unsupported"; readonly unsupported: UnsupportedRow };

/** Requests of a run, per request in flight: those of the published runs. */
const REQUESTS_PER_CLIENT = 10;

/** Minimum number of requests: short runs are repeated with other lengths and averaged, since a mean over 20 jumps with each. */
const LEAST_REQUESTS = 160;

/** Lengths are uniform between these shares of the row's: of a run's nominal ones, and of the mean ones of a live engine. */
const lengthShares = ({ origin, leastLengthShare = 0.8 }: ServingRow) =>
  origin === "run" ? { least: leastLengthShare, most: 1 } : { least: 0.8, most: 1.2 };

/** Mean answer relative to the row's length. */
const meanLength = (row: ServingRow): number => (lengthShares(row).least + lengthShares(row).most) / 2;

const SEED = 1;

/** Simulates a measured run as the closed loop it was; unsupported when the model does not fit the GPUs. Deterministic. */
export function predictServing(row: ServingRow, profile: EngineProfile, cards: CardCatalogue): PredictServing {
  const simulated = runSimulator(profile, cards)(row);
  if ("reason" in simulated) {
    return { outcome: "unsupported", unsupported: { line: row.line, id: row.id, reason: simulated.reason } };
  }
  const { ttftSeconds, tpotSeconds: tpot, endToEndSeconds, preemptions } = simulated;
  const extrapolated = extrapolations(row, profile, cards);
  const band = (predicted: number, metric: ServingMetric): Band | null => bandOf(predicted, profile, metric, extrapolated.length > 0);
  return {
    outcome: "predicted",
    row,
    meanTtftSeconds: ttftSeconds,
    meanTpotSeconds: tpot,
    meanE2eSeconds: endToEndSeconds,
    preemptions,
    errors: errorsOfRun(row, simulated),
    bands: { ttft: band(ttftSeconds, "ttft"), tpot: band(tpot, "tpot"), endToEnd: band(endToEndSeconds, "endToEnd") },
    extrapolated,
  };
}

/** Means of a simulated run, in seconds. */
export interface SimulatedRun {
  readonly ttftSeconds: number;
  readonly tpotSeconds: number;
  readonly endToEndSeconds: number;
  readonly preemptions: number;
}

/** Simulates runs under one profile: their means, or the reason why a model does not fit. Runs with one shape share its step time. */
export function runSimulator(
  profile: EngineProfile,
  cards: CardCatalogue,
): (row: ServingRow) => SimulatedRun | { readonly reason: string } {
  const replicas = new Map<string, ReplicaFit>();
  return (row) => {
    const { model, gpu, precision, kvPrecision, shape } = row;
    const key = [model, gpu, precision, kvPrecision, shape.tp, shape.pp].join(" ");
    const fit = replicas.get(key) ?? replicaOf(row, profile, cards);
    replicas.set(key, fit);
    return simulateRun(row, fit);
  };
}

function replicaOf({ model, gpu, precision, kvPrecision, shape }: ServingRow, profile: EngineProfile, cards: CardCatalogue): ReplicaFit {
  const modelCard = cardOf(cards.models, model);
  const gpuCard = cardOf(cards.gpus, gpu);
  if (modelCard === undefined || gpuCard === undefined)
    return { fits: false, reason: `no card of ${modelCard === undefined ? model : gpu}` };
  return replicaModel(atPrecision(modelCard, precision, kvPrecision === "fp8" ? 1 : 2), gpuCard, shape, profile);
}

function simulateRun(row: ServingRow, fit: ReplicaFit): SimulatedRun | { readonly reason: string } {
  if (!fit.fits) return fit;
  const { concurrency, limits = {} } = row;
  const replica = withLimits(fit.replica, { ...limits, maxSequences: Math.min(concurrency, limits.maxSequences ?? concurrency) });
  const counted = row.origin === "run" && row.requests !== undefined ? row.requests : REQUESTS_PER_CLIENT * concurrency;
  const repeats = Math.ceil(LEAST_REQUESTS / counted);
  // The measurement of a live engine includes neither the beginning nor the end of the loop.
  const edge = row.origin === "run" ? 0 : concurrency;
  const sum = { ttftSeconds: 0, tpotSeconds: 0, endToEndSeconds: 0, preemptions: 0 };
  for (let repeat = 0; repeat < repeats; repeat++) {
    const lengths = lengthsOf(row, { count: counted + 2 * edge, begun: edge, repeat });
    const outcome = simulateClosedLoop(replica, lengths, { concurrency });
    if (outcome.refused > 0) {
      return { reason: `a request of ${row.inputTokens} + ${row.outputTokens} tokens exceeds the KV cache of ${replica.kvTokens}` };
    }
    const seen = {
      ttftSeconds: outcome.ttftSeconds.subarray(edge, edge + counted),
      endToEndSeconds: outcome.endToEndSeconds.subarray(edge, edge + counted),
      outputTokens: lengths.outputTokens.subarray(edge, edge + counted),
    };
    sum.ttftSeconds += mean(seen.ttftSeconds) / repeats;
    sum.tpotSeconds += mean(tpotSeconds(seen)) / repeats;
    sum.endToEndSeconds += mean(seen.endToEndSeconds) / repeats;
    sum.preemptions += outcome.preemptions / repeats;
  }
  return sum;
}

/** Lengths of so many requests; the first `begun` have the answers of requests observed at a random point of their progress. */
function lengthsOf(row: ServingRow, { count, begun, repeat }: { count: number; begun: number; repeat: number }) {
  const { least, most } = lengthShares(row);
  const random = seededRandom(mixSeed(SEED, `lengths ${repeat}`));
  const length = (nominal: number): number => Math.max(1, Math.round(nominal * (least + (most - least) * random.next())));
  const lengths = { inputTokens: new Int32Array(count), outputTokens: new Int32Array(count) };
  for (let index = 0; index < count; index++) {
    lengths.inputTokens[index] = length(row.inputTokens);
    const answer = length(row.outputTokens);
    lengths.outputTokens[index] = index < begun ? Math.ceil(answer * (1 - random.next())) : answer;
  }
  return lengths;
}

/** Mean end to end of a measured run: its mean TTFT plus one TPOT for each further token of a mean answer. Null unless both are known. */
function measuredEndToEndSeconds(row: ServingRow): number | null {
  const { ttftSeconds, tpotSeconds: tpot } = row.measured;
  return ttftSeconds === null || tpot === null ? null : ttftSeconds + tpot * (meanLength(row) * row.outputTokens - 1);
}

/** Errors of a simulated run against its row: predicted over measured, minus 1. */
export function errorsOfRun(row: ServingRow, run: SimulatedRun): ServingPrediction["errors"] {
  const relative = (predicted: number, measured: number | null): number | null =>
    measured === null || Number.isNaN(predicted) ? null : predicted / measured - 1;
  return {
    ttft: relative(run.ttftSeconds, row.measured.ttftSeconds),
    tpot: relative(run.tpotSeconds, row.measured.tpotSeconds),
    endToEnd: relative(run.endToEndSeconds, measuredEndToEndSeconds(row)),
  };
}

function bandOf(predicted: number, { errors: all, fittedOn }: EngineProfile, metric: ServingMetric, extrapolated: boolean): Band | null {
  const errors = all?.[metric] ?? null;
  if (errors === null || errors.rows === 0 || Number.isNaN(predicted)) return null;
  const basis = `errors on ${errors.rows} ${fittedOn?.emulated ? "runs of emulated engines" : "measured runs"} that the fit had not seen${extrapolated ? ", doubled: extrapolated" : ""}`;
  return { ...errorBand(predicted, errors, extrapolated), confidence: BAND_CONFIDENCE, basis };
}

/** Share of unseen runs whose error is within the bands. */
export const BAND_CONFIDENCE = 0.9;

/**
 * Factor by which bands widen where a profile is used beyond what it was fitted to. The 90th percentile of the vLLM profile's TPOT error is
 * 9 % on its own unseen runs, and 15 to 20 % on runs of another model, GPU and engine (Qwen3-32B on H100, Llama-3.1-8B under SGLang).
 */
const EXTRAPOLATED_WIDENING = 2;

/** The band that would contain nine of ten measured values of a predicted mean, if its errors were those of the profile's unseen rows. */
export function errorBand(
  predicted: number,
  { p90Absolute }: MetricErrors,
  extrapolated: boolean,
): { readonly low: number; readonly high: number } {
  const error = p90Absolute * (extrapolated ? EXTRAPOLATED_WIDENING : 1);
  return { low: predicted / (1 + error), high: predicted / Math.max(0.1, 1 - error) };
}
