"use client";

import { memo } from "react";
import { Bar, BarChart, CartesianGrid, ReferenceLine, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { formatCount } from "../ui/format";
import type { ScoreBar, ScorePicture } from "./prepareMirror";

const axis = { fontSize: 11, fill: "var(--ink-3)" } as const;
const margin = { top: 14, right: 8, bottom: 0, left: 0 } as const;

/** Bars of judged scores with the threshold among them. Draws a prepared picture, decides nothing. */
export default memo(function ScoreChart({ picture, hue }: { readonly picture: ScorePicture; readonly hue: string }) {
  return (
    <div className="h-36">
      <ResponsiveContainer width="100%" height="100%" minWidth={0} initialDimension={{ width: 320, height: 144 }}>
        <BarChart data={picture.bars as ScoreBar[]} margin={margin} barCategoryGap={1} accessibilityLayer={false}>
          <CartesianGrid stroke="var(--line)" vertical={false} />
          <XAxis dataKey="middle" type="number" domain={[0, 100]} ticks={[0, 25, 50, 75, 100]} tick={axis} stroke="var(--line-strong)" />
          <YAxis
            tick={axis}
            width={36}
            ticks={[...picture.ticks]}
            interval={0}
            domain={[0, picture.highest || 1]}
            stroke="var(--line-strong)"
          />
          <Tooltip
            isAnimationActive={false}
            cursor={{ fill: "var(--sunken)" }}
            content={({ active, payload }) => {
              const bar = payload?.[0]?.payload as ScoreBar | undefined;
              return active && bar !== undefined ? (
                <div className="rounded-md border bg-raised px-2 py-1.5 text-xs shadow-md">
                  scores {bar.name}: <strong className="font-medium">{formatCount(bar.count)}</strong>
                </div>
              ) : null;
            }}
          />
          <Bar dataKey="count" fill={hue} fillOpacity={0.85} isAnimationActive={false} />
          {picture.threshold !== null && (
            <ReferenceLine
              x={picture.threshold}
              stroke="var(--ink)"
              strokeDasharray="4 3"
              label={{ value: `accepts from ${picture.threshold}`, position: "top", fontSize: 11, fill: "var(--ink-2)" }}
            />
          )}
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
});
