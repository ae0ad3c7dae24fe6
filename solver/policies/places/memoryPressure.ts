import type { Reading } from "../core/policy";
import { isNewer, readAtSeconds } from "../core/readingTime";

/**
 * Use of the KV cache from which a replica with late requests takes no more work, and below which it takes work again. The space left at
 * the upper threshold is about what a batch of 64 at 40 tokens a second writes into a cache of 50,000 tokens within a second, the usual
 * time between two readings; the lower is the same distance below it, so that one reading's growth does not suspend a replica just resumed.
 */
const PRESSED_USE = 0.95;
const RELIEVED_USE = 0.9;

/** State from the readings of one replica so far. */
export interface MemoryPressure {
  /** Time of the latest reading that was processed. */
  readonly readAtSeconds: number;
  /** Preemptions up to that reading; null: not known. */
  readonly preemptions: number | null;
  /** Why no more may be sent to it; null where requests may be sent. */
  readonly suspended: string | null;
}

export interface MemoryReadings {
  readonly kvUse: Reading;
  readonly preemptions: Reading;
  /** Whether there are requests that were expected to have ended. */
  runsLate(): boolean;
}

export const noPressure: MemoryPressure = { readAtSeconds: Number.NEGATIVE_INFINITY, preemptions: null, suspended: null };

/**
 * The pressure after a check of a replica's readings (Kairos, section 6: requests slower than expected are detected by preemptions and KV
 * use, and no requests are sent there until that clears). Each reading counts once. Preemptions since the previous reading suspend the
 * replica, and so does a nearly full cache while requests are late; the next reading without either and with a relieved cache resumes it.
 * Without any fresh reading pressure is unknown: the replica is not suspended, and preemptions are counted from zero again.
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
