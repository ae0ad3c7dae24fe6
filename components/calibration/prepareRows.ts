import type { ServingPrediction } from "@/solver/calibration/predictServing";
import { isMatched } from "@/solver/calibration/servingErrors";
import type { ServingRow } from "@/solver/calibration/servingRow";
import type { EngineKind, EngineProfile, ServingMetric } from "@/solver/hardware/engineProfile";

/** A run with what was predicted for it, for one metric. */
export interface CheckedRow {
  readonly row: ServingRow;
  /** null: the row does not state it. */
  readonly measuredSeconds: number | null;
  readonly predictedSeconds: number;
  /** predicted / measured - 1. */
  readonly error: number | null;
  /** Why the prediction is outside the range of the fit; empty: it is inside. */
  readonly extrapolated: readonly string[];
  /** Whether the profile predicts this metric well on runs that its fit had not seen. */
  readonly matched: boolean;
}

export const rowOrders = [
  "error",
  "line",
  "model",
  "gpu",
  "engine",
  "tp",
  "input",
  "output",
  "concurrency",
  "measured",
  "predicted",
] as const;
export type RowOrder = (typeof rowOrders)[number];

/** Predictions of one metric next to the measurements; `profileOf` names the profile that predicted each engine's runs. */
export function checkedRows(
  predictions: readonly ServingPrediction[],
  metric: ServingMetric,
  profileOf: (engine: EngineKind) => EngineProfile,
): readonly CheckedRow[] {
  return predictions.map((prediction) => {
    const predictedSeconds = { ttft: prediction.meanTtftSeconds, tpot: prediction.meanTpotSeconds, endToEnd: prediction.meanE2eSeconds }[
      metric
    ];
    const error = prediction.errors[metric];
    return {
      row: prediction.row,
      predictedSeconds,
      // From the error, whose definition of a measured end-to-end time this is.
      measuredSeconds: error === null ? null : predictedSeconds / (1 + error),
      error,
      extrapolated: prediction.extrapolated,
      matched: isMatched(profileOf(prediction.row.engine).errors?.[metric] ?? null),
    };
  });
}

function sortValue({ row, error, measuredSeconds, predictedSeconds }: CheckedRow, order: RowOrder): number | string | null {
  switch (order) {
    case "error":
      return error === null ? null : Math.abs(error);
    case "line":
      return row.line;
    case "model":
      return row.model;
    case "gpu":
      return row.gpu;
    case "engine":
      return row.engine;
    case "tp":
      return row.shape.tp;
    case "input":
      return row.inputTokens;
    case "output":
      return row.outputTokens;
    case "concurrency":
      return row.concurrency;
    case "measured":
      return measuredSeconds;
    case "predicted":
      return predictedSeconds;
  }
}

/** Rows in the order of a column, errors by their size; rows without a value come last either way, equals by line. */
export function inOrder(rows: readonly CheckedRow[], order: RowOrder, descending: boolean): readonly CheckedRow[] {
  const sign = descending ? -1 : 1;
  return rows
    .map((row) => ({ row, value: sortValue(row, order) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null)
        return Number(a.value === null) - Number(b.value === null) || a.row.row.line - b.row.row.line;
      return sign * compare(a.value, b.value) || a.row.row.line - b.row.row.line;
    })
    .map(({ row }) => row);
}

const compare = (a: number | string, b: number | string): number =>
  typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
