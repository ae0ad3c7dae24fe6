import type { EngineMapping, Notion } from "@/server/engines/engineMapping";
import type { PromText } from "@/server/engines/promText";
import { readNumber, seriesOf } from "@/server/engines/readNotion";
import type { Histogram } from "./histogramQuantile";

/** What one scrape says of one engine. null is absent, never zero. */
export interface EngineReading {
  readonly running: number | null;
  readonly waiting: number | null;
  readonly kvUse: number | null;
  readonly finished: number | null;
  readonly promptTokens: number | null;
  readonly generationTokens: number | null;
  readonly ttftSeconds: Histogram | null;
  readonly endToEndSeconds: Histogram | null;
  /** Names that were looked for and not found. */
  readonly absent: readonly string[];
}

/** Reads every notion of the mapping from an exposition. */
export function readEngine(metrics: PromText, mapping: EngineMapping): EngineReading {
  const absent: string[] = [];
  const look = <Value>(notion: Notion | null, read: (metrics: PromText, notion: Notion) => Value | null): Value | null => {
    if (notion === null) return null;
    const value = read(metrics, notion);
    if (value === null) absent.push(notion.name);
    return value;
  };
  const { notions } = mapping;
  return {
    running: look(notions.running, readNumber),
    waiting: look(notions.waiting, readNumber),
    kvUse: look(notions.kvUse, readNumber),
    finished: look(notions.finished, readNumber),
    promptTokens: look(notions.promptTokens, readNumber),
    generationTokens: look(notions.generationTokens, readNumber),
    ttftSeconds: look(notions.ttftSeconds, readHistogram),
    endToEndSeconds: look(notions.endToEndSeconds, readHistogram),
    absent,
  };
}

function readHistogram(metrics: PromText, notion: Notion): Histogram | null {
  const counts = new Map<number, number>();
  for (const { labels, value } of seriesOf(metrics, `${notion.name}_bucket`, notion)) {
    const bound = labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels.le);
    if (!Number.isNaN(bound) && Number.isFinite(value)) counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  // Without its open bucket a histogram does not say how much was observed.
  if (!counts.has(Number.POSITIVE_INFINITY)) return null;
  const bounds = [...counts.keys()].sort((left, right) => left - right);
  return { bounds, cumulative: bounds.map((bound) => counts.get(bound) ?? 0) };
}
