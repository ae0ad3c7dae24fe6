import { type PointerEvent, useMemo, useRef } from "react";
import { usePlotArea, useXAxisInverseScale, useXAxisScale, useYAxisScale } from "recharts";
import { type FrontierPicture, type FrontierPoint, type Mark, stepCorners } from "./prepareFrontier";

export interface FrontierCallbacks {
  readonly onHover: (routing: number | null) => void;
  readonly onPin: (routing: number) => void;
  /** The floor line while it is dragged, and once where it is let go. */
  readonly onFloorDraft: (floor: number) => void;
  readonly onFloorCommit: (floor: number) => void;
}

/** How near, in pixels, a pointer must be to mean a point; frontier and stand-alone points win over the cloud inside it. */
const REACH_PX = 14;
const CLOUD_REACH_PX = 7;

interface Placed {
  readonly point: FrontierPoint;
  readonly px: number;
  readonly py: number;
}

function nearest(placed: readonly Placed[], at: { readonly px: number; readonly py: number }, reach: number): FrontierPoint | null {
  let best: FrontierPoint | null = null;
  let bestDistance = reach * reach;
  for (const each of placed) {
    const distance = (each.px - at.px) ** 2 + (each.py - at.py) ** 2;
    if (distance <= bestDistance) {
      best = each.point;
      bestDistance = distance;
    }
  }
  return best;
}

const dots = (placed: readonly Placed[]) => placed.map(({ px, py }) => `M${px.toFixed(1)} ${py.toFixed(1)}h0`).join("");
const crosses = (placed: readonly Placed[]) =>
  placed.map(({ px, py }) => `M${(px - 2).toFixed(1)} ${(py - 2).toFixed(1)}l4 4m-4 0l4 -4`).join("");
const triangle = (px: number, py: number, r: number) => `M${px} ${py - r}L${px + r} ${py + r * 0.8}L${px - r} ${py + r * 0.8}Z`;
const diamond = (px: number, py: number, r: number) => `M${px} ${py - r}L${px + r} ${py}L${px} ${py + r}L${px - r} ${py}Z`;

/** Draws a prepared frontier on the chart's scales and answers the pointer. Decides nothing. */
export function FrontierLayer(
  props: {
    readonly picture: FrontierPicture;
    /** Hue per model index, for stand-alone triangles. */
    readonly hues: readonly string[];
    readonly floor: number | null;
    readonly budgetSeconds: number | null;
    readonly hovered: number | null;
    readonly pinned: readonly number[];
  } & FrontierCallbacks,
) {
  const area = usePlotArea();
  const xScale = useXAxisScale();
  const yScale = useYAxisScale();
  const xInverse = useXAxisInverseScale();
  const dragging = useRef(false);
  const { picture } = props;

  const placed = useMemo(() => {
    if (xScale === undefined || yScale === undefined) return null;
    const place = (points: readonly FrontierPoint[]): readonly Placed[] =>
      points.map((point) => ({ point, px: xScale(point.x) ?? 0, py: yScale(point.y) ?? 0 }));
    return {
      frontier: place(picture.frontier),
      standAlone: place(picture.standAlone),
      dominated: place(picture.dominated),
      infeasible: place(picture.infeasible),
    };
  }, [picture, xScale, yScale]);
  if (area === undefined || xScale === undefined || yScale === undefined || xInverse === undefined || placed === null) return null;

  const at = (mark: Mark) => ({ px: xScale(mark.x) ?? 0, py: yScale(mark.y) ?? 0 });
  const line = stepCorners(picture.frontier)
    .map(at)
    .map(({ px, py }, index) => `${index === 0 ? "M" : "L"}${px} ${py}`)
    .join("");
  const floorPx = props.floor === null ? null : (xScale(props.floor) ?? null);
  const budgetPx = props.budgetSeconds === null ? null : (yScale(props.budgetSeconds) ?? null);
  const everything = [...placed.frontier, ...placed.standAlone, ...placed.dominated, ...placed.infeasible];
  const ringed = everything.filter(({ point }) => point.routing === props.hovered || props.pinned.includes(point.routing));

  function pointed(event: PointerEvent<SVGElement>) {
    const svg = event.currentTarget.ownerSVGElement;
    const box = svg?.getBoundingClientRect();
    return { px: event.clientX - (box?.left ?? 0), py: event.clientY - (box?.top ?? 0) };
  }
  function find(event: PointerEvent<SVGElement>) {
    if (placed === null) return null;
    const point = pointed(event);
    return (
      nearest([...placed.frontier, ...placed.standAlone], point, REACH_PX) ??
      nearest([...placed.dominated, ...placed.infeasible], point, CLOUD_REACH_PX)
    );
  }
  function floorAt(event: PointerEvent<SVGElement>): number {
    const value = Number(xInverse?.(pointed(event).px));
    const [low, high] = picture.xDomain;
    return Math.round(Math.min(high, Math.max(low, value)) * 10) / 10;
  }

  return (
    <g>
      {floorPx !== null && (
        <rect
          x={area.x}
          y={area.y}
          width={Math.max(0, Math.min(area.width, floorPx - area.x))}
          height={area.height}
          fill="var(--ink)"
          opacity={0.04}
        />
      )}
      {budgetPx !== null && (
        <>
          <rect x={area.x} y={area.y} width={area.width} height={Math.max(0, budgetPx - area.y)} fill="var(--ink)" opacity={0.04} />
          <line x1={area.x} x2={area.x + area.width} y1={budgetPx} y2={budgetPx} stroke="var(--ink-2)" strokeDasharray="6 4" />
        </>
      )}
      <path d={crosses(placed.infeasible)} stroke="var(--line-strong)" strokeWidth={1} fill="none" />
      <path d={dots(placed.dominated)} stroke="var(--ink-3)" strokeWidth={4} strokeLinecap="round" opacity={0.55} />
      <path d={line} stroke="var(--accent)" strokeWidth={1.5} fill="none" />
      {placed.frontier.map(({ point, px, py }) => (
        <circle
          key={point.routing}
          cx={px}
          cy={py}
          r={3.5}
          fill={point.meets ? "var(--accent)" : "var(--panel)"}
          stroke={point.meets ? "var(--panel)" : "var(--accent)"}
        />
      ))}
      {placed.standAlone.map(({ point, px, py }) => {
        const hue = props.hues[point.standAloneModel ?? -1] ?? "var(--ink-2)";
        return (
          <path key={point.routing} d={triangle(px, py, 6)} stroke={hue} strokeWidth={1.75} fill={point.meets ? hue : "var(--panel)"} />
        );
      })}
      {ringed.map(({ point, px, py }) => (
        <circle
          key={point.routing}
          cx={px}
          cy={py}
          r={8}
          fill="none"
          stroke="var(--ink)"
          strokeWidth={point.routing === props.hovered ? 2 : 1.25}
        />
      ))}
      {picture.chosen !== null && (
        <g>
          {picture.chosen.standAloneModel === null && (
            <circle
              cx={at(picture.chosen).px}
              cy={at(picture.chosen).py}
              r={6.5}
              fill="var(--accent)"
              stroke="var(--panel)"
              strokeWidth={2}
            />
          )}
          <circle cx={at(picture.chosen).px} cy={at(picture.chosen).py} r={10} fill="none" stroke="var(--accent)" strokeWidth={1.5} />
        </g>
      )}
      {picture.running !== null && (
        <path d={diamond(at(picture.running).px, at(picture.running).py, 7)} fill="var(--panel)" stroke="var(--ink)" strokeWidth={2} />
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: pointer only; arrow keys, table and sliders give the keyboard the same reach. */}
      <rect
        x={area.x}
        y={area.y}
        width={area.width}
        height={area.height}
        fill="transparent"
        onPointerMove={(event) => props.onHover(find(event)?.routing ?? null)}
        onPointerLeave={() => props.onHover(null)}
        onClick={(event) => {
          const point = find(event as unknown as PointerEvent<SVGElement>);
          if (point !== null) props.onPin(point.routing);
        }}
      />
      {floorPx !== null && (
        <g
          data-testid="floor-line"
          style={{ cursor: "ew-resize", touchAction: "none" }}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            dragging.current = true;
          }}
          onPointerMove={(event) => {
            if (dragging.current) props.onFloorDraft(floorAt(event));
          }}
          onPointerUp={(event) => {
            dragging.current = false;
            props.onFloorCommit(floorAt(event));
          }}
        >
          <rect x={floorPx - 6} y={area.y} width={12} height={area.height} fill="transparent" />
          <line x1={floorPx} x2={floorPx} y1={area.y} y2={area.y + area.height} stroke="var(--ink-2)" strokeWidth={1.5} />
          <rect x={floorPx - 3.5} y={area.y - 5} width={7} height={12} rx={2} fill="var(--ink-2)" />
        </g>
      )}
    </g>
  );
}
