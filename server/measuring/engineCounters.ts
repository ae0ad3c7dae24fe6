import { chooseMapping } from "@/server/engines/chooseMapping";
import { parsePromText } from "@/server/engines/promText";
import { readCanonicalMetrics } from "@/server/engines/readCanonicalMetrics";
import { askTarget, type MeasuredTarget } from "./measuredTarget";

/** What an engine's own metrics say at an instant; null: it does not say. */
export interface EngineCounters {
  readonly engine: string | null;
  readonly running: number | null;
  readonly waiting: number | null;
  /** Requests that it answered, and tokens of prompts that it computed, since it started. */
  readonly answered: number | null;
  readonly promptTokens: number | null;
  readonly kvTokens: number | null;
}

const NOTHING: EngineCounters = { engine: null, running: null, waiting: null, answered: null, promptTokens: null, kvTokens: null };

/** Reads the engine's metrics page, if it has one of a known kind. */
export async function engineCounters(target: MeasuredTarget, version: string | null): Promise<EngineCounters> {
  const page = await askTarget(target, "/metrics");
  if (page.kind !== "answered" || page.status !== 200) return NOTHING;
  const metrics = parsePromText(page.text);
  const mapping = chooseMapping(metrics, version);
  if (mapping === undefined) return NOTHING;
  const read = readCanonicalMetrics(metrics, mapping);
  const value = (reading: typeof read.running): number | null => (reading.state === "value" ? reading.value : null);
  const kvTokens = value(read.kvCapacityTokens);
  return {
    engine: mapping.engine,
    running: value(read.running),
    waiting: value(read.waiting),
    answered: value(read.answered),
    promptTokens: value(read.promptTokens),
    kvTokens: kvTokens !== null && kvTokens > 0 ? kvTokens : null,
  };
}

/**
 * Requests that others sent to the engine between two readings, as far as its counters tell: those answered beyond ours, or those in it
 * although none of ours is; 0 where it does not tell.
 *
 * @param ours requests of ours that were answered in between.
 */
export function foreignRequests(before: EngineCounters, after: EngineCounters, ours: number): number {
  const answered = before.answered === null || after.answered === null ? 0 : after.answered - before.answered - ours;
  return Math.max(0, answered, (after.running ?? 0) + (after.waiting ?? 0));
}

/**
 * An engine's limit on sequences that run at once. Requests also wait for the token budget of a step, and then the number that runs differs
 * from one moment to the next: a limit is a largest number that was reached twice.
 *
 * @param runningBesideWaiting requests that ran at moments when others waited.
 * @returns null where these moments show no limit.
 */
export function sequenceLimit(runningBesideWaiting: readonly number[]): number | null {
  const most = Math.max(0, ...runningBesideWaiting);
  return runningBesideWaiting.filter((running) => running === most).length < 2 ? null : most;
}
