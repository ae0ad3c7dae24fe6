import { type PointerEvent, useRef } from "react";
import { FrontierLabel } from "./FrontierLabel";
import type { Box, Pixel } from "./frontierPixels";
import type { LimitLine } from "./prepareFrontier";

interface LimitProps {
  readonly line: LimitLine;
  /** Position of the value on either axis. */
  readonly pixel: Pixel;
  readonly area: Box;
}

/** Greys the area that a constraint forbids. */
export function LimitShade({ line, pixel: { px, py }, area }: LimitProps) {
  // A floor greys everything below it, a budget everything beyond.
  const beyond = line.kind === "budget";
  const [left, right] = beyond ? [px, area.x + area.width] : [area.x, px];
  const [top, bottom] = beyond ? [area.y, py] : [py, area.y + area.height];
  return line.along === "x" ? (
    <Shade x={left} y={area.y} width={right - left} height={area.height} area={area} />
  ) : (
    <Shade x={area.x} y={top} width={area.width} height={bottom - top} area={area} />
  );
}

/** The area that a constraint forbids, clipped to the plot. */
function Shade({ x, y, width, height, area }: Box & { readonly area: Box }) {
  const [left, top] = [Math.max(x, area.x), Math.max(y, area.y)];
  const [right, bottom] = [Math.min(x + width, area.x + area.width), Math.min(y + height, area.y + area.height)];
  return <rect x={left} y={top} width={Math.max(0, right - left)} height={Math.max(0, bottom - top)} fill="var(--ink)" opacity={0.04} />;
}

/** The draggable line of a constraint. */
export function LimitHandle(
  props: LimitProps & {
    /** Called while it is dragged, and once when it is released. */
    readonly onDraft: (event: PointerEvent<SVGElement>) => void;
    readonly onCommit: (event: PointerEvent<SVGElement>) => void;
  },
) {
  const { line, area } = props;
  const dragged = useRef(false);
  const { px, py } = props.pixel;
  const across = line.along === "x";
  const dash = line.kind === "budget" ? "6 4" : undefined;
  const label = across ? { x: px + 6, y: area.y + 12 } : { x: area.x + 6, y: py - 5 };
  if (across ? px < area.x - 1 || px > area.x + area.width + 1 : py < area.y - 1 || py > area.y + area.height + 1) return null;
  return (
    <g
      data-testid={`${line.kind}-line`}
      style={{ cursor: across ? "ew-resize" : "ns-resize", touchAction: "none" }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        dragged.current = true;
      }}
      onPointerMove={(event) => {
        if (dragged.current) props.onDraft(event);
      }}
      onPointerUp={(event) => {
        dragged.current = false;
        props.onCommit(event);
      }}
    >
      {across ? (
        <>
          <rect x={px - 6} y={area.y} width={12} height={area.height} fill="transparent" />
          <line x1={px} x2={px} y1={area.y} y2={area.y + area.height} stroke="var(--ink-2)" strokeWidth={1.5} strokeDasharray={dash} />
          <rect x={px - 3.5} y={area.y - 5} width={7} height={12} rx={2} fill="var(--ink-2)" />
        </>
      ) : (
        <>
          <rect x={area.x} y={py - 6} width={area.width} height={12} fill="transparent" />
          <line x1={area.x} x2={area.x + area.width} y1={py} y2={py} stroke="var(--ink-2)" strokeWidth={1.5} strokeDasharray={dash} />
          <rect x={area.x + area.width - 7} y={py - 3.5} width={12} height={7} rx={2} fill="var(--ink-2)" />
        </>
      )}
      <FrontierLabel {...label} text={line.kind} />
    </g>
  );
}
