/** The axes on which plans are compared. */
export const planAxes = ["quality", "latency", "cost", "gpus"] as const;
export type PlanAxis = (typeof planAxes)[number];

/** A plan on every axis: the quality that is compared with the floor (0..100), objective latency in seconds, USD per request, GPUs. */
export type PlanFigures = Readonly<Record<PlanAxis, number>>;

/** Higher quality is better; on every other axis lower is better. */
export const isBetterHigh = (axis: PlanAxis): boolean => axis === "quality";

/**
 * Positions of the plans that no other beats on both axes, by rising value on the first; of plans equal on both, the first.
 * Plans without a finite value on either axis are left out.
 */
export function paretoFront(plans: readonly PlanFigures[], [first, second]: readonly [PlanAxis, PlanAxis]): number[] {
  const lossOn = (axis: PlanAxis): Float64Array => Float64Array.from(plans, (plan) => (isBetterHigh(axis) ? -plan[axis] : plan[axis]));
  const [loss, other] = [lossOn(first), lossOn(second)];
  const at = (values: Float64Array, index: number): number => values[index] ?? Number.POSITIVE_INFINITY;
  const order = plans
    .map((_, index) => index)
    .filter((index) => Number.isFinite(at(loss, index)) && Number.isFinite(at(other, index)))
    .sort((a, b) => at(loss, a) - at(loss, b) || at(other, a) - at(other, b) || a - b);
  const front: number[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const index of order) {
    if (at(other, index) >= least) continue;
    least = at(other, index);
    front.push(index);
  }
  return isBetterHigh(first) ? front.reverse() : front;
}
