import type { MetricErrors, ProfileErrors, ServingMetric } from "../hardware/engineProfile";
import { mean, quantile } from "../numeric/quantile";
import type { ServingPrediction } from "./predictServing";

/** Keys by which predictions can be grouped. */
const errorGroupings = ["all", "engine", "model", "gpu", "tp", "length"] as const;
type ErrorGrouping = (typeof errorGroupings)[number];

/** Errors of the predictions in one group; a metric without measurements there is null. */
export interface GroupErrors {
  readonly group: ErrorGrouping;
  readonly key: string;
  readonly rows: number;
  readonly ttft: MetricErrors | null;
  readonly tpot: MetricErrors | null;
  readonly endToEnd: MetricErrors | null;
}

const KEYS: Readonly<Record<ErrorGrouping, (prediction: ServingPrediction) => string>> = {
  all: () => "all",
  engine: ({ row }) => row.engine,
  model: ({ row }) => row.model,
  gpu: ({ row }) => row.gpu,
  tp: ({ row }) => String(row.shape.tp),
  length: ({ row }) => `${row.inputTokens} in, ${row.outputTokens} out`,
};

/** Errors over all predictions and by engine, model, GPU, tensor parallelism and nominal lengths; groups in order of first appearance. */
export function errorsByGroup(predictions: readonly ServingPrediction[]): readonly GroupErrors[] {
  return errorGroupings.flatMap((group) => {
    const byKey = new Map<string, ServingPrediction[]>();
    for (const prediction of predictions) {
      const key = KEYS[group](prediction);
      const members = byKey.get(key) ?? [];
      members.push(prediction);
      byKey.set(key, members);
    }
    return [...byKey].map(([key, members]) => ({
      group,
      key,
      rows: members.length,
      ttft: errorsIn(members, "ttft"),
      tpot: errorsIn(members, "tpot"),
      endToEnd: errorsIn(members, "endToEnd"),
    }));
  });
}

/** Errors by metric; a metric without measurements counts no rows. */
export function profileErrors(predictions: readonly Pick<ServingPrediction, "errors">[]): ProfileErrors {
  const none: MetricErrors = { rows: 0, meanAbsolute: 0, p90Absolute: 0, bias: 0 };
  return {
    ttft: errorsIn(predictions, "ttft") ?? none,
    tpot: errorsIn(predictions, "tpot") ?? none,
    endToEnd: errorsIn(predictions, "endToEnd") ?? none,
  };
}

/** Mean error beyond which a metric counts as not matched: too large for a decision. */
const MATCHED_ERROR = 0.25;

/** Whether predictions of a metric were near the measurements; also true without measurements. */
export const isMatched = (errors: MetricErrors | null): boolean =>
  errors === null || errors.rows === 0 || errors.meanAbsolute <= MATCHED_ERROR;

/** Metrics that a profile does not match on runs its fit had not seen. */
export const unmatchedMetrics = (errors: ProfileErrors | null): readonly ServingMetric[] =>
  errors === null ? [] : (["ttft", "tpot", "endToEnd"] as const).filter((metric) => !isMatched(errors[metric]));

const errorsIn = (predictions: readonly Pick<ServingPrediction, "errors">[], metric: ServingMetric): MetricErrors | null =>
  metricErrors(predictions.flatMap((prediction) => prediction.errors[metric] ?? []));

/** Errors summarised; null where there are none. */
export function metricErrors(errors: readonly number[]): MetricErrors | null {
  if (errors.length === 0) return null;
  const absolute = errors.map(Math.abs);
  return { rows: errors.length, meanAbsolute: mean(absolute), p90Absolute: quantile(absolute, 0.9), bias: mean(errors) };
}
