import { type PointerEvent, useMemo, useRef, useState } from "react";
import { usePlotArea, useXAxisInverseScale, useXAxisScale, useYAxisInverseScale, useYAxisScale } from "recharts";
import { roundOn } from "./frontierAxes";
import { type Brush, brushBetween } from "./frontierBrush";
import { type FrontierPicture, type LimitLine, stepCorners } from "./prepareFrontier";

export interface FrontierCallbacks {
  readonly onHover: (key: string | null) => void;
  readonly onPin: (key: string) => void;
  /** A constraint line while it is dragged, and once where it is let go. */
  readonly onLimitDraft: (limit: LimitLine) => void;
  readonly onLimitCommit: (limit: LimitLine) => void;
  readonly onBrush: (brush: Brush) => void;
}

/** How near, in pixels, a pointer must be to mean a point; all others win over the cloud inside it. */
const REACH_PX = 14;
const CLOUD_REACH_PX = 7;
/** How far a pressed pointer moves before it means a rectangle and no click. */
const DRAG_PX = 5;

interface Mark {
  readonly x: number;
  readonly y: number;
}

type Placed<Point> = Point & { readonly px: number; readonly py: number };
type Pixel = { readonly px: number; readonly py: number };

function nearest(placed: readonly (Pixel & { readonly key: string })[], at: Pixel, reach: number): string | null {
  let best: string | null = null;
  let bestDistance = reach * reach;
  for (const { key, px, py } of placed) {
    const distance = (px - at.px) ** 2 + (py - at.py) ** 2;
    if (distance <= bestDistance) {
      best = key;
      bestDistance = distance;
    }
  }
  return best;
}

const dots = (placed: readonly Pixel[]) => placed.map(({ px, py }) => `M${px.toFixed(1)} ${py.toFixed(1)}h0`).join("");
const crosses = (placed: readonly Pixel[]) =>
  placed.map(({ px, py }) => `M${(px - 2).toFixed(1)} ${(py - 2).toFixed(1)}l4 4m-4 0l4 -4`).join("");
const triangle = (px: number, py: number, r: number) => `M${px} ${py - r}L${px + r} ${py + r * 0.8}L${px - r} ${py + r * 0.8}Z`;
const turnedTriangle = (px: number, py: number, r: number) => `M${px} ${py + r}L${px + r} ${py - r * 0.8}L${px - r} ${py - r * 0.8}Z`;
const diamond = (px: number, py: number, r: number) => `M${px} ${py - r}L${px + r} ${py}L${px} ${py + r}L${px - r} ${py}Z`;

/** Draws a prepared frontier on the chart's scales and answers the pointer. Decides nothing. */
export function FrontierLayer(
  props: {
    readonly picture: FrontierPicture;
    /** Hue per model index, for stand-alone triangles. */
    readonly hues: readonly string[];
    readonly brush: Brush | null;
    readonly hovered: string | null;
    readonly pinned: readonly string[];
  } & FrontierCallbacks,
) {
  const area = usePlotArea();
  const xScale = useXAxisScale();
  const yScale = useYAxisScale();
  const xInverse = useXAxisInverseScale();
  const yInverse = useYAxisInverseScale();
  const dragged = useRef<LimitLine["kind"] | null>(null);
  const pressed = useRef<Pixel | null>(null);
  const [drawn, setDrawn] = useState<Brush | null>(null);
  const { picture } = props;

  const placed = useMemo(() => {
    if (xScale === undefined || yScale === undefined) return null;
    const place = <Point extends Mark>(points: readonly Point[]): readonly Placed<Point>[] =>
      points.map((point) => ({ ...point, px: xScale(point.x) ?? 0, py: yScale(point.y) ?? 0 }));
    const cloud = { dominated: place(picture.dominated), infeasible: place(picture.infeasible) };
    const line = place(stepCorners(picture.frontier, picture.axes)).map(({ px, py }, index) => `${index === 0 ? "M" : "L"}${px} ${py}`);
    return {
      ...cloud,
      dots: dots(cloud.dominated),
      crosses: crosses(cloud.infeasible),
      line: line.join(""),
      frontier: place(picture.frontier),
      standAlone: place(picture.standAlone),
      baselines: place(picture.baselines),
    };
  }, [picture, xScale, yScale]);
  if (area === undefined || xScale === undefined || yScale === undefined || placed === null) return null;

  const at = (mark: Mark): Pixel => ({ px: xScale(mark.x) ?? 0, py: yScale(mark.y) ?? 0 });
  const baselines = placed.baselines.flatMap(({ keys, px, py }) => keys.map((key) => ({ key, px, py })));
  const near = [...placed.frontier, ...placed.standAlone, ...baselines];
  const cloud = [...placed.dominated, ...placed.infeasible];
  // Among all points: the cloud is thinned, and what is spoken of may not be drawn.
  const spokenOf = picture.points.filter(({ key }) => key === props.hovered || props.pinned.includes(key));
  const ringed = [
    ...spokenOf.map(({ key, ...mark }) => ({ key, ...at(mark) })).filter(({ px, py }) => px <= area.x + area.width && py >= area.y),
    ...baselines.filter(({ key }) => key === props.hovered),
  ];
  const brush = drawn ?? props.brush;

  function pointed(event: PointerEvent<SVGElement>): Pixel {
    const svg = event.currentTarget.ownerSVGElement;
    const box = svg?.getBoundingClientRect();
    return { px: event.clientX - (box?.left ?? 0), py: event.clientY - (box?.top ?? 0) };
  }
  function find(event: PointerEvent<SVGElement>): string | null {
    const point = pointed(event);
    return nearest(near, point, REACH_PX) ?? nearest(cloud, point, CLOUD_REACH_PX);
  }
  /** The values under a pixel, held inside the axes. */
  function valuesAt({ px, py }: Pixel): Mark {
    const held = (value: number, [low, high]: readonly [number, number]) => Math.min(high, Math.max(low, value));
    return { x: held(Number(xInverse?.(px)), picture.xDomain), y: held(Number(yInverse?.(py)), picture.yDomain) };
  }
  function limitAt(event: PointerEvent<SVGElement>, line: LimitLine): LimitLine {
    return { ...line, value: roundOn(picture.axes[line.along], valuesAt(pointed(event))[line.along]) };
  }
  function brushTo(event: PointerEvent<SVGElement>): Brush | null {
    const from = pressed.current;
    if (from === null) return null;
    const to = pointed(event);
    if (Math.hypot(to.px - from.px, to.py - from.py) < DRAG_PX) return null;
    return brushBetween(valuesAt(from), valuesAt(to), picture.axes);
  }

  return (
    <g>
      {picture.limits.map((line) => {
        const { px, py } = at({ x: line.value, y: line.value });
        // A floor greys what lies below it, a budget what lies beyond.
        const beyond = line.kind === "budget";
        const [left, right] = beyond ? [px, area.x + area.width] : [area.x, px];
        const [top, bottom] = beyond ? [area.y, py] : [py, area.y + area.height];
        return line.along === "x" ? (
          <Shade key={line.kind} x={left} y={area.y} width={right - left} height={area.height} area={area} />
        ) : (
          <Shade key={line.kind} x={area.x} y={top} width={area.width} height={bottom - top} area={area} />
        );
      })}
      <path d={placed.crosses} stroke="var(--line-strong)" strokeWidth={1} fill="none" />
      <path d={placed.dots} stroke="var(--ink-3)" strokeWidth={4} strokeLinecap="round" opacity={0.55} />
      <path d={placed.line} stroke="var(--accent)" strokeWidth={1.5} fill="none" />
      {placed.frontier.map((point) => (
        <circle
          key={point.key}
          cx={point.px}
          cy={point.py}
          r={3.5}
          fill={point.meets ? "var(--accent)" : "var(--panel)"}
          stroke={point.meets ? "var(--panel)" : "var(--accent)"}
        />
      ))}
      {placed.standAlone.map((point) => {
        const hue = props.hues[point.standAloneModel ?? -1] ?? "var(--ink-2)";
        return (
          <path
            key={point.key}
            d={triangle(point.px, point.py, 6)}
            stroke={hue}
            strokeWidth={1.75}
            fill={point.meets ? hue : "var(--panel)"}
          />
        );
      })}
      {placed.baselines.map(({ label, px, py }) => (
        <g key={label}>
          <path d={turnedTriangle(px, py, 7)} fill="var(--panel)" stroke="var(--ink)" strokeWidth={1.75} />
          <Label x={px + 10} y={py + 4} text={label} />
        </g>
      ))}
      {ringed.map(({ key, px, py }) => (
        <g key={key}>
          <circle cx={px} cy={py} r={8} fill="none" stroke="var(--ink)" strokeWidth={key === props.hovered ? 2 : 1.25} />
          {props.pinned.includes(key) && <Label x={px - 8} y={py - 8} anchor="end" text={`pin ${props.pinned.indexOf(key) + 1}`} />}
        </g>
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
      {picture.knee !== null && <Knee {...at(picture.knee)} />}
      {picture.running !== null && (
        <path d={diamond(at(picture.running).px, at(picture.running).py, 7)} fill="var(--panel)" stroke="var(--ink)" strokeWidth={2} />
      )}
      {brush !== null && <BrushBox low={at({ x: brush.x[0], y: brush.y[0] })} high={at({ x: brush.x[1], y: brush.y[1] })} area={area} />}
      {/* Pointer only: arrow keys, table and sliders give the keyboard the same reach. */}
      <rect
        x={area.x}
        y={area.y}
        width={area.width}
        height={area.height}
        fill="transparent"
        style={{ touchAction: "pan-y", cursor: "crosshair" }}
        onPointerDown={(event) => {
          // A finger that moves over the chart scrolls the page.
          if (event.button !== 0 || event.pointerType === "touch") return;
          pressed.current = pointed(event);
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          const next = brushTo(event);
          if (next !== null) setDrawn(next);
          else props.onHover(find(event));
        }}
        onPointerUp={(event) => {
          const next = brushTo(event);
          setDrawn(null);
          if (next !== null) props.onBrush(next);
          else if (drawn === null) {
            const key = find(event);
            if (key !== null) props.onPin(key);
          }
          pressed.current = null;
        }}
        onPointerCancel={() => {
          pressed.current = null;
          setDrawn(null);
        }}
        onPointerLeave={() => props.onHover(null)}
      />
      {picture.limits.map((line) => {
        const { px, py } = at({ x: line.value, y: line.value });
        const across = line.along === "x";
        const dash = line.kind === "budget" ? "6 4" : undefined;
        const label = across ? { x: px + 6, y: area.y + 12 } : { x: area.x + 6, y: py - 5 };
        if (across ? px < area.x - 1 || px > area.x + area.width + 1 : py < area.y - 1 || py > area.y + area.height + 1) return null;
        return (
          <g
            key={line.kind}
            data-testid={`${line.kind}-line`}
            style={{ cursor: across ? "ew-resize" : "ns-resize", touchAction: "none" }}
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId);
              dragged.current = line.kind;
            }}
            onPointerMove={(event) => {
              if (dragged.current === line.kind) props.onLimitDraft(limitAt(event, line));
            }}
            onPointerUp={(event) => {
              dragged.current = null;
              props.onLimitCommit(limitAt(event, line));
            }}
          >
            {across ? (
              <>
                <rect x={px - 6} y={area.y} width={12} height={area.height} fill="transparent" />
                <line
                  x1={px}
                  x2={px}
                  y1={area.y}
                  y2={area.y + area.height}
                  stroke="var(--ink-2)"
                  strokeWidth={1.5}
                  strokeDasharray={dash}
                />
                <rect x={px - 3.5} y={area.y - 5} width={7} height={12} rx={2} fill="var(--ink-2)" />
              </>
            ) : (
              <>
                <rect x={area.x} y={py - 6} width={area.width} height={12} fill="transparent" />
                <line x1={area.x} x2={area.x + area.width} y1={py} y2={py} stroke="var(--ink-2)" strokeWidth={1.5} strokeDasharray={dash} />
                <rect x={area.x + area.width - 7} y={py - 3.5} width={12} height={7} rx={2} fill="var(--ink-2)" />
              </>
            )}
            <Label {...label} text={line.kind} />
          </g>
        );
      })}
    </g>
  );
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** What a constraint forbids, cut to the plot. */
function Shade({ x, y, width, height, area }: Box & { readonly area: Box }) {
  const [left, top] = [Math.max(x, area.x), Math.max(y, area.y)];
  const [right, bottom] = [Math.min(x + width, area.x + area.width), Math.min(y + height, area.y + area.height)];
  return <rect x={left} y={top} width={Math.max(0, right - left)} height={Math.max(0, bottom - top)} fill="var(--ink)" opacity={0.04} />;
}

function BrushBox({ low, high, area }: { readonly low: Pixel; readonly high: Pixel; readonly area: Box }) {
  const [left, right] = [Math.max(low.px, area.x), Math.min(high.px, area.x + area.width)];
  const [top, bottom] = [Math.max(high.py, area.y), Math.min(low.py, area.y + area.height)];
  return (
    <rect
      data-testid="brush"
      x={left}
      y={top}
      width={Math.max(0, right - left)}
      height={Math.max(0, bottom - top)}
      fill="var(--accent)"
      fillOpacity={0.1}
      stroke="var(--accent)"
      strokeDasharray="4 3"
    />
  );
}

/** Brackets around the knee, with its name below. */
function Knee({ px, py }: Pixel) {
  return (
    <g>
      <path d={`M${px - 8} ${py - 4}v-4h4M${px + 8} ${py + 4}v4h-4`} fill="none" stroke="var(--ink)" strokeWidth={1.5} />
      <Label x={px} y={py + 22} anchor="middle" text="knee" />
    </g>
  );
}

/** A word on the chart, legible over points. */
function Label({ x, y, anchor = "start", text }: Mark & { readonly anchor?: "start" | "middle" | "end"; readonly text: string }) {
  return (
    <text
      x={x}
      y={y}
      textAnchor={anchor}
      fontSize={11}
      fill="var(--ink-2)"
      stroke="var(--panel)"
      strokeWidth={3}
      style={{ paintOrder: "stroke", pointerEvents: "none" }}
    >
      {text}
    </text>
  );
}
