"use client";

import { useId, useMemo } from "react";
import { CartesianGrid, ResponsiveContainer, ScatterChart, XAxis, YAxis } from "recharts";
import { formatCounted } from "../ui/format";
import { type FrontierCallbacks, FrontierLayer } from "./FrontierLayer";
import { axisTexts } from "./frontierAxes";
import type { Brush } from "./frontierBrush";
import { niceTicks } from "./niceTicks";
import type { FrontierPicture } from "./prepareFrontier";

const axis = { fontSize: 12, fill: "var(--ink-3)" } as const;
const margin = { top: 12, right: 16, bottom: 20, left: 8 } as const;

/** Text alternative of the chart. */
function frontierText({ axes, frontier, chosen }: FrontierPicture): string {
  if (frontier.length === 0) return "no plan on the frontier";
  const at =
    chosen === null ? "" : `, the recommended one at ${axisTexts[axes.x].format(chosen.x)} and ${axisTexts[axes.y].format(chosen.y)}`;
  return `${formatCounted(frontier.length, "plan")} on the frontier${at}, listed in the table below`;
}

/** The frontier over two axes. The axes are Recharts', everything on them is drawn by one layer from a prepared picture. */
export default function FrontierChart(
  props: {
    readonly picture: FrontierPicture;
    readonly hues: readonly string[];
    readonly xLabel: string;
    readonly yLabel: string;
    readonly brush: Brush | null;
    readonly hovered: string | null;
    readonly pinned: readonly string[];
  } & FrontierCallbacks,
) {
  const titleId = useId();
  const { picture } = props;
  const { x, y } = picture.axes;
  const [xLow, xHigh] = picture.xDomain;
  const [yLow, yHigh] = picture.yDomain;
  // Memoised while the ends are unchanged: new axes cost Recharts several passes, and a moved floor seldom changes them.
  const axes = useMemo(
    () => (
      <>
        <CartesianGrid stroke="var(--line)" />
        <XAxis
          type="number"
          dataKey="x"
          domain={[xLow, xHigh]}
          ticks={[...niceTicks({ low: xLow, high: xHigh, count: x === "cost" ? 5 : 10 })]}
          interval={0}
          allowDataOverflow
          tick={axis}
          tickFormatter={axisTexts[x].tick}
          stroke="var(--line-strong)"
          label={{ value: props.xLabel, position: "insideBottom", offset: -12, ...axis }}
        />
        <YAxis
          type="number"
          dataKey="y"
          domain={[yLow, yHigh]}
          ticks={[...niceTicks({ low: yLow, high: yHigh, count: 6 })]}
          interval={0}
          allowDataOverflow
          tick={axis}
          width={64}
          tickFormatter={axisTexts[y].tick}
          stroke="var(--line-strong)"
        />
      </>
    ),
    [x, y, xLow, xHigh, yLow, yHigh, props.xLabel],
  );
  return (
    <figure aria-labelledby={titleId} className="m-0">
      <figcaption id={titleId} className="sr-only">
        {`${props.yLabel} against ${props.xLabel}: ${frontierText(picture)}.`}
      </figcaption>
      <div className="h-80" data-testid="frontier-chart">
        <ResponsiveContainer width="100%" height="100%" minWidth={0} initialDimension={{ width: 640, height: 320 }}>
          <ScatterChart margin={margin} accessibilityLayer={false}>
            {axes}
            <FrontierLayer {...props} />
          </ScatterChart>
        </ResponsiveContainer>
      </div>
    </figure>
  );
}
