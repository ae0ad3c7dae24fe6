import { useId } from "react";
import { cssPercent } from "../charts/cssPercent";
import { Table } from "../ui/Table";
import type { CalibrationDot } from "./prepareTrust";

/** Scores across, hand labels upwards: on the diagonal scores are calibrated. */
export function CalibrationPlot({ name, dots }: { readonly name: string; readonly dots: readonly CalibrationDot[] }) {
  const captionId = useId();
  return (
    <figure aria-labelledby={captionId} className="m-0 flex w-56 max-w-full flex-col gap-1 text-xs text-ink-3">
      <figcaption id={captionId}>Your labels (y) against its scores (x)</figcaption>
      <div className="grid grid-cols-[1.75rem_1fr] grid-rows-[1fr_1rem]">
        <div aria-hidden="true" className="flex flex-col justify-between pr-1 text-right">
          <span>100</span>
          <span>0</span>
        </div>
        <svg role="presentation" className="aspect-[4/3] w-full overflow-visible border-b border-l border-line-strong">
          <line x1="0%" y1="100%" x2="100%" y2="0%" stroke="var(--ink-3)" strokeDasharray="4 3" />
          {dots.map((dot) => (
            <g key={dot.key} stroke="var(--accent)" strokeWidth="2">
              <line x1={cssPercent(dot.x)} x2={cssPercent(dot.x)} y1={cssPercent(1 - dot.low)} y2={cssPercent(1 - dot.high)} />
              <circle cx={cssPercent(dot.x)} cy={cssPercent(1 - dot.y)} r="4" fill="var(--panel)" />
            </g>
          ))}
        </svg>
        <span />
        <div aria-hidden="true" className="flex justify-between">
          <span>0</span>
          <span>100</span>
        </div>
      </div>
      <details>
        <summary className="w-fit">As a table</summary>
        <Table
          caption={`Hand labels by the scores of ${name}`}
          columns={[
            { key: "scores", name: "Scores" },
            { key: "quality", name: "Mean label", numeric: true },
            { key: "labels", name: "Labels", numeric: true },
          ]}
        >
          {dots.map((dot) => (
            <tr key={dot.key}>
              <td>{dot.scores}</td>
              <td className="text-right">
                {dot.quality} <span className="text-ink-3">({dot.span})</span>
              </td>
              <td className="text-right">{dot.labels}</td>
            </tr>
          ))}
        </Table>
      </details>
    </figure>
  );
}
