import type { PlanSummary } from "@/server/contracts/studio";
import { ABSENT } from "../ui/format";

type PredictedFigure = "quality" | "p95Seconds" | "costUsdPerRequest";

/** A figure that a plan promises, in words where nothing predicts it; absent where the plan is not kept. */
export function predictedText(plan: PlanSummary | undefined, figure: PredictedFigure, format: (value: number) => string): string {
  if (plan === undefined) return ABSENT;
  const value = plan[figure];
  return value === null ? "not predicted" : format(value);
}
