"use client";

import { useEffect, useRef, useState } from "react";
import { formatScore, formatSeconds, formatUsd } from "../ui/format";
import { ModelMark } from "../ui/ModelChip";
import type { ModelIdentity } from "../ui/modelIdentity";
import { type Column, Table } from "../ui/Table";
import type { FrontierRow, FrontierRows } from "./prepareFrontierTable";

/** What sets a row apart, in words. */
function wordsOf(row: FrontierRow): string {
  const words = [row.role === "chosen" && "recommended", row.cascade.models.length === 1 && "one model alone", row.runs && "runs now"];
  return words.filter(Boolean).join(", ");
}

/** Columns that tell the rows apart: costs only where they differ, differences only where something runs. */
function columnsOf(costs: boolean, deltas: boolean): readonly Column[] {
  return [
    { key: "cascade", name: "Cascade" },
    { key: "gpus", name: "GPUs", numeric: true },
    { key: "quality", name: "Quality", numeric: true },
    { key: "p95", name: "p95", numeric: true },
    ...(costs ? [{ key: "cost", name: "$/request", numeric: true }] : []),
    ...(deltas
      ? [
          { key: "quality-delta", name: "Quality Δ", numeric: true },
          { key: "p95-delta", name: "p95 Δ", numeric: true },
        ]
      : []),
    { key: "pin", name: "Pin" },
  ];
}

function Row(props: {
  readonly row: FrontierRow;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly cost: boolean;
  readonly hovered: boolean;
  readonly onHover: (routing: number | null) => void;
  readonly onPin: (routing: number) => void;
}) {
  const { row } = props;
  const element = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (props.hovered) element.current?.scrollIntoView({ block: "nearest" });
  }, [props.hovered]);
  return (
    <tr
      ref={element}
      className={props.hovered ? "bg-accent-soft" : row.role === "chosen" ? "bg-sunken" : ""}
      onPointerEnter={() => props.onHover(row.routing)}
      onPointerLeave={() => props.onHover(null)}
    >
      <td className="whitespace-nowrap">
        <span className="inline-flex items-center gap-1">
          {row.cascade.models.map((model, index) => {
            const identity = props.identities.get(model);
            return (
              <span key={model} className="inline-flex items-center gap-1">
                {identity !== undefined && <ModelMark identity={identity} />}
                <span className="sr-only">{model}</span>
                {row.cascade.thresholds[index] !== undefined && (
                  <span className="text-xs text-ink-3">&lt;{row.cascade.thresholds[index]}→</span>
                )}
              </span>
            );
          })}
          <span className="pl-1 text-xs text-ink-3">{wordsOf(row)}</span>
        </span>
      </td>
      <td className="text-right whitespace-nowrap">{row.gpus.join(" + ")}</td>
      <td className="text-right whitespace-nowrap">
        {formatScore(row.candidate.quality)} <span className="text-xs text-ink-3">≥{formatScore(row.candidate.qualityLow)}</span>
      </td>
      <td className="text-right whitespace-nowrap">{formatSeconds(row.candidate.latencySeconds)}</td>
      {props.cost && <td className="text-right">{formatUsd(row.candidate.costUsdPerRequest)}</td>}
      {row.delta !== null && (
        <>
          <td className="text-right whitespace-nowrap text-ink-2">{row.delta.quality} points</td>
          <td className="text-right whitespace-nowrap text-ink-2">{row.delta.p95Seconds} s</td>
        </>
      )}
      <td>
        <input
          type="checkbox"
          className="size-4 accent-(--accent)"
          aria-label={`Pin ${row.key}`}
          checked={row.pinned}
          onFocus={() => props.onHover(row.routing)}
          onBlur={() => props.onHover(null)}
          onChange={() => props.onPin(row.routing)}
        />
      </td>
    </tr>
  );
}

/** The chart as a table: the plans that tell the range, comparable figure by figure and by keyboard, or all of the frontier. */
export function FrontierTable(props: {
  readonly table: FrontierRows;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly hovered: number | null;
  readonly onHover: (routing: number | null) => void;
  readonly onPin: (routing: number) => void;
}) {
  const { rows, costsDiffer } = props.table;
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.filter((row) => row.brief);
  const deltas = rows.some((row) => row.delta !== null);
  return (
    <div className="flex flex-col gap-2">
      <div className={`relative overflow-y-auto ${all ? "max-h-96" : ""}`}>
        <Table caption="Plans on the frontier, estimated from the tables" columns={columnsOf(costsDiffer, deltas)}>
          {shown.map((row) => (
            <Row
              key={row.routing}
              row={row}
              identities={props.identities}
              cost={costsDiffer}
              hovered={props.hovered === row.routing}
              onHover={props.onHover}
              onPin={props.onPin}
            />
          ))}
        </Table>
      </div>
      <div className="flex flex-wrap gap-x-4 text-xs text-ink-3">
        {rows.some((row) => !row.brief) && (
          <button type="button" className="text-accent underline underline-offset-2" onClick={() => setAll(!all)}>
            {all ? "Show fewer" : `Show all ${rows.length}`}
          </button>
        )}
        {!costsDiffer && rows[0] !== undefined && <span>each {formatUsd(rows[0].candidate.costUsdPerRequest)} a request</span>}
        {deltas && <span>Δ: against what the running plan promised</span>}
      </div>
    </div>
  );
}
