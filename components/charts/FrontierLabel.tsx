import type { Mark } from "./frontierPixels";

/** A word on the chart, legible over points. */
export function FrontierLabel(props: Mark & { readonly anchor?: "start" | "middle" | "end"; readonly text: string }) {
  const { x, y, anchor = "start", text } = props;
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
