import type { Reading } from "../core/policy";
import { isNewer, readAtSeconds } from "../core/readingTime";

/**
 * Use of the KV cache from which a replica whose requests run late takes nothing more, and below which it takes work again. What is left at the
 * upper is about what a batch of 64 at 40 tokens a second writes into a cache of 50,000 tokens within a second, the usual time between two
 * readings; the lower is as much again below it, so that one reading's growth does not suspend anew what was just let go.
 */
const PRESSED_USE = 0.95;
const RELIEVED_USE = 0.9;

/** What readings of one replica have said so far. */
export interface MemoryPressure {
  /** Of the latest reading that was looked at. */
  readonly readAtSeconds: number;
  /** Preemptions up to then; null: not known. */
  readonly preemptions: number | null;
  /** Why nothing more may be sent to it; null where something may be. */
  readonly suspended: string | null;
}

export interface MemoryReadings {
  readonly kvUse: Reading;
  readonly preemptions: Reading;
  /** Whether requests are there that were expected to have ended. */
  runsLate(): boolean;
}

export const noPressure: MemoryPressure = { readAtSeconds: Number.NEGATIVE_INFINITY, preemptions: null, suspended: null };

/**
 * The pressure after a look at a replica's readings (Kairos, section 6: slower requests than expected are noticed by preemptions and by KV use,
 * and nothing is sent there until that clears). Each reading counts once. Preemptions since the one before suspend, and so does a cache that is
 * nearly full while requests run late; the next reading without either that finds the cache relieved lifts it. Without any fresh reading nothing
 * is known of pressure: nothing is suspended, and preemptions are counted anew.
 */
export function pressureAfter(before: MemoryPressure, readings: MemoryReadings, nowSeconds: number): MemoryPressure {
  const useAt = readAtSeconds(readings.kvUse, nowSeconds);
  const preemptionsAt = readAtSeconds(readings.preemptions, nowSeconds);
  if (useAt === null && preemptionsAt === null) {
    return before.suspended === null && before.preemptions === null ? before : { ...noPressure, readAtSeconds: before.readAtSeconds };
  }
  const atSeconds = Math.max(useAt ?? Number.NEGATIVE_INFINITY, preemptionsAt ?? Number.NEGATIVE_INFINITY);
  if (!isNewer(atSeconds, before.readAtSeconds)) return before;
  const preemptions = readings.preemptions.state === "fresh" ? readings.preemptions.value : null;
  return { readAtSeconds: atSeconds, preemptions, suspended: suspension(before, readings, preemptions) };
}

function suspension(before: MemoryPressure, readings: MemoryReadings, preemptions: number | null): string | null {
  if (preemptions !== null && before.preemptions !== null && preemptions > before.preemptions) return "preempts";
  const use = readings.kvUse.state === "fresh" ? readings.kvUse.value : 0;
  if (use >= PRESSED_USE && readings.runsLate()) return "nearly-full-and-late";
  return use >= RELIEVED_USE ? before.suspended : null;
}
