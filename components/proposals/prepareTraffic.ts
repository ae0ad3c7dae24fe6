import type { TrafficGauge, TrafficReport } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";
import { ABSENT, formatClock, formatCount, formatCounted, formatRate, formatScore, formatSeconds } from "../ui/format";

export interface TrafficRow {
  readonly name: string;
  readonly planned: string;
  readonly now: string;
  readonly level: string;
  readonly word: string;
  readonly tone: Tone;
}

const withUnit = (text: string, unit: string): string => (text === ABSENT ? text : `${text} ${unit}`);

const inUnit: Readonly<Record<TrafficGauge["kind"], (value: number | null) => string>> = {
  rate: formatRate,
  tokens: (value) => withUnit(formatCount(value), "tokens"),
  score: (value) => withUnit(formatScore(value), "points"),
};

/** How each thing of the traffic stands; the level is told in limits, to two digits: from 1 on it is drift. */
export function trafficRows(report: TrafficReport): readonly TrafficRow[] {
  return report.gauges.map(({ name, kind, planned, now, level, drifted }) => ({
    name,
    planned: inUnit[kind](planned),
    now: inUnit[kind](now),
    level: level === null ? ABSENT : `${level.toFixed(2)} × the limit`,
    ...(drifted
      ? ({ word: "drifted", tone: "warn" } as const)
      : level === null
        ? ({ word: "too little seen", tone: "neutral" } as const)
        : ({ word: "as planned", tone: "good" } as const)),
  }));
}

/** What the rows rest on. */
export function trafficWindow({ windowSeconds, last }: TrafficReport): string {
  const windows = `windows of ${formatSeconds(windowSeconds)} and 50 requests at least`;
  return last === null
    ? `${windows}, none ended yet`
    : `${windows}; the last: ${formatCounted(last.requests, "request")}, ${formatClock(last.at)}`;
}
