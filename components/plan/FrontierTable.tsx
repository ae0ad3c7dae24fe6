"use client";

import { useEffect, useRef } from "react";
import { formatScore, formatSeconds, formatUsd } from "../ui/format";
import { ModelMark } from "../ui/ModelChip";
import type { ModelIdentity } from "../ui/modelIdentity";
import { Table } from "../ui/Table";
import type { FrontierRow } from "./prepareFrontierTable";

const columns = [
  { key: "cascade", name: "Cascade" },
  { key: "gpus", name: "GPUs", numeric: true },
  { key: "quality", name: "Quality", numeric: true },
  { key: "p95", name: "p95", numeric: true },
  { key: "cost", name: "$/request", numeric: true },
  { key: "delta", name: "Against running", numeric: true },
  { key: "pin", name: "Pin" },
] as const;

const roleWords = { chosen: "recommended", frontier: "", alone: "one model alone", pinned: "" } as const;

function Row(props: {
  readonly row: FrontierRow;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
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
          <span className="pl-1 text-xs text-ink-3">{roleWords[row.role]}</span>
        </span>
      </td>
      <td className="text-right whitespace-nowrap">{row.gpus.join(" + ")}</td>
      <td className="text-right whitespace-nowrap">
        {formatScore(row.candidate.quality)} <span className="text-xs text-ink-3">≥{formatScore(row.candidate.qualityLow)}</span>
      </td>
      <td className="text-right whitespace-nowrap">{formatSeconds(row.candidate.latencySeconds)}</td>
      <td className="text-right">{formatUsd(row.candidate.costUsdPerRequest)}</td>
      <td className="text-right whitespace-nowrap text-ink-2">
        {row.delta === null ? "–" : `${row.delta.quality} · ${row.delta.p95Seconds} s`}
      </td>
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

/** The chart as a table: the same plans, comparable figure by figure and by keyboard. */
export function FrontierTable(props: {
  readonly rows: readonly FrontierRow[];
  readonly total: number;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly hovered: number | null;
  readonly onHover: (routing: number | null) => void;
  readonly onPin: (routing: number) => void;
}) {
  return (
    <div className="relative max-h-64 overflow-y-auto">
      <Table caption="Plans on the frontier, estimated from the tables" columns={columns}>
        {props.rows.map((row) => (
          <Row
            key={row.routing}
            row={row}
            identities={props.identities}
            hovered={props.hovered === row.routing}
            onHover={props.onHover}
            onPin={props.onPin}
          />
        ))}
      </Table>
      {props.total > props.rows.length && (
        <p className="pt-2 text-xs text-ink-3">
          {props.rows.length} of {props.total} shown
        </p>
      )}
    </div>
  );
}
