import { useMemo } from "react";
import type { LabWorkflow } from "@/server/contracts/studio";
import { formatPercent } from "../ui/format";
import { prepareWorkflow, shapesOf } from "./prepareWorkflow";

/** Pixels from one step of the grid to the next, and the radius of a stage. */
const [STEP_X, STEP_Y, RADIUS] = [26, 20, 8];

/** The stages of a workflow as a small drawing; where programs take several shapes, each of them with its share. A text is next to it. */
export function WorkflowDrawing({ workflow }: { readonly workflow: LabWorkflow }) {
  const shapes = useMemo(() => shapesOf(workflow), [workflow]);
  return (
    <span className="flex min-w-0 flex-col items-start">
      {shapes.map(({ share, stages }, index) => (
        <span key={index} className="flex max-w-full items-center gap-1">
          {shapes.length > 1 && <span className="w-9 shrink-0 text-right text-xs text-ink-3">{formatPercent(share)}</span>}
          <ShapeDrawing stages={stages} takenBy={shapes.length > 1 ? `Stages of ${formatPercent(share)} of its programs` : "Stages"} />
        </span>
      ))}
    </span>
  );
}

function ShapeDrawing({ stages, takenBy }: Pick<LabWorkflow, "stages"> & { readonly takenBy: string }) {
  const picture = useMemo(() => prepareWorkflow({ stages }), [stages]);
  const [width, height] = [picture.columns * STEP_X, picture.lanes * STEP_Y];
  const x = (column: number) => column * STEP_X + STEP_X / 2;
  const y = (lane: number) => lane * STEP_Y + STEP_Y / 2;
  return (
    <svg
      role="img"
      aria-label={`${takenBy}: ${picture.says}`}
      width={width}
      height={height}
      className="min-w-0 max-w-full"
      viewBox={`0 0 ${width} ${height}`}
    >
      {picture.edges.map(({ key, from, to }) => {
        const [a, b] = [picture.nodes[from], picture.nodes[to]];
        if (a === undefined || b === undefined) return null;
        return (
          <path key={key} d={`M${x(a.column) + RADIUS} ${y(a.lane)}L${x(b.column) - RADIUS} ${y(b.lane)}`} stroke="var(--line-strong)" />
        );
      })}
      {picture.nodes.map((node) => (
        <g key={node.key}>
          <title>{node.role}</title>
          <circle cx={x(node.column)} cy={y(node.lane)} r={RADIUS} fill="var(--sunken)" stroke="var(--line-strong)" />
          <text x={x(node.column)} y={y(node.lane)} dy="0.35em" textAnchor="middle" fontSize="9" fontWeight="600" fill="var(--ink-2)">
            {node.letter}
          </text>
        </g>
      ))}
    </svg>
  );
}
