"use client";

import { useEffect, useRef, useState } from "react";
import { engineNames } from "@/solver/hardware/engineProfile";
import { Badge } from "../ui/Badge";
import { formatCount, formatCounted, formatSeconds } from "../ui/format";
import { type Column, Table } from "../ui/Table";
import { formatError } from "./formatError";
import type { CheckedRow, RowOrder } from "./prepareRows";

/** Rows shown at first and with each further click. */
const PAGE = 50;

const COLUMNS: readonly (Omit<Column, "key"> & { readonly key: RowOrder })[] = [
  { key: "line", name: "Line", numeric: true },
  { key: "model", name: "Model" },
  { key: "gpu", name: "GPU" },
  { key: "engine", name: "Engine" },
  { key: "tp", name: "tp", numeric: true },
  { key: "input", name: "In", numeric: true },
  { key: "output", name: "Out", numeric: true },
  { key: "concurrency", name: "In flight", numeric: true },
  { key: "measured", name: "Measured", numeric: true },
  { key: "predicted", name: "Predicted", numeric: true },
  { key: "error", name: "Error", numeric: true },
];

function Row(props: { readonly checked: CheckedRow; readonly pointed: boolean; readonly onPoint: (line: number | null) => void }) {
  const { row, measuredSeconds, predictedSeconds, error, extrapolated, matched } = props.checked;
  return (
    <tr
      className={props.pointed ? "bg-accent-soft" : ""}
      onPointerEnter={() => props.onPoint(row.line)}
      onPointerLeave={() => props.onPoint(null)}
    >
      <td className="text-right">
        <button
          type="button"
          className="underline-offset-2 hover:underline"
          aria-label={`Line ${row.line}, show in the chart`}
          onFocus={() => props.onPoint(row.line)}
          onBlur={() => props.onPoint(null)}
        >
          {row.line}
        </button>
      </td>
      <td className="whitespace-nowrap">
        {row.model} <span className="text-xs text-ink-3">{row.precision}</span>
        {extrapolated.length > 0 && (
          <span className="ml-2">
            <Badge tone="hatched" title={extrapolated.join("; ")}>
              extrapolated
            </Badge>
            <span className="sr-only">{extrapolated.join("; ")}</span>
          </span>
        )}
      </td>
      <td className="whitespace-nowrap">{row.gpu}</td>
      <td className="whitespace-nowrap">{engineNames[row.engine]}</td>
      <td className="text-right whitespace-nowrap">
        {row.shape.tp}
        {row.shape.pp > 1 && ` × pp ${row.shape.pp}`}
      </td>
      <td className="text-right">{formatCount(row.inputTokens)}</td>
      <td className="text-right">{formatCount(row.outputTokens)}</td>
      <td className="text-right">{formatCount(row.concurrency)}</td>
      <td className="text-right whitespace-nowrap">{formatSeconds(measuredSeconds)}</td>
      <td className="text-right whitespace-nowrap">{formatSeconds(predictedSeconds)}</td>
      <td className="text-right whitespace-nowrap">
        {formatError(error)}
        {!matched && (
          <span className="ml-2">
            <Badge tone="warn" title="The profile misses this by more than 25 % on held-out runs">
              not matched
            </Badge>
          </span>
        )}
      </td>
    </tr>
  );
}

/** The runs one by one: the chart figure by figure, and by keyboard. */
export function RowTable(props: {
  /** In the order asked for. */
  readonly rows: readonly CheckedRow[];
  readonly metric: string;
  readonly order: RowOrder;
  readonly descending: boolean;
  readonly onOrder: (order: RowOrder, descending: boolean) => void;
  readonly pointed: number | null;
  readonly onPoint: (line: number | null) => void;
  /** A line picked in the chart, to be brought into view. */
  readonly picked: number | null;
}) {
  const { rows, picked } = props;
  const [shown, setShown] = useState(PAGE);
  const place = picked === null ? -1 : rows.findIndex(({ row }) => row.line === picked);
  const end = Math.max(shown, place + 1);
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place >= 0) body.current?.querySelectorAll("tbody tr")[place]?.scrollIntoView({ block: "nearest" });
  }, [place]);
  const columns = COLUMNS.map((column): Column => {
    const here = props.order === column.key;
    return {
      ...column,
      order: {
        now: here ? (props.descending ? "descending" : "ascending") : "none",
        onAsk: () => props.onOrder(column.key, here ? !props.descending : column.key === "error"),
      },
    };
  });
  return (
    <div className="flex flex-col gap-2">
      <div ref={body} className="max-h-128 overflow-y-auto">
        <Table caption={`Runs with measured and predicted ${props.metric}`} columns={columns}>
          {rows.slice(0, end).map((checked) => (
            <Row
              key={checked.row.line}
              checked={checked}
              pointed={props.pointed === checked.row.line || picked === checked.row.line}
              onPoint={props.onPoint}
            />
          ))}
        </Table>
      </div>
      {rows.length > end && (
        <button type="button" className="self-start text-xs text-accent underline underline-offset-2" onClick={() => setShown(end + PAGE)}>
          Show more of {formatCounted(rows.length, "run")}
        </button>
      )}
    </div>
  );
}
