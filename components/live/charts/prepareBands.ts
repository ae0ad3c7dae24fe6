import type { ChartMark, PredictedBand, TimeWindow } from "@/components/charts/chartSpec";
import { shortHash } from "@/components/ui/format";
import type { PlanInForce } from "@/server/contracts/studio";
import type { Predictions } from "@/solver/plan/plan";
import type { Promised } from "./liveCharts";

/** A plan that was in force, with its promises; `predictions` null: it is not stored, or not read yet. */
export interface PlanSpan extends PlanInForce {
  readonly predictions: Predictions | null;
}

/** Each plan's promise of a chart's value, over the time it was in force; nothing for a plan that is not stored. */
export function prepareBands(
  spans: readonly PlanSpan[],
  window: TimeWindow,
  promised: (predictions: Predictions) => readonly Promised[],
): readonly PredictedBand[] {
  return spans.flatMap(({ predictions, fromMs, toMs }) =>
    predictions === null ? [] : promised(predictions).map((each) => ({ ...each, fromMs, toMs: toMs ?? window.toMs })),
  );
}

/** Where another plan came into force. */
export const prepareMarks = (spans: readonly PlanInForce[]): readonly ChartMark[] =>
  spans.map(({ planId, fromMs }) => ({ atMs: fromMs, text: `plan ${shortHash(planId)}` }));
