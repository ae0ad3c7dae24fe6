import type { ScrapeFailure } from "./scrape";

export interface Freshness {
  readonly state: "fresh" | "stale" | "unreachable";
  readonly ageSeconds: number;
  readonly reason: string;
}

export interface FreshnessFacts {
  /** On the steady clock, like the sample's. */
  readonly nowMs: number;
  readonly intervalMs: number;
  /** Time of the last good sample; null if there was none. */
  readonly lastGoodAtMs: number | null;
  /** The failure of the latest attempt; null if it succeeded or there was none. */
  readonly failure: ScrapeFailure | null;
}

/** A sample counts as fresh for three periods: one may be lost, one may be late. */
const FRESH_PERIODS = 3;

/** After ten periods a value does not describe the present: it is no longer shown. */
const STALE_PERIODS = 10;

/**
 * The state of a target's last good sample: fresh up to three periods, stale up to ten while the target still answers in some way,
 * otherwise unreachable. A target that refuses connections is unreachable as soon as its sample is no longer fresh.
 */
export function freshness({ nowMs, intervalMs, lastGoodAtMs, failure }: FreshnessFacts): Freshness {
  const reason = failure?.reason ?? "";
  if (lastGoodAtMs === null) return { state: "unreachable", ageSeconds: 0, reason: reason === "" ? "not scraped yet" : reason };
  const ageMs = nowMs - lastGoodAtMs;
  const ageSeconds = ageMs / 1000;
  if (ageMs <= FRESH_PERIODS * intervalMs) return { state: "fresh", ageSeconds, reason };
  const refused = failure?.kind === "unreachable" || failure?.kind === "access";
  const state = refused || ageMs > STALE_PERIODS * intervalMs ? "unreachable" : "stale";
  return { state, ageSeconds, reason: reason === "" ? "no answer yet" : reason };
}
