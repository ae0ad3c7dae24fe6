import { Sparkline } from "../charts/Sparkline";
import { StateWord } from "../ui/Badge";
import { formatCount, formatPercent, formatRate, formatSeconds } from "../ui/format";
import { ModelMark } from "../ui/ModelChip";
import { Table } from "../ui/Table";
import type { EngineRow } from "./prepareEngines";

const columns = [
  { key: "engine", name: "Engine" },
  { key: "health", name: "Health" },
  { key: "running", name: "Running", numeric: true },
  { key: "waiting", name: "Waiting", numeric: true },
  { key: "kv", name: "KV use, last minute" },
  { key: "ttft", name: "TTFT p95", numeric: true },
  { key: "rate", name: "Requests", numeric: true },
] as const;

/** Every engine: its health as the gateway tells it, its figures as its own metrics do. */
export function EngineTable({ rows }: { readonly rows: readonly EngineRow[] }) {
  if (rows.length === 0) return <p className="text-sm text-ink-3">No engine is up. Applying a plan starts its engines.</p>;
  return (
    <Table caption="Engines" columns={columns}>
      {rows.map(({ engine, identity, health, telemetry, kvUse }) => (
        <tr key={engine.id}>
          <td>
            <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
              {identity !== undefined && <ModelMark identity={identity} />}
              {engine.id}
            </span>
          </td>
          <td>
            <StateWord tone={health.tone} title={health.text}>
              {health.word}
            </StateWord>
            {telemetry !== null && (
              <span className="block text-xs whitespace-nowrap text-ink-3" title={telemetry.reason}>
                {telemetry.text}
              </span>
            )}
          </td>
          <td className="text-right whitespace-nowrap">{formatCount(engine.running)}</td>
          <td className="text-right whitespace-nowrap">{formatCount(engine.waiting)}</td>
          <td>
            <span className="flex items-center gap-2">
              <Sparkline values={kvUse} hue={identity?.hue ?? "var(--ink-2)"} />
              {formatPercent(engine.kvUse)}
            </span>
          </td>
          <td className="text-right whitespace-nowrap">{formatSeconds(engine.ttftP95Seconds)}</td>
          <td className="text-right whitespace-nowrap">{formatRate(engine.requestsPerSecond)}</td>
        </tr>
      ))}
    </Table>
  );
}
