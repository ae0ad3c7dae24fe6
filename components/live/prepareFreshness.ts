import type { Tone } from "../ui/Badge";
import { formatAge } from "../ui/format";
import type { Connection } from "./stream/streamStore";

/** A sample is late after this many intervals. */
const LATE_INTERVALS = 2;
/** Bounds of the interval between samples, whatever two of them suggest. */
const SHORTEST_INTERVAL_MS = 500;
const LONGEST_INTERVAL_MS = 5_000;
/** Delay of a sample from the collector to the page. */
const WAY_MS = 500;

/** The freshness of the display in one word, and since when data is missing. */
export function prepareFreshness(at: {
  readonly connection: Connection;
  /** The newest two samples; null: none. */
  readonly lastMs: number | null;
  readonly beforeMs: number | null;
  readonly nowMs: number | null;
}): { readonly word: string; readonly tone: Tone; readonly title?: string } {
  const { connection, lastMs, beforeMs, nowMs } = at;
  if (connection.state === "lost") {
    const title = "The page shows the last received values.";
    if (nowMs === null) return { word: "connection lost, reconnecting", tone: "bad", title };
    const { retryAtMs, sinceMs } = connection;
    const next = retryAtMs === null ? "reconnecting" : `reconnecting in ${Math.max(0, Math.ceil((retryAtMs - nowMs) / 1000))} s`;
    return { word: `connection lost for ${Math.max(0, Math.round((nowMs - sinceMs) / 1000))} s, ${next}`, tone: "bad", title };
  }
  if (connection.state === "resting") return { word: "paused while hidden", tone: "neutral" };
  if (connection.state === "connecting" && lastMs === null) return { word: "connecting", tone: "warn" };
  if (lastMs === null || nowMs === null) return { word: "no sample yet", tone: "neutral" };
  const interval = beforeMs === null ? SHORTEST_INTERVAL_MS * 2 : lastMs - beforeMs;
  const lateMs = LATE_INTERVALS * Math.min(LONGEST_INTERVAL_MS, Math.max(SHORTEST_INTERVAL_MS, interval)) + WAY_MS;
  if (nowMs - lastMs > lateMs) return { word: `late by ${formatAge((nowMs - lastMs - interval) / 1000)}`, tone: "warn" };
  return { word: "live", tone: "good" };
}
