import { type PointerEvent, useMemo, useRef, useState } from "react";
import { usePlotArea, useXAxisInverseScale, useXAxisScale, useYAxisInverseScale, useYAxisScale } from "recharts";
import { LimitHandle, LimitShade } from "./FrontierLimit";
import { FrontierMarks } from "./FrontierMarks";
import { roundOn } from "./frontierAxes";
import { type Brush, brushBetween } from "./frontierBrush";
import { crosses, dots, type Mark, nearest, type Pixel, type Placed } from "./frontierPixels";
import { type FrontierPicture, type LimitLine, stepCorners } from "./prepareFrontier";

export interface FrontierCallbacks {
  readonly onHover: (key: string | null) => void;
  readonly onChoose: (key: string) => void;
  readonly onPin: (key: string) => void;
  /** Called while a constraint line is dragged, and once when it is released. */
  readonly onLimitDraft: (limit: LimitLine) => void;
  readonly onLimitCommit: (limit: LimitLine) => void;
  readonly onBrush: (brush: Brush) => void;
}

/** Distance in pixels within which a pointer selects a point; inside it, all others take precedence over the cloud. */
const REACH_PX = 14;
const CLOUD_REACH_PX = 7;
/** Distance after which a pressed pointer draws a rectangle instead of clicking. */
const DRAG_PX = 5;

/** Draws a prepared frontier on the chart's scales and handles the pointer. Decides nothing. */
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
  const pressed = useRef<Pixel | null>(null);
  const [drawn, setDrawn] = useState<Brush | null>(null);
  const { picture } = props;

  const placed = useMemo(() => {
    if (xScale === undefined || yScale === undefined) return null;
    const place = <Point extends Mark>(points: readonly Point[]): readonly Placed<Point>[] =>
      points.map((point) => ({ ...point, px: xScale(point.x) ?? 0, py: yScale(point.y) ?? 0 }));
    const cloud = { dominated: place(picture.dominated), infeasible: place(picture.infeasible), unasked: place(picture.unasked) };
    const line = place(stepCorners(picture.frontier, picture.axes)).map(({ px, py }, index) => `${index === 0 ? "M" : "L"}${px} ${py}`);
    return {
      ...cloud,
      dots: dots(cloud.dominated),
      crosses: crosses(cloud.infeasible),
      faintDots: dots(cloud.unasked),
      line: line.join(""),
      frontier: place(picture.frontier),
      standAlone: place(picture.standAlone),
      dispatch: place(picture.dispatch),
      curve: place(picture.curve),
      baselines: place(picture.baselines),
    };
  }, [picture, xScale, yScale]);
  if (area === undefined || xScale === undefined || yScale === undefined || placed === null) return null;

  const at = (mark: Mark): Pixel => ({ px: xScale(mark.x) ?? 0, py: yScale(mark.y) ?? 0 });
  const baselines = placed.baselines.flatMap(({ keys, px, py }) => keys.map((key) => ({ key, px, py })));
  const near = [...placed.frontier, ...placed.standAlone, ...placed.dispatch, ...baselines];
  const cloud = [...placed.dominated, ...placed.infeasible, ...placed.unasked];
  // Searched among all points: the cloud is thinned, and the highlighted one may not be drawn.
  const spokenOf = picture.points.filter(({ key }) => key === props.hovered || props.pinned.includes(key));
  const ringed = [
    ...spokenOf.map(({ key, ...mark }) => ({ key, ...at(mark) })).filter(({ px, py }) => px <= area.x + area.width && py >= area.y),
    ...baselines.filter(({ key }) => key === props.hovered),
  ];

  function pointed(event: PointerEvent<SVGElement>): Pixel {
    const svg = event.currentTarget.ownerSVGElement;
    const box = svg?.getBoundingClientRect();
    return { px: event.clientX - (box?.left ?? 0), py: event.clientY - (box?.top ?? 0) };
  }
  function find(event: PointerEvent<SVGElement>): string | null {
    const point = pointed(event);
    return nearest(near, point, REACH_PX) ?? nearest(cloud, point, CLOUD_REACH_PX);
  }
  /** The values at a pixel, clamped to the axes. */
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
      {picture.limits.map((line) => (
        <LimitShade key={line.kind} line={line} pixel={at({ x: line.value, y: line.value })} area={area} />
      ))}
      <FrontierMarks
        picture={picture}
        placed={placed}
        ringed={ringed}
        at={at}
        area={area}
        hues={props.hues}
        brush={drawn ?? props.brush}
        hovered={props.hovered}
        pinned={props.pinned}
      />
      {/* Pointer only: arrow keys, table and sliders offer the same by keyboard. */}
      <rect
        x={area.x}
        y={area.y}
        width={area.width}
        height={area.height}
        fill="transparent"
        style={{ touchAction: "pan-y", cursor: props.hovered === null ? "crosshair" : "pointer" }}
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
            if (key !== null) (event.shiftKey ? props.onPin : props.onChoose)(key);
          }
          pressed.current = null;
        }}
        onPointerCancel={() => {
          pressed.current = null;
          setDrawn(null);
        }}
        onPointerLeave={() => props.onHover(null)}
      />
      {picture.limits.map((line) => (
        <LimitHandle
          key={line.kind}
          line={line}
          pixel={at({ x: line.value, y: line.value })}
          area={area}
          onDraft={(event) => props.onLimitDraft(limitAt(event, line))}
          onCommit={(event) => props.onLimitCommit(limitAt(event, line))}
        />
      ))}
    </g>
  );
}
