"use client";

import dynamic from "next/dynamic";
import { useMemo } from "react";
import type { LiveFrame } from "@/server/contracts/studio";
import { prepareSeries, type Series } from "../charts/prepareSeries";
import type { PredictedBand } from "../charts/SeriesChart";
import { Panel } from "../ui/Panel";

const SeriesChart = dynamic(() => import("../charts/SeriesChart"), { ssr: false, loading: () => <div className="h-44" /> });

const NO_BANDS: readonly PredictedBand[] = [];

/** A chart over time with its title, its key and a word where there is nothing to draw. */
export function LiveChart(props: {
  readonly title: string;
  readonly frames: readonly LiveFrame[];
  readonly series: readonly Series[];
  readonly rangeSeconds: number;
  readonly format: (value: number) => string;
  readonly unit: string;
  readonly bands?: readonly PredictedBand[];
}) {
  const { frames, series, rangeSeconds, bands = NO_BANDS } = props;
  const picture = useMemo(() => prepareSeries(frames, series, rangeSeconds), [frames, series, rangeSeconds]);
  return (
    <Panel title={props.title}>
      {picture.hasValues ? (
        <SeriesChart picture={picture} syncId="live" format={props.format} unit={props.unit} bands={bands} />
      ) : (
        <p className="flex h-44 items-center justify-center text-sm text-ink-3">No value of this was reported in the range.</p>
      )}
      <ul className="mt-2 flex list-none flex-wrap gap-x-3 text-xs text-ink-3">
        {picture.series.map((each) => (
          <li key={each.key} className="inline-flex items-center gap-1.5">
            <svg aria-hidden="true" viewBox="0 0 14 4" className="h-1 w-3.5">
              <path d="M0 2H14" stroke={each.hue} strokeWidth="2" {...(each.dashed ? { strokeDasharray: "4 2" } : {})} />
            </svg>
            {each.name}
          </li>
        ))}
        {bands.length > 0 && (
          <li className="inline-flex items-center gap-1.5">
            <span aria-hidden="true" className="h-2 w-3.5 bg-accent-soft" />
            predicted p95
          </li>
        )}
        {picture.omitted > 0 && <li>{picture.omitted} more not shown</li>}
      </ul>
    </Panel>
  );
}
