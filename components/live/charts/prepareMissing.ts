import type { EngineFrame, EngineReadingName, LiveFrame, Reading } from "@/server/contracts/studio";
import type { LiveChartSpec } from "./liveCharts";

const nameOf = ({ engine, id }: EngineFrame): string =>
  engine === null ? id : `${engine.type} ${engine.version ?? "of an unknown version"}`;

/** A sentence on a reading that has no value because the engine has no such metric; null where it has. */
function word(engine: EngineFrame, reading: Reading<unknown> | undefined): string | null {
  if (reading?.state === "absent") return `Not reported by ${nameOf(engine)}: ${reading.lookedFor} is not among its metrics.`;
  if (reading?.state === "not-applicable") return `Not reported by ${nameOf(engine)}, which has no such metric.`;
  return null;
}

/**
 * Why a chart of engines' own metrics is empty: the first engine's reason, if none of them has a value.
 *
 * @returns null where some engine has the metric, or none was read.
 */
export function prepareMissing(engines: readonly EngineFrame[], reads: readonly EngineReadingName[]): string | null {
  const read = engines.filter((engine) => engine.readings !== null);
  const words = read.flatMap((engine) => reads.map((name) => word(engine, engine.readings?.[name])));
  return words.some((each) => each === null) ? null : (words[0] ?? null);
}

/** The text of an empty chart: that the engines, the gateway or the GPU exporter do not answer takes precedence over the chart's own. */
export function emptyWord({ series, reads, empty }: LiveChartSpec, frame: LiveFrame | undefined, engines: readonly EngineFrame[]): string {
  if (frame === undefined) return empty;
  if (reads !== undefined) return prepareMissing(engines, reads) ?? empty;
  const kind = series[0]?.key.subject.split(":", 1)[0];
  if ((kind === "gateway" || kind === "stage") && frame.gateway.state === "unreachable")
    return `The gateway reports no figures: ${frame.gateway.reason}.`;
  if ((kind === "gpu" || kind === "node") && frame.gpuSources.length === 0) return "This cluster has no source of GPU metrics.";
  return empty;
}
