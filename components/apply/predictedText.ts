import type { PlanSummary } from "@/server/contracts/studio";
import { ABSENT } from "../ui/format";

type PredictedFigure = "quality" | "p95Seconds" | "costUsdPerRequest";

/** A figure that a plan promises, in words where it is not predicted; absent where the plan is not stored. */
export function predictedText(plan: PlanSummary | undefined, figure: PredictedFigure, format: (value: number) => string): string {
  if (plan === undefined) return ABSENT;
  const value = plan[figure];
  return value === null ? "not predicted" : format(value);
}
