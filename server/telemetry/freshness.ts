import type { ScrapeFailure } from "./scrape";

export interface Freshness {
  readonly state: "fresh" | "stale" | "unreachable";
  readonly ageSeconds: number;
  readonly reason: string;
}

export interface FreshnessFacts {
  /** Of the steady clock, as is the sample's. */
  readonly nowMs: number;
  readonly intervalMs: number;
  /** When the last good sample came; null when none ever did. */
  readonly lastGoodAtMs: number | null;
  /** How the latest attempt failed; null when it succeeded or none was made. */
  readonly failure: ScrapeFailure | null;
}

/** A sample counts as fresh for three periods: one may be lost, one may be late. */
const FRESH_PERIODS = 3;

/** After ten periods a value says nothing of the present: it is no longer shown. */
const STALE_PERIODS = 10;

/**
 * Judges the last good sample of a target: fresh up to three periods, stale up to ten while the target still answers in some
 * way, else unreachable. A target that refuses connections is unreachable as soon as its sample is no longer fresh.
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
