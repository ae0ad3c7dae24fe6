"use client";

import { type PointerEvent, useId, useState } from "react";
import { cssPercent } from "@/components/charts/cssPercent";
import { LineSwatch } from "@/components/charts/LineSwatch";
import type { TauPicture, TauPoint } from "./prepareTauChart";

/** Distance in pixels within which a pointer selects a point. */
const REACH_PX = 28;

/** A point by shape as well as colour: a disc is chosen, a diamond recommended, a ring any other. */
function Mark({ point }: { readonly point: TauPoint }) {
  const [cx, cy] = [cssPercent(point.x), cssPercent(1 - point.y)];
  if (point.role === "recommended")
    return (
      <text x={cx} y={cy} dy="0.35em" textAnchor="middle" fontSize="16" fill="var(--accent)">
        ◆
      </text>
    );
  return point.role === "chosen" ? (
    <circle cx={cx} cy={cy} r="6" fill="var(--accent)" stroke="var(--panel)" strokeWidth="1.5" />
  ) : (
    <circle cx={cx} cy={cy} r="3.5" fill="var(--panel)" stroke="var(--accent)" strokeWidth="1.5" />
  );
}

function Name({ point }: { readonly point: TauPoint }) {
  if (point.name === null) return null;
  const left = point.nameTo === "left";
  return (
    <text
      x={cssPercent(point.x)}
      y={cssPercent(1 - point.y)}
      dx={left ? -10 : 10}
      dy={point.y > 0.9 ? 16 : -8}
      textAnchor={left ? "end" : "start"}
      fontSize="11"
      fontWeight={point.role === "other" ? 400 : 600}
      fill={point.role === "other" ? "var(--ink-2)" : "var(--ink)"}
    >
      τ {point.name}
    </text>
  );
}

/**
 * Accuracy against the share of questions that skip the aggregator. Draws a prepared picture, decides nothing. A pointer selects; the
 * slider next to it does so by keyboard.
 */
export function TauChart(props: { readonly picture: TauPicture; readonly summary: string; readonly onStop: (stop: number) => void }) {
  const captionId = useId();
  const [pointed, setPointed] = useState<string | null>(null);
  const { picture } = props;
  const chosen = picture.points.find(({ role }) => role === "chosen") ?? null;
  const found = picture.points.find(({ key }) => key === pointed) ?? null;

  function find(event: PointerEvent<SVGSVGElement>): TauPoint | null {
    const box = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const near = picture.points
      .map((point) => ({ point, distance: Math.hypot(point.x * box.width - x, (1 - point.y) * box.height - y) }))
      .toSorted((a, b) => a.distance - b.distance)[0];
    return near !== undefined && near.distance <= REACH_PX ? near.point : null;
  }

  return (
    <figure aria-labelledby={captionId} className="m-0 min-w-0 text-xs text-ink-3" data-testid="tau-chart">
      <figcaption id={captionId} className="sr-only">
        {props.summary}
      </figcaption>
      <p aria-hidden="true" className="mb-2 flex flex-wrap justify-between gap-x-4">
        Accuracy, with 90 % intervals
        {picture.always !== null && (
          <span className="inline-flex items-center gap-1.5">
            <LineSwatch hue="var(--ink-3)" dashed /> {picture.always.text}
          </span>
        )}
      </p>
      <div className="grid grid-cols-[3.5rem_1fr] grid-rows-[15rem_1.5rem] pr-3">
        <div className="relative" aria-hidden="true">
          {picture.yTicks.map((tick) => (
            <span key={tick.at} className="absolute right-1.5 translate-y-1/2 whitespace-nowrap" style={{ bottom: cssPercent(tick.at) }}>
              {tick.text}
            </span>
          ))}
        </div>
        <svg
          role="presentation"
          className="h-full w-full cursor-pointer touch-pan-y overflow-visible border-b border-l border-line-strong"
          onPointerMove={(event) => setPointed(find(event)?.key ?? null)}
          onPointerLeave={() => setPointed(null)}
          onPointerUp={(event) => {
            const point = find(event);
            if (point !== null) props.onStop(point.stop);
          }}
        >
          <g stroke="var(--line)">
            {picture.xTicks.map((tick) => (
              <line key={`x${tick.at}`} x1={cssPercent(tick.at)} x2={cssPercent(tick.at)} y1="0%" y2="100%" />
            ))}
            {picture.yTicks.map((tick) => (
              <line key={`y${tick.at}`} x1="0%" x2="100%" y1={cssPercent(1 - tick.at)} y2={cssPercent(1 - tick.at)} />
            ))}
          </g>
          <svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" aria-hidden="true" overflow="visible">
            <path d={picture.band} fill="var(--accent)" fillOpacity="0.14" />
            <path
              d={picture.line}
              fill="none"
              stroke="var(--accent)"
              strokeWidth="1.75"
              strokeLinejoin="round"
              vectorEffect="non-scaling-stroke"
            />
          </svg>
          {picture.always !== null && (
            <line
              x1="0%"
              x2="100%"
              y1={cssPercent(1 - picture.always.at)}
              y2={cssPercent(1 - picture.always.at)}
              stroke="var(--ink-3)"
              strokeDasharray="4 3"
            />
          )}
          {picture.points.map((point) => (
            <Mark key={point.key} point={point} />
          ))}
          {picture.points.map((point) => (
            <Name key={point.key} point={point} />
          ))}
          {found !== null && (
            <circle cx={cssPercent(found.x)} cy={cssPercent(1 - found.y)} r="9" fill="none" stroke="var(--ink)" strokeWidth="1.5" />
          )}
        </svg>
        <span />
        <div className="relative" aria-hidden="true">
          {picture.xTicks.map((tick) => (
            <span key={tick.at} className="absolute top-1 -translate-x-1/2 whitespace-nowrap" style={{ left: cssPercent(tick.at) }}>
              {tick.text}
            </span>
          ))}
        </div>
      </div>
      <p aria-hidden="true" className="mt-1 text-right">
        Questions that skip the aggregator
      </p>
      <p aria-hidden="true" className="min-h-8 text-ink-2 [overflow-wrap:anywhere]">
        {(found ?? chosen)?.text}
      </p>
    </figure>
  );
}
