"use client";

import { memo, useMemo } from "react";
import type { TimeWindow } from "@/components/charts/chartSpec";
import type { Crosshair } from "@/components/charts/crosshair";
import { TimeChart } from "@/components/charts/TimeChart";
import { Panel } from "@/components/ui/Panel";
import type { SeriesRange } from "@/server/contracts/studio";
import { deriveSeries } from "./deriveSeries";
import type { LiveChartSpec } from "./liveCharts";
import { type PlanSpan, prepareBands, prepareMarks } from "./prepareBands";

const NO_SERIES: NonNullable<LiveChartSpec["derived"]> = [];

/** One chart of the page with its title, the basis of its values, and the promises of the plans in force behind its lines. */
export const LiveChart = memo(function LiveChart(props: {
  readonly spec: LiveChartSpec;
  readonly range: SeriesRange;
  readonly window: TimeWindow;
  readonly spans: readonly PlanSpan[];
  readonly crosshair: Crosshair;
  readonly onZoom: (window: TimeWindow) => void;
  readonly empty: string;
}) {
  const { spec, range, window, spans } = props;
  const { derived = NO_SERIES, promised } = spec;
  const whole = useMemo(() => deriveSeries(range, derived), [range, derived]);
  const bands = useMemo(() => (promised === undefined ? [] : prepareBands(spans, window, promised)), [spans, window, promised]);
  const marks = useMemo(() => prepareMarks(spans), [spans]);
  return (
    <Panel title={spec.title} {...(spec.note === undefined ? {} : { aside: <span>{spec.note}</span> })}>
      <TimeChart
        spec={spec}
        range={whole}
        window={window}
        bands={bands}
        marks={marks}
        crosshair={props.crosshair}
        onZoom={props.onZoom}
        empty={props.empty}
      />
    </Panel>
  );
});
