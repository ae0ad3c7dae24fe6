import type { Brush } from "@/components/charts/frontierBrush";
import { word } from "@/components/url/addressFields";
import type { UrlCodec } from "@/components/url/useUrlView";
import { type PlanAxis, planAxes } from "@/solver/cascade/explore/paretoFront";
import { parsePin } from "./routingKey";

/** How the frontier is displayed. */
export interface FrontierView {
  /** Never the same. */
  readonly xAxis: PlanAxis;
  readonly yAxis: PlanAxis;
  /** Rectangle on these axes that filters the table. */
  readonly brush: Brush | null;
  /** Whether the baselines are planned and drawn too. */
  readonly baselines: boolean;
  /** Pinned plans, as `formatPin` writes them. */
  readonly pins: readonly string[];
}

export const MAX_PINS = 4;
const DEFAULT_AXES = { xAxis: "quality", yAxis: "latency" } as const;

/** Four numbers, low before high on both axes; null for anything else, because an address can be typed by anyone. */
function parseBrush(text: string | null): Brush | null {
  const values = (text ?? "").split(" ").map(Number);
  const [xLow = Number.NaN, xHigh = Number.NaN, yLow = Number.NaN, yHigh = Number.NaN] = values;
  const sound = values.length === 4 && values.every(Number.isFinite) && xLow < xHigh && yLow < yHigh;
  return sound ? { x: [xLow, xHigh], y: [yLow, yHigh] } : null;
}

export const frontierCodec: UrlCodec<FrontierView> = {
  parse: (params) => {
    const axes = {
      xAxis: word(planAxes).parse(params.get("x")) ?? DEFAULT_AXES.xAxis,
      yAxis: word(planAxes).parse(params.get("y")) ?? DEFAULT_AXES.yAxis,
    };
    const pins = (params.get("pins") ?? "").split(" ").filter((key) => parsePin(key) !== null);
    return {
      ...(axes.xAxis === axes.yAxis ? DEFAULT_AXES : axes),
      brush: parseBrush(params.get("brush")),
      baselines: params.get("baselines") === "1",
      pins: [...new Set(pins)].slice(0, MAX_PINS),
    };
  },
  format: ({ xAxis, yAxis, brush, baselines, pins }) => ({
    x: xAxis === DEFAULT_AXES.xAxis ? undefined : xAxis,
    y: yAxis === DEFAULT_AXES.yAxis ? undefined : yAxis,
    brush: brush === null ? undefined : [...brush.x, ...brush.y].join(" "),
    baselines: baselines ? "1" : undefined,
    pins: pins.length === 0 ? undefined : pins.join(" "),
  }),
};
