"use client";

import { type PointerEvent, useId, useState } from "react";
import { cssPercent } from "./cssPercent";
import { type DrawnPoint, type LinesPicture, nearestOf } from "./prepareLines";

/** Distance in pixels within which a pointer selects a point. */
const REACH_PX = 24;

/** Distance between the letters of points that coincide. */
const LETTER_PX = 17;

/** An interval as a line with a short stroke at each end, which a wide letter does not hide. */
function Bar({ point, of }: { readonly point: DrawnPoint; readonly of: "x" | "y" }) {
  const bar = of === "x" ? point.xBar : point.yBar;
  if (bar === null) return null;
  const [low, high] = bar;
  return of === "x" ? (
    <line x1={cssPercent(low)} x2={cssPercent(high)} y1={cssPercent(1 - point.y)} y2={cssPercent(1 - point.y)} />
  ) : (
    <line x1={cssPercent(point.x)} x2={cssPercent(point.x)} y1={cssPercent(1 - low)} y2={cssPercent(1 - high)} />
  );
}

function Letter({ point, tagged }: { readonly point: DrawnPoint; readonly tagged: boolean }) {
  return (
    <g data-point={point.line} transform={`translate(${point.beside * LETTER_PX} 0)`}>
      <circle cx={cssPercent(point.x)} cy={cssPercent(1 - point.y)} r="8" fill="var(--panel)" stroke={point.hue} strokeWidth="1.5" />
      <text
        x={cssPercent(point.x)}
        y={cssPercent(1 - point.y)}
        dy="0.35em"
        textAnchor="middle"
        fontSize="10"
        fontWeight="600"
        fill="var(--ink)"
      >
        {point.letter}
      </text>
      {tagged && point.tag !== "" && (
        <text
          x={cssPercent(point.x)}
          y={cssPercent(1 - point.y)}
          dx="11"
          dy={`${-0.5 - Math.abs(point.beside)}em`}
          fontSize="10"
          fill="var(--ink-3)"
        >
          {point.tag}
        </text>
      )}
    </g>
  );
}

/**
 * Lines over two axes, with letters and intervals. Draws a prepared picture, decides nothing. The point under the pointer is described
 * below it.
 */
export function LineChart(props: { readonly picture: LinesPicture; readonly summary: string; readonly testId: string }) {
  const captionId = useId();
  const [pointed, setPointed] = useState<DrawnPoint | null>(null);
  const { picture } = props;
  const found = picture.points.find(({ key }) => key === pointed?.key) ?? null;

  function find(event: PointerEvent<SVGSVGElement>): DrawnPoint | null {
    const box = event.currentTarget.getBoundingClientRect();
    const at = { x: event.clientX - box.left, y: event.clientY - box.top };
    return nearestOf(picture, at, { width: box.width, height: box.height, reach: REACH_PX });
  }

  return (
    <figure aria-labelledby={captionId} className="m-0 min-w-0 text-xs text-ink-3" data-testid={props.testId}>
      <figcaption id={captionId} className="sr-only">
        {props.summary}
      </figcaption>
      <p aria-hidden="true" className="mb-2">
        {picture.y.title}
      </p>
      <div className="grid grid-cols-[3.5rem_1fr] grid-rows-[15rem_1.5rem] pr-3">
        <div className="relative" aria-hidden="true">
          {picture.y.ticks.map((tick) => (
            <span key={tick.at} className="absolute right-1.5 translate-y-1/2 whitespace-nowrap" style={{ bottom: cssPercent(tick.at) }}>
              {tick.text}
            </span>
          ))}
        </div>
        <svg
          role="presentation"
          className="h-full w-full touch-pan-y overflow-visible border-b border-l border-line-strong"
          onPointerMove={(event) => setPointed(find(event))}
          onPointerLeave={() => setPointed(null)}
        >
          <g stroke="var(--line)">
            {picture.x.ticks.map((tick) => (
              <line key={`x${tick.at}`} x1={cssPercent(tick.at)} x2={cssPercent(tick.at)} y1="0%" y2="100%" />
            ))}
            {picture.y.ticks.map((tick) => (
              <line key={`y${tick.at}`} x1="0%" x2="100%" y1={cssPercent(1 - tick.at)} y2={cssPercent(1 - tick.at)} />
            ))}
          </g>
          <svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" aria-hidden="true" overflow="visible">
            {picture.lines.map((line) => (
              <path
                key={line.key}
                d={line.path}
                fill="none"
                stroke={line.hue}
                strokeWidth="1.75"
                strokeLinejoin="round"
                vectorEffect="non-scaling-stroke"
                {...(line.dash === "" ? {} : { strokeDasharray: line.dash })}
              />
            ))}
          </svg>
          {picture.marked &&
            picture.points.map((point) => (
              <g key={point.key} stroke={point.hue} strokeOpacity="0.7">
                <Bar point={point} of="x" />
                <Bar point={point} of="y" />
              </g>
            ))}
          {(picture.marked ? picture.points : picture.lines.map(({ labelled }) => labelled)).map((point) => (
            <Letter key={point.key} point={point} tagged={picture.marked} />
          ))}
          {found !== null && (
            <circle cx={cssPercent(found.x)} cy={cssPercent(1 - found.y)} r="11" fill="none" stroke="var(--ink)" strokeWidth="1.5" />
          )}
        </svg>
        <span />
        <div className="relative" aria-hidden="true">
          {picture.x.ticks.map((tick) => (
            <span key={tick.at} className="absolute top-1 -translate-x-1/2 whitespace-nowrap" style={{ left: cssPercent(tick.at) }}>
              {tick.text}
            </span>
          ))}
        </div>
      </div>
      <p aria-hidden="true" className="mt-1 text-right">
        {picture.x.title}
      </p>
      <p aria-hidden="true" className="min-h-8 text-ink-2 [overflow-wrap:anywhere]">
        {found?.text}
      </p>
    </figure>
  );
}
