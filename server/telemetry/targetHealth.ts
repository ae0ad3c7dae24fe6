import type { TargetEvent, TargetState } from "@/server/contracts/studio";
import type { Clock } from "./clock";
import { freshness } from "./freshness";
import type { ScrapeFailure } from "./scrape";

export interface TargetHealthOptions {
  readonly intervalMs: number;
  readonly clock: Clock;
}

/** Results of scrapes of one target: its freshness, its events, and the time of the next attempt. */
export interface TargetHealth {
  /** Whether to scrape now; a failing target is scraped less and less often. */
  isDue(): boolean;
  isFailing(): boolean;
  /** A scrape has just given a sample. */
  succeeded(): void;
  /** A scrape that began at `startedAtMs` of the steady clock gave none. */
  failed(failure: ScrapeFailure, startedAtMs: number): void;
  note(kind: TargetEvent["kind"], text: string): void;
  state(): TargetState;
}

const KEPT_EVENTS = 8;

/** Longest interval for a target that keeps failing, in periods: a restarted engine is seen again within it. */
const MOST_PERIODS = 5;

/** The initial state, without knowledge of the target. */
export function createTargetHealth({ intervalMs, clock }: TargetHealthOptions): TargetHealth {
  let lastGoodAtMs: number | null = null;
  let failure: ScrapeFailure | null = null;
  let failing: TargetState["failing"] = null;
  /** On the steady clock, like the time of the last sample. */
  let [failingSinceMs, dueMs] = [0, 0];
  let failures = 0;
  let since: Pick<TargetState, "state" | "sinceMs"> = { state: "unreachable", sinceMs: clock.wallMs() };
  let events: readonly TargetEvent[] = [];

  const note = (kind: TargetEvent["kind"], text: string): void => {
    events = [...events, { atMs: clock.wallMs(), kind, text }].slice(-KEPT_EVENTS);
  };

  return {
    // Rounds come a little early or late.
    isDue: () => failing === null || clock.steadyMs() >= dueMs - intervalMs / 2,
    isFailing: () => failing !== null,
    succeeded() {
      if (failing !== null) {
        const seconds = (clock.steadyMs() - failingSinceMs) / 1000;
        note("answers", `It answers again, ${seconds.toFixed(seconds < 10 ? 1 : 0)} s after: ${failure?.reason ?? ""}`);
      }
      lastGoodAtMs = clock.steadyMs();
      failure = null;
      failing = null;
      failures = 0;
    },
    failed(why, startedAtMs) {
      if (failing?.kind !== why.kind) note(why.kind, why.reason);
      const [wallMs, steadyMs] = [clock.wallMs(), clock.steadyMs()];
      if (failing?.kind !== why.kind) failingSinceMs = steadyMs;
      const sinceMs = failing?.kind === why.kind ? failing.sinceMs : wallMs;
      const periods = Math.min(MOST_PERIODS, 2 ** failures);
      failures = Math.min(failures + 1, MOST_PERIODS);
      failure = why;
      dueMs = Math.max(steadyMs, startedAtMs + periods * intervalMs);
      failing = { kind: why.kind, sinceMs, nextTryAtMs: wallMs + dueMs - steadyMs };
    },
    note,
    state() {
      const { state, ageSeconds, reason } = freshness({ nowMs: clock.steadyMs(), intervalMs, lastGoodAtMs, failure });
      if (state !== since.state) since = { state, sinceMs: clock.wallMs() };
      return { ...since, ageSeconds, reason, failing, events };
    },
  };
}
