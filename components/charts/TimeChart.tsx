"use client";

import { memo, useEffect, useMemo, useRef, useState } from "react";
import type { ChartMark, TimeWindow } from "./chartSpec";
import type { Crosshair } from "./crosshair";
import { EmptyChartText, Seen } from "./EmptyChartText";
import { prepareTimeChart, type TimeChartInput } from "./prepareTimeChart";
import { TimeKey } from "./TimeKey";
import { PLOT, TimePlot } from "./TimePlot";
import { TimePointer } from "./TimePointer";
import { TimeTable } from "./TimeTable";
import { useOnScreen } from "./useOnScreen";

export interface TimeChartProps extends Omit<TimeChartInput, "marks"> {
  readonly marks?: readonly ChartMark[];
  /** Shared by all charts of the page. */
  readonly crosshair: Crosshair;
  readonly onZoom: (window: TimeWindow) => void;
  /** Why there is nothing to draw, where that is known. */
  readonly empty?: string;
}

const NO_MARKS: readonly ChartMark[] = [];
const NOTHING = "No value was reported in this range.";
/** Before it is measured. */
const FIRST_WIDTH = 420;

/** Minutes that are added to UTC for local time, at an instant. */
const offsetAt = (atMs: number): number => -new Date(atMs).getTimezoneOffset();

/**
 * Lines over time with their key, crosshair, zoom and table. Redrawn when its input is another object, and only while it can be
 * seen: `range` and `window` should change together, once for each tick of the page.
 */
export function TimeChart(props: TimeChartProps) {
  const figure = useRef<HTMLElement>(null);
  const seen = useOnScreen(figure);
  return (
    <figure ref={figure} className="m-0">
      <Seen value={seen}>
        <Drawing {...props} seen={seen} />
      </Seen>
    </figure>
  );
}

type DrawingProps = TimeChartProps & { readonly seen: boolean };

/** Invisible charts keep their last drawing. */
const isDrawn = (before: DrawingProps, after: DrawingProps): boolean =>
  !after.seen || (Object.keys(after) as (keyof DrawingProps)[]).every((key) => Object.is(before[key], after[key]));

const Drawing = memo(function Drawing({ spec, range, window, bands, marks = NO_MARKS, crosshair, onZoom, empty = NOTHING }: DrawingProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(FIRST_WIDTH);
  useEffect(() => {
    if (frame.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? FIRST_WIDTH)));
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  const picture = useMemo(() => {
    const size = { width: Math.max(40, width - PLOT.left - PLOT.right), height: PLOT.height - PLOT.top - PLOT.bottom };
    return prepareTimeChart({ spec, range, window, bands, marks }, size, offsetAt);
  }, [spec, range, window, bands, marks, width]);
  return (
    <>
      <div ref={frame} className="relative">
        <TimePlot picture={picture} spec={spec} />
        {picture.hasValues ? (
          <TimePointer picture={picture} spec={spec} crosshair={crosshair} onZoom={onZoom} />
        ) : (
          <EmptyChartText text={empty} />
        )}
      </div>
      <figcaption>
        <TimeKey picture={picture} spec={spec} />
      </figcaption>
      {picture.hasValues && <TimeTable picture={picture} spec={spec} />}
    </>
  );
}, isDrawn);
