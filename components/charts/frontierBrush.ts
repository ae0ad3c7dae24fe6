import type { PlanAxis, PlanFigures } from "@/solver/cascade/explore/paretoFront";
import { type FrontierAxes, roundOn } from "./frontierAxes";

/** A rectangle on the chart's two axes, in their units, low before high. */
export interface Brush {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
}

/** The ranges of the two axes. */
interface View {
  readonly xDomain: readonly [number, number];
  readonly yDomain: readonly [number, number];
}

type Side = "left" | "right" | "up" | "down";

/** Key steps across a whole axis. */
const KEY_STEPS = 20;

const within = (value: number, [low, high]: readonly [number, number]): boolean => value >= low && value <= high;

/** Whether a plan is inside a rectangle, edges included. */
export const inBrush = (plan: PlanFigures, axes: FrontierAxes, brush: Brush): boolean =>
  within(plan[axes.x], brush.x) && within(plan[axes.y], brush.y);

/** The rectangle between two corners, on round values; null where it has no extent on an axis. */
export function brushBetween(
  a: { readonly x: number; readonly y: number },
  b: { readonly x: number; readonly y: number },
  axes: FrontierAxes,
): Brush | null {
  const x = [roundOn(axes.x, Math.min(a.x, b.x)), roundOn(axes.x, Math.max(a.x, b.x))] as const;
  const y = [roundOn(axes.y, Math.min(a.y, b.y)), roundOn(axes.y, Math.max(a.y, b.y))] as const;
  return x[0] < x[1] && y[0] < y[1] ? { x, y } : null;
}

/**
 * The rectangle after a key: left and right move its right edge, up and down its upper edge, one twentieth of the axis at a time. The
 * first key makes one of two steps each way around the current plan. null once it has no extent.
 */
export function brushByKey(
  brush: Brush | null,
  side: Side,
  at: { readonly view: View; readonly axes: FrontierAxes; readonly around: { readonly x: number; readonly y: number } },
): Brush | null {
  const { view, axes, around } = at;
  const xStep = keyStep(axes.x, view.xDomain);
  const yStep = keyStep(axes.y, view.yDomain);
  const held = (value: number, [low, high]: readonly [number, number]): number => Math.min(high, Math.max(low, value));
  const [low, high] =
    brush === null
      ? [
          { x: around.x - 2 * xStep, y: around.y - 2 * yStep },
          { x: around.x + 2 * xStep, y: around.y + 2 * yStep },
        ]
      : [
          { x: brush.x[0], y: brush.y[0] },
          { x: brush.x[1] + sign(side, "right", "left") * xStep, y: brush.y[1] + sign(side, "up", "down") * yStep },
        ];
  if (high.x <= low.x || high.y <= low.y) return null;
  return brushBetween(
    { x: held(low.x, view.xDomain), y: held(low.y, view.yDomain) },
    { x: held(high.x, view.xDomain), y: held(high.y, view.yDomain) },
    axes,
  );
}

/** GPUs are whole: a smaller step would be rounded away. */
const keyStep = (axis: PlanAxis, [low, high]: readonly [number, number]): number =>
  Math.max(axis === "gpus" ? 1 : 0, (high - low) / KEY_STEPS);

const sign = (side: Side, more: Side, less: Side): number => Number(side === more) - Number(side === less);
