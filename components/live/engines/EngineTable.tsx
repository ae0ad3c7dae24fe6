"use client";

import { memo, useCallback, useState } from "react";
import { Sparkline } from "@/components/charts/Sparkline";
import { StateWord } from "@/components/ui/Badge";
import { formatShare } from "@/components/ui/format";
import { ModelMark } from "@/components/ui/ModelChip";
import { Table } from "@/components/ui/Table";
import { useUrlView } from "@/components/url/useUrlView";
import { liveCodec } from "../address/liveCodec";
import { drawsAlike, type EngineOrder, nextOrder, orderEngines } from "./orderEngines";
import type { EngineColumn, EngineRow } from "./prepareEngines";

const columns = [
  { key: "engine", name: "Engine" },
  { key: "health", name: "Health" },
  { key: "running", name: "Running", numeric: true },
  { key: "waiting", name: "Waiting", numeric: true },
  { key: "kv", name: "KV use, last minute" },
  { key: "preemptions", name: "Preemptions", numeric: true },
  { key: "tokens", name: "Tokens", numeric: true },
  { key: "ttft", name: "TTFT p95", numeric: true },
  { key: "tpot", name: "TPOT p95", numeric: true },
  { key: "requests", name: "Requests", numeric: true },
] as const;

const Row = memo(
  function Row({ row, onOpen }: { readonly row: EngineRow; readonly onOpen: (engineId: string) => void }) {
    const { engine, identity, build, health, since, telemetry, kvUse, cells } = row;
    const figure = (column: EngineColumn) => (
      <td className="text-right whitespace-nowrap" title={cells[column].title}>
        {cells[column].text}
      </td>
    );
    return (
      <tr>
        <td>
          <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
            {identity !== undefined && <ModelMark identity={identity} />}
            <button type="button" className="text-accent underline-offset-2 hover:underline" onClick={() => onOpen(engine.id)}>
              {engine.id}
            </button>
          </span>
          {build !== "" && <span className="block text-xs whitespace-nowrap text-ink-3">{build}</span>}
        </td>
        <td>
          <StateWord tone={health.tone} title={health.text}>
            {health.word}
          </StateWord>
          <span className="block text-xs whitespace-nowrap text-ink-3" title={since.title}>
            {since.text}
          </span>
          {telemetry !== null && (
            <span className="block text-xs whitespace-nowrap text-warn" title={telemetry.reason}>
              {telemetry.text}
            </span>
          )}
        </td>
        {figure("running")}
        {figure("waiting")}
        <td>
          <span className="flex items-center gap-2">
            <Sparkline values={kvUse} hue={identity?.hue ?? "var(--ink-2)"} />
            {formatShare(engine.kvUse)}
          </span>
        </td>
        {figure("preemptions")}
        {figure("tokens")}
        {figure("ttft")}
        {figure("tpot")}
        {figure("requests")}
      </tr>
    );
  },
  (before, after) => before.onOpen === after.onOpen && drawsAlike(before.row, after.row),
);

/** Every engine: its health from the gateway, its figures from its own metrics. Its name opens its details. */
export function EngineTable({ rows }: { readonly rows: readonly EngineRow[] }) {
  const [order, setOrder] = useState<EngineOrder>(null);
  const [, write] = useUrlView(liveCodec);
  const onOpen = useCallback((of: string) => write({ scope: "engine", of }, "push"), [write]);
  if (rows.length === 0) return <p className="text-sm text-ink-3">No engine is up. Applying a plan starts its engines.</p>;
  const ordered = columns.map((column) => {
    const { key } = column;
    if (key === "health") return column;
    const now = order?.by !== key ? "none" : order.descending ? "descending" : "ascending";
    return { ...column, order: { now, onAsk: () => setOrder((asked) => nextOrder(asked, key)) } } as const;
  });
  return (
    <Table caption="Engines" columns={ordered}>
      {orderEngines(rows, order).map((row) => (
        <Row key={row.engine.id} row={row} onOpen={onOpen} />
      ))}
    </Table>
  );
}
