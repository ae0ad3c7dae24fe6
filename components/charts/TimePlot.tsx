import { memo } from "react";
import type { ChartSpec } from "./chartSpec";
import type { TimePicture } from "./prepareTimeChart";

/** Height of a chart over time and the room around its plot, in pixels. */
export const PLOT = { height: 176, top: 8, right: 8, bottom: 20, left: 48 } as const;

/** The lines, bands and axes of a chart over time. One path for each series: few nodes, whatever the number of points. */
export const TimePlot = memo(function TimePlot({ picture, spec }: { readonly picture: TimePicture; readonly spec: ChartSpec }) {
  const { width, height } = picture.size;
  const grid = picture.valueTicks.map(({ y }) => `M0 ${y}H${width}`).join("");
  return (
    <svg
      role="img"
      aria-label={summary(picture, spec)}
      width={width + PLOT.left + PLOT.right}
      height={PLOT.height}
      className="block max-w-full overflow-hidden text-[11px]"
    >
      <g transform={`translate(${PLOT.left} ${PLOT.top})`} fill="none">
        <path d={grid} stroke="var(--line)" />
        {picture.bands.map(({ id, hue, box, line }) => (
          <g key={id}>
            {box !== null && <rect {...box} fill={hue} fillOpacity={0.14} />}
            <path d={line} stroke={hue} strokeDasharray="2 3" />
          </g>
        ))}
        {picture.marks.map(({ x, text }) => (
          <g key={`${x} ${text}`}>
            <path d={`M${x} 0V${height}`} stroke="var(--line-strong)" strokeDasharray="4 2" />
            <text x={x > width / 2 ? x - 4 : x + 4} y={8} textAnchor={x > width / 2 ? "end" : "start"} fill="var(--ink-2)">
              {text}
            </text>
          </g>
        ))}
        {picture.series.map(({ id, hue, dashed, path }) => (
          <path
            key={id}
            data-series={id}
            d={path}
            stroke={hue}
            strokeWidth={1.5}
            strokeLinejoin="bevel"
            {...(dashed ? { strokeDasharray: "4 3" } : {})}
          />
        ))}
        {picture.threshold !== null && (
          <>
            <path d={`M0 ${picture.threshold.y}H${width}`} stroke="var(--ink-2)" />
            <text x={width} y={picture.threshold.y - 3} textAnchor="end" fill="var(--ink-2)">
              {picture.threshold.text}
            </text>
          </>
        )}
        <path d={`M0 0V${height}H${width}`} stroke="var(--line-strong)" />
        <g fill="var(--ink-3)">
          {picture.valueTicks.map(({ y, text }) => (
            <text key={text} x={-6} y={y + 4} textAnchor="end">
              {text}
            </text>
          ))}
          {picture.timeTicks.map(({ atMs, x, text }) => (
            <text key={atMs} x={x} y={height + 15} textAnchor="middle">
              {text}
            </text>
          ))}
        </g>
      </g>
    </svg>
  );
});

/** What a chart shows, in a sentence. */
function summary({ series, hasValues }: TimePicture, spec: ChartSpec): string {
  if (!hasValues) return `${spec.title}: no values.`;
  const newest = series.map(({ name, last }) => `${name} ${last === null ? "no sample" : spec.format(last)}`);
  return `${spec.title}. Newest: ${newest.join(", ")}.`;
}
