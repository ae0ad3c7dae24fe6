import { StateWord } from "@/components/ui/Badge";
import { formatClock } from "@/components/ui/format";
import { Table } from "@/components/ui/Table";
import type { EngineFrame, TargetEvent } from "@/server/contracts/studio";
import { ENGINE_WINDOW } from "../charts/liveCharts";
import { failureWords } from "./engineFindings";
import { whenText } from "./findings";
import { prepareReadings, type ReadingCell } from "./prepareReadings";

const latencyColumns = [
  { key: "latency", name: `Latency, ${ENGINE_WINDOW}` },
  { key: "mean", name: "Mean", numeric: true },
  { key: "p50", name: "p50", numeric: true },
  { key: "p95", name: "p95", numeric: true },
  { key: "p99", name: "p99", numeric: true },
] as const;

const eventWords: Readonly<Record<TargetEvent["kind"], string>> = {
  ...failureWords,
  answers: "answers again",
  "counters-reset": "restarted or reset",
  "version-changed": "version changed",
};

/** A reading, or the word for why there is none: each reason has its own look and text. */
function Cell({ cell, build }: { readonly cell: ReadingCell; readonly build: string }) {
  switch (cell.kind) {
    case "value":
      return <span className="font-medium whitespace-nowrap">{cell.text}</span>;
    case "nothing yet":
      return <span className="text-ink-3 italic">nothing yet</span>;
    case "absent":
      return (
        <span className="inline-flex flex-wrap items-center justify-end gap-1">
          <StateWord tone="warn">absent</StateWord>
          <span className="text-xs text-ink-2">
            looked for <code className="font-mono [overflow-wrap:anywhere]">{cell.lookedFor}</code>
          </span>
        </span>
      );
    case "not applicable":
      return (
        <span className="hatched rounded bg-sunken pr-1.5 pl-3.5 text-xs text-ink-2" title={`${build} has no such metric.`}>
          not applicable to {build}
        </span>
      );
  }
}

function Latencies({ rows, build }: { readonly rows: ReturnType<typeof prepareReadings>["latencies"]; readonly build: string }) {
  return (
    <Table caption="Latencies of this engine" columns={latencyColumns}>
      {rows.map(({ name, mean, percentiles }) => {
        const [p50, ...others] = percentiles;
        // All percentiles come from one metric, so that a missing metric is named once.
        const whole = p50.kind === "absent" || p50.kind === "not applicable";
        return (
          <tr key={name}>
            <td>{name}</td>
            {whole ? (
              <td colSpan={4} className="text-right">
                <Cell cell={p50} build={build} />
              </td>
            ) : (
              <>
                <td className="text-right">
                  {mean === null ? <span className="text-ink-3">not kept</span> : <Cell cell={mean} build={build} />}
                </td>
                {[p50, ...others].map((cell, at) => (
                  <td key={latencyColumns[at + 2]?.key} className="text-right">
                    <Cell cell={cell} build={build} />
                  </td>
                ))}
              </>
            )}
          </tr>
        );
      })}
    </Table>
  );
}

function Events({ events }: Pick<EngineFrame, "events">) {
  if (events.length === 0) return <p className="text-sm text-ink-3">No events since monitoring started.</p>;
  return (
    <ol className="flex list-none flex-col gap-1 text-sm">
      {events.toReversed().map(({ atMs, kind, text }) => (
        <li key={`${atMs} ${kind}`} className="flex flex-wrap items-baseline gap-x-2">
          <time className="text-ink-3" dateTime={new Date(atMs).toISOString()}>
            {formatClock(new Date(atMs).toISOString())}
          </time>
          <StateWord tone={kind === "answers" ? "good" : kind in failureWords ? "bad" : "warn"}>{eventWords[kind]}</StateWord>
          <span className="min-w-0 text-ink-2 [overflow-wrap:anywhere]">{text}</span>
        </li>
      ))}
    </ol>
  );
}

/** All details of one engine at `nowMs`: what it is, the state of its telemetry, all its metrics, and its events. */
export function EngineDetail({ engine, nowMs }: { readonly engine: EngineFrame; readonly nowMs: number }) {
  const build = engine.engine === null ? "this engine" : `${engine.engine.type} ${engine.engine.version ?? "of unknown version"}`;
  const since = whenText({ is: "since", atMs: engine.sinceMs }, nowMs);
  const prepared = engine.readings === null ? null : prepareReadings(engine.readings);
  return (
    <div className="flex flex-col gap-4" data-testid="engine-detail">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-ink-2">
        <span>
          <span className="font-medium text-ink">{engine.id}</span> of {engine.model}
        </span>
        <span>{engine.engine === null ? "type unknown yet" : build}</span>
        <StateWord tone={engine.health === "unhealthy" ? "bad" : engine.health === "serving" ? "good" : "neutral"}>
          {engine.health === "unknown" ? "not reported by the gateway" : engine.health}
        </StateWord>
        <span title={since.title}>
          telemetry {engine.state} {since.text}
        </span>
        {engine.gpus.length > 0 && <span>GPUs {engine.gpus.map(({ node, index }) => `${node}/${index}`).join(", ")}</span>}
      </div>
      {engine.reason !== "" && engine.state !== "fresh" && (
        <p className="text-sm text-warn [overflow-wrap:anywhere]">
          {engine.failing === null ? "Late" : failureWords[engine.failing.kind]}: {engine.reason}
        </p>
      )}
      {prepared === null ? (
        <p className="text-sm text-ink-3">No readings: its metrics cannot be read.</p>
      ) : (
        <div className="grid items-start gap-x-8 gap-y-4 xl:grid-cols-2">
          <dl className="grid text-sm sm:grid-cols-2 sm:gap-x-8 xl:grid-cols-1">
            {prepared.figures.map(({ name, cell }) => (
              <div key={name} className="flex min-w-0 items-baseline justify-between gap-3 border-b py-1">
                <dt className="text-ink-2">{name}</dt>
                <dd className="min-w-0 text-right">
                  <Cell cell={cell} build={build} />
                </dd>
              </div>
            ))}
          </dl>
          <Latencies rows={prepared.latencies} build={build} />
        </div>
      )}
      <section>
        <h3 className="mb-1 text-xs font-medium text-ink-3">Recent events</h3>
        <Events events={engine.events} />
      </section>
    </div>
  );
}
