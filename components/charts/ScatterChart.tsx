import { type PointerEvent, useId } from "react";
import { cssPercent } from "./cssPercent";
import { nearestPoint, type ScatterPicture, type ScatterPoint } from "./prepareScatter";

/** Distance in pixels within which a pointer selects a point. */
const REACH_PX = 16;

/** Ticks are round: their digits say it all. */
const tickText = (seconds: number): string =>
  seconds < 1 ? `${Number((seconds * 1000).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`;

/** A point's letter; an arrowhead at the edge for one beyond it. */
const glyph = ({ letter, clipped }: ScatterPoint): string => (clipped === null ? letter : clipped === "above" ? "▲" : "▼");

/** Predicted against measured seconds, both on the same logarithmic axis. Draws a prepared picture, decides nothing. */
export function ScatterChart(props: {
  readonly picture: ScatterPicture;
  /** What the seconds are of. */
  readonly name: string;
  /** Key of the point that is highlighted elsewhere. */
  readonly pointed: number | null;
  readonly onPoint: (key: number | null) => void;
  readonly onPick: (key: number) => void;
}) {
  const captionId = useId();
  const { picture } = props;
  const { bandUp, bandDown, counts } = picture;
  const labels = picture.ticks.filter((tick) => tick.labelled);
  const ringed = picture.points.find((point) => point.key === props.pointed);

  function find(event: PointerEvent<SVGSVGElement>): number | null {
    const box = event.currentTarget.getBoundingClientRect();
    const at = { x: event.clientX - box.left, y: event.clientY - box.top };
    return nearestPoint(picture, at, { width: box.width, height: box.height, reach: REACH_PX })?.key ?? null;
  }

  return (
    <figure
      aria-labelledby={captionId}
      className="m-0 grid w-full max-w-xl grid-cols-[3.5rem_1fr] grid-rows-[1fr_1.5rem] text-xs text-ink-3"
    >
      <figcaption id={captionId} className="sr-only">
        {`Predicted against measured ${props.name} of ${counts.drawn} runs, ${counts.inBand} of them within 10 %. The table of runs below lists them.`}
      </figcaption>
      <div className="relative" aria-hidden="true">
        {labels.map((tick) => (
          <span key={tick.seconds} className="absolute right-1.5 translate-y-1/2 whitespace-nowrap" style={{ bottom: cssPercent(tick.at) }}>
            {tickText(tick.seconds)}
          </span>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a pointer points at what the table of runs offers by keyboard. */}
      <svg
        role="presentation"
        className="aspect-square w-full touch-pan-y overflow-visible border-b border-l border-line-strong"
        data-testid="scatter-chart"
        onPointerMove={(event) => props.onPoint(find(event))}
        onPointerLeave={() => props.onPoint(null)}
        onClick={(event) => {
          const key = find(event as unknown as PointerEvent<SVGSVGElement>);
          if (key !== null) props.onPick(key);
        }}
      >
        <svg viewBox="0 0 1 1" preserveAspectRatio="none" width="100%" height="100%" aria-hidden="true">
          <path d={`M0 1L0 ${1 - bandUp}L${1 - bandUp} 0L1 0L1 ${bandDown}L${bandDown} 1Z`} fill="var(--accent)" fillOpacity="0.1" />
        </svg>
        {picture.ticks.map((tick) => (
          <g key={tick.seconds} stroke="var(--line)" strokeOpacity={tick.labelled ? 1 : 0.4}>
            <line x1={cssPercent(tick.at)} x2={cssPercent(tick.at)} y1="0%" y2="100%" />
            <line x1="0%" x2="100%" y1={cssPercent(1 - tick.at)} y2={cssPercent(1 - tick.at)} />
          </g>
        ))}
        <line x1="0%" y1="100%" x2="100%" y2="0%" stroke="var(--ink-3)" strokeDasharray="4 3" />
        {picture.points.map((point) => (
          <text
            key={point.key}
            x={cssPercent(point.x)}
            y={cssPercent(1 - point.y)}
            dy="0.35em"
            textAnchor="middle"
            fontSize="10"
            fontWeight="600"
            fill={point.hue}
          >
            {glyph(point)}
          </text>
        ))}
        {ringed !== undefined && (
          <circle cx={cssPercent(ringed.x)} cy={cssPercent(1 - ringed.y)} r="9" fill="none" stroke="var(--ink)" strokeWidth="1.5" />
        )}
      </svg>
      <span />
      <div className="relative" aria-hidden="true">
        {labels.map((tick) => (
          <span key={tick.seconds} className="absolute top-1 -translate-x-1/2 whitespace-nowrap" style={{ left: cssPercent(tick.at) }}>
            {tickText(tick.seconds)}
          </span>
        ))}
      </div>
    </figure>
  );
}
