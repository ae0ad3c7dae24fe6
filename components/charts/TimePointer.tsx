"use client";

import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { useStore } from "zustand";
import { bucketText } from "./bucketText";
import type { ChartSpec, TimeWindow } from "./chartSpec";
import type { Crosshair } from "./crosshair";
import { LineSwatch } from "./LineSwatch";
import { draggedWindow, LEAST_DRAG_PX, nearestBucket, type ReadoutRow, readout, zoomAround } from "./prepareReadout";
import type { TimePicture } from "./prepareTimeChart";
import { PLOT } from "./TimePlot";

/** Buckets per step with Shift or a page key. */
const BIG_STEP = 10;

interface Drag {
  readonly fromX: number;
  readonly toX: number;
}

/**
 * Crosshair and zoom over a plot. It has its own state, so that moving the pointer redraws no line. To assistive technology it is
 * a slider through time that announces the values at each step.
 */
export function TimePointer(props: {
  readonly picture: TimePicture;
  readonly spec: ChartSpec;
  readonly crosshair: Crosshair;
  readonly onZoom: (window: TimeWindow) => void;
}) {
  const { picture, spec, crosshair, onZoom } = props;
  const { atMs, chartId } = useStore(crosshair);
  const [drag, setDrag] = useState<Drag | null>(null);
  const isOwn = chartId === spec.id;
  const bucket = atMs === null ? null : nearestBucket(picture, atMs);
  const rows = isOwn && bucket !== null ? readout(picture, bucket, spec.format) : [];
  const time = bucket === null ? "" : bucketText(picture.atMs[bucket] ?? 0, picture.window);
  const x = bucket === null ? 0 : (picture.x[bucket] ?? 0);

  const pointAt = (wanted: number): void => {
    const at = Math.min(picture.atMs.length - 1, Math.max(0, wanted));
    // The newest bucket is still filling: its middle may be ahead of now.
    crosshair.setState({ atMs: Math.min(picture.window.toMs, (picture.atMs[at] ?? 0) + picture.bucketMs / 2), chartId: spec.id });
  };
  const leave = (): void => {
    if (crosshair.getState().chartId === spec.id) crosshair.setState({ atMs: null, chartId: null });
  };
  const xUnder = (event: PointerEvent): number => event.clientX - event.currentTarget.getBoundingClientRect().left;
  const onMove = (event: PointerEvent): void => {
    const under = xUnder(event);
    if (drag !== null) setDrag({ ...drag, toX: under });
    const { fromMs, toMs } = picture.window;
    crosshair.setState({ atMs: fromMs + (under / picture.size.width) * (toMs - fromMs), chartId: spec.id });
  };
  const onUp = (event: PointerEvent): void => {
    const zoomed = drag === null ? null : draggedWindow(picture, drag.fromX, xUnder(event));
    setDrag(null);
    if (zoomed !== null) onZoom(zoomed);
  };
  const onKey = (event: KeyboardEvent): void => {
    const here = bucket ?? picture.atMs.length - 1;
    const step = event.shiftKey ? BIG_STEP : 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: here - step,
      ArrowRight: here + step,
      PageDown: here - BIG_STEP,
      PageUp: here + BIG_STEP,
      Home: 0,
      End: picture.atMs.length - 1,
    };
    const move = moves[event.key];
    if (move !== undefined) pointAt(move);
    else if (event.key === "Escape") {
      if (drag !== null) setDrag(null);
      else leave();
    } else if (event.key === "+" || event.key === "Enter") {
      const zoomed = atMs === null ? null : zoomAround(picture.window, atMs);
      if (zoomed !== null) onZoom(zoomed);
    } else return;
    event.preventDefault();
  };

  return (
    <div className="absolute" style={{ left: PLOT.left, top: PLOT.top, width: picture.size.width, height: picture.size.height }}>
      <div
        role="slider"
        tabIndex={0}
        aria-label={`Time in ${spec.title}`}
        aria-valuemin={picture.window.fromMs}
        aria-valuemax={picture.window.toMs}
        aria-valuenow={Math.round(Math.max(picture.window.fromMs, atMs ?? picture.window.toMs))}
        aria-valuetext={rows.length === 0 ? "no time chosen" : `${time}: ${rows.map(({ name, text }) => `${name} ${text}`).join(", ")}`}
        className="absolute inset-0 touch-pan-y select-none cursor-crosshair"
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ fromX: xUnder(event), toX: xUnder(event) });
        }}
        onPointerMove={onMove}
        onPointerUp={onUp}
        onPointerCancel={() => setDrag(null)}
        onPointerLeave={leave}
        onFocus={() => crosshair.getState().chartId !== spec.id && pointAt(picture.atMs.length - 1)}
        onBlur={leave}
        onKeyDown={onKey}
      />
      {drag !== null && Math.abs(drag.toX - drag.fromX) >= LEAST_DRAG_PX && (
        <div
          aria-hidden="true"
          className="pointer-events-none absolute inset-y-0 border-x border-accent bg-accent/15"
          style={{ left: Math.min(drag.fromX, drag.toX), width: Math.abs(drag.toX - drag.fromX) }}
        />
      )}
      {bucket !== null && (
        <div aria-hidden="true" className="pointer-events-none absolute inset-0">
          {/* A separate layer: it moves without repainting the lines below it. */}
          <div
            className="absolute inset-y-0 left-0 w-px bg-line-strong will-change-transform"
            style={{ transform: `translateX(${Math.round(x)}px)` }}
          />
          {rows.map(
            ({ id, hue, y }) =>
              y !== null && (
                <div key={id} className="absolute size-1.5 -translate-1/2 rounded-full" style={{ left: x, top: y, background: hue }} />
              ),
          )}
          {rows.length > 0 && <Readout time={time} rows={rows} x={x} width={picture.size.width} />}
        </div>
      )}
    </div>
  );
}

function Readout(props: { readonly time: string; readonly rows: readonly ReadoutRow[]; readonly x: number; readonly width: number }) {
  const { x, width } = props;
  return (
    <div
      data-testid="readout"
      className="absolute top-1 z-20 rounded-md border bg-raised px-2 py-1.5 text-xs shadow-md"
      style={x > width / 2 ? { right: width - x + 8 } : { left: x + 8 }}
    >
      <div className="text-ink-3">{props.time}</div>
      {props.rows.map(({ id, hue, dashed, name, text }) => (
        <div key={id} className="flex items-center gap-2 whitespace-nowrap">
          <LineSwatch hue={hue} dashed={dashed} />
          <span className="text-ink-2">{name}</span>
          <span className="ml-auto pl-3 font-medium">{text}</span>
        </div>
      ))}
    </div>
  );
}
