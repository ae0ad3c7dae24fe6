import type { EngineMapping } from "@/server/engines/engineMapping";
import type { PromText } from "@/server/engines/promText";
import { type Reading, readNotions } from "@/server/engines/readNotions";
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

/** Reads what is shown of an engine from an exposition. */
export function readEngine(metrics: PromText, mapping: EngineMapping): EngineReading {
  const absent: string[] = [];
  const known = <Value>(reading: Reading<Value>): Value | null => {
    if (reading.state === "absent") absent.push(reading.lookedFor);
    return reading.state === "value" ? reading.value : null;
  };
  const notions = readNotions(metrics, mapping);
  return {
    running: known(notions.running),
    waiting: known(notions.waiting),
    kvUse: known(notions.kvUse)?.max ?? null,
    finished: known(notions.answered),
    promptTokens: known(notions.promptTokens),
    generationTokens: known(notions.generationTokens),
    ttftSeconds: known(notions.ttftSeconds),
    endToEndSeconds: known(notions.endToEndSeconds),
    absent,
  };
}
