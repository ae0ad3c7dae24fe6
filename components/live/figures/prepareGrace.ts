import { formatScore } from "@/components/ui/format";
import type { ControlsForecast, LiveFrame } from "@/server/contracts/studio";
import { cascadeOf } from "@/solver/plan/policySchema";

/** The lowered thresholds of the cascade in force. */
export interface GraceNow {
  /** Those that are lowered. */
  readonly lowered: NonNullable<NonNullable<LiveFrame["gateway"]["routing"]>["grace"]>;
  /** All thresholds as they are now. */
  readonly thresholds: readonly number[];
  /** Requests that may wait for a later stage; null: the policy does not say. */
  readonly waiting: number | null;
}

/** How overload has lowered thresholds, as the gateway last reported; null where it has not, or the gateway does not answer. */
export function graceOf({ gateway: { state, routing } }: LiveFrame): GraceNow | null {
  const cascade = routing === null ? null : cascadeOf(routing.policy);
  const lowered = routing?.grace ?? [];
  if (state !== "fresh" || cascade === null || lowered.length === 0) return null;
  const thresholds = cascade.thresholds.map(
    (own, stage) => lowered.find(({ model }) => model === cascade.stages[stage]?.model)?.inForce ?? own,
  );
  return { lowered, thresholds, waiting: cascade.grace?.waiting ?? null };
}

/**
 * The quality that the lowered thresholds are predicted to give, and what they cost.
 *
 * @param planQuality as the plan predicts it, if its own thresholds are those in force; null: not known.
 */
export function predictedCost({ inForce, changed }: Pick<ControlsForecast, "inForce" | "changed">, planQuality: number | null): string {
  if (changed.quality === null) return "Quality is not predicted: even with these thresholds the engines do not sustain the present rate.";
  const quality = `Predicted quality with these thresholds: ${formatScore(changed.quality)}`;
  const before = inForce.quality ?? planQuality;
  if (before === null) return `${quality}.`;
  return `${quality}, ${formatScore(Math.max(0, before - changed.quality))} points below the ${formatScore(before)} predicted without grace.`;
}
