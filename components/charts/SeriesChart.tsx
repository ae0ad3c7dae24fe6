"use client";

import { Fragment, useState } from "react";
import { CartesianGrid, ComposedChart, Line, ReferenceArea, ReferenceLine, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { formatClock } from "../ui/format";
import { niceTicks } from "./niceTicks";
import type { SeriesPicture, SeriesRow } from "./prepareSeries";

/** What a plan promised for the value drawn, over the time it was in force: a band, with the point prediction inside it. */
export interface PredictedBand {
  readonly fromMs: number;
  readonly toMs: number;
  readonly low: number;
  readonly high: number;
  readonly value: number;
}

const axis = { fontSize: 11, fill: "var(--ink-3)" } as const;
/** Room above the highest value or promise. */
const HEADROOM = 1.08;
const margin = { top: 8, right: 8, bottom: 0, left: 0 } as const;
const clock = (atMs: number) => formatClock(new Date(atMs).toISOString());

function Readout(props: { readonly row: SeriesRow; readonly picture: SeriesPicture; readonly format: (value: number) => string }) {
  const values = props.picture.series
    .map((series) => ({ series, value: props.row[series.key] ?? null }))
    .sort((a, b) => (b.value ?? -1) - (a.value ?? -1));
  return (
    <div className="rounded-md border bg-raised px-2 py-1.5 text-xs shadow-md">
      <div className="text-ink-3">{clock(props.row.atMs)}</div>
      {values.map(({ series, value }) => (
        <div key={series.key} className="flex items-center gap-2">
          <span aria-hidden="true" className="h-0.5 w-3" style={{ background: series.hue }} />
          <span className="text-ink-2">{series.name}</span>
          <span className="ml-auto pl-3 font-medium">{value === null ? "no sample" : props.format(value)}</span>
        </div>
      ))}
    </div>
  );
}

/** Lines over time. Charts of one `syncId` share their crosshair; only the one under the pointer shows values. */
export default function SeriesChart(props: {
  readonly picture: SeriesPicture;
  readonly syncId: string;
  readonly format: (value: number) => string;
  /** Behind the numbers of the axis. */
  readonly unit: string;
  readonly bands: readonly PredictedBand[];
}) {
  const { picture, bands } = props;
  const [pointed, setPointed] = useState(false);
  const top = Math.max(picture.highest, ...bands.map((band) => band.high)) * HEADROOM || 1;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only decides which of the synced charts shows its readout.
    <div
      className="h-44"
      onPointerEnter={() => setPointed(true)}
      onPointerLeave={() => setPointed(false)}
      onFocus={() => setPointed(true)}
      onBlur={() => setPointed(false)}
    >
      <ResponsiveContainer width="100%" height="100%" minWidth={0} initialDimension={{ width: 420, height: 176 }}>
        <ComposedChart data={picture.rows as SeriesRow[]} margin={margin} syncId={props.syncId} syncMethod="value">
          <CartesianGrid stroke="var(--line)" vertical={false} />
          <XAxis
            dataKey="atMs"
            type="number"
            domain={["dataMin", "dataMax"]}
            tick={axis}
            tickFormatter={clock}
            stroke="var(--line-strong)"
            minTickGap={48}
          />
          <YAxis
            tick={axis}
            ticks={[...niceTicks({ low: 0, high: top, count: 4 })]}
            interval={0}
            tickFormatter={(value: number) => `${value}${props.unit}`}
            width={48}
            stroke="var(--line-strong)"
            domain={[0, top]}
          />
          {bands.map((band) => (
            <Fragment key={band.fromMs}>
              <ReferenceArea
                x1={band.fromMs}
                x2={band.toMs}
                y1={band.low}
                y2={band.high}
                fill="var(--accent)"
                fillOpacity={0.14}
                stroke="none"
                ifOverflow="hidden"
              />
              <ReferenceLine
                segment={[
                  { x: band.fromMs, y: band.value },
                  { x: band.toMs, y: band.value },
                ]}
                stroke="var(--accent)"
                strokeDasharray="2 3"
                ifOverflow="hidden"
              />
            </Fragment>
          ))}
          <Tooltip
            isAnimationActive={false}
            cursor={{ stroke: "var(--line-strong)" }}
            content={({ active, payload }) => {
              const row = payload?.[0]?.payload as SeriesRow | undefined;
              return active && pointed && row !== undefined ? <Readout row={row} picture={picture} format={props.format} /> : null;
            }}
          />
          {picture.series.map((series) => (
            <Line
              key={series.key}
              type="linear"
              dataKey={series.key}
              name={series.name}
              stroke={series.hue}
              strokeWidth={1.5}
              {...(series.dashed ? { strokeDasharray: "4 3" } : {})}
              dot={false}
              activeDot={{ r: 3 }}
              connectNulls={false}
              isAnimationActive={false}
            />
          ))}
        </ComposedChart>
      </ResponsiveContainer>
    </div>
  );
}
