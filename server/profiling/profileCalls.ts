import type { Admission, Attempt, CallOutcome, CallSource, NextStep } from "@/server/calls/callScheduler";
import { retryMs } from "@/server/calls/callScheduler";
import type { UnscoredKind } from "@/server/contracts/studio";
import type { JobState } from "@/server/lib/jobState";
import type { StoredCall } from "@/server/store/profileRepository";
import type { Budget } from "./budget";
import type { CallLedger, LedgerCall } from "./callLedger";
import { callRows, none, scoreOf } from "./callRows";
import { confidenceReading, rawConfidence } from "./gateReadings";
import type { Lane, UpstreamState } from "./lane";
import type { LaneSpeeds } from "./laneSpeeds";
import type { Pace } from "./pace";
import { type PreparedCall, type PrepareParts, prepareCall } from "./prepareCall";
import type { EarlierAttempts } from "./restoreCalls";
import type { Tally } from "./tally";
import type { TokenReports } from "./tokenReports";

/** Interval of the search for upstreams of a lane without any. */
export const REFRESH_MS = 1_000;

/** Failed attempts at one call since the job's last resume, after which it is given up. */
const MOST_ATTEMPTS = 5;

type AskedCall = Extract<PreparedCall, { kind: "call" }>;

export interface ProfileCallsParts extends PrepareParts {
  readonly lanes: readonly Lane[];
  readonly ledger: CallLedger;
  readonly tally: Tally;
  readonly speeds: LaneSpeeds;
  readonly reports: TokenReports;
  readonly budget: Budget;
  readonly pace: Pace;
  readonly state: JobState<"cap" | "model-down">;
  /** Of calls that are not over, by their number. */
  readonly earlier: Map<number, EarlierAttempts>;
  /** Deletes an answer's text with the next calls that are written. */
  readonly drop: (position: number, model: string) => void;
  /** A call can be taken again. */
  readonly soon: () => void;
}

/** Calls of a profile, lane by lane: what each takes, what it may cost, and what follows its outcome. */
export function createProfileCalls(parts: ProfileCallsParts) {
  const { profile, shape, lanes, ledger, tally, speeds, reports, budget, pace, state, earlier } = parts;
  const { models, measures, keepAnswers } = profile.request;
  const rows = callRows(profile);
  const reading = confidenceReading(profile.request);
  const failures = new Map<number, number>();
  /** Calls that an upstream refused since they were to be streamed. */
  const unstreamed = new Set<number>();
  const delayed = new Map<number, NodeJS.Timeout>();
  const modelOf = ({ model }: LedgerCall): string => models[model]?.model ?? "";
  const before = (call: LedgerCall): EarlierAttempts => earlier.get(call.id) ?? none;

  function putBack(call: LedgerCall, afterMs: number): void {
    ledger.leave(call.id);
    const back = (): void => {
      delayed.delete(call.id);
      ledger.giveBack(call.id);
      parts.soon();
    };
    if (afterMs === 0 || !state.canBegin()) back();
    else delayed.set(call.id, setTimeout(back, afterMs));
  }

  function pauseForFault(lane: Lane): void {
    const fault = lane.fault(performance.now());
    if (fault !== null) state.pause("model-down", fault);
  }

  function take(at: number): PreparedCall | null {
    const call = ledger.take(at);
    if (call === null) return null;
    let work: PreparedCall | null = null;
    try {
      work = prepareCall(call, parts);
      if (work === null) state.pause("problem", "Texts that are still needed were deleted: stop this job, or profile another sample.");
    } finally {
      if (work === null) putBack(call, 0);
    }
    return work;
  }

  function admit(work: PreparedCall, at: number): Admission<StoredCall> {
    const { call } = work;
    if (work.kind === "known") return { kind: "local", run: async () => rows.read(call, work.reading) };
    if (work.kind === "local") return { kind: "local", run: async (signal) => rows.read(call, await work.run(signal)) };
    const lane = lanes[at];
    if (lane === undefined) throw new RangeError(`There is no lane for call ${call.id}`);
    const now = performance.now();
    pauseForFault(lane);
    const upstream = state.canBegin() ? lane.pick(now) : null;
    if (upstream === null) return { kind: "held", waitMs: lane.waitMs(now) ?? REFRESH_MS };
    const waitMs = pace.waitMs(now);
    if (waitMs > 0) return { kind: "held", waitMs };
    const mostUsd = lane.usdAtMost(work.most);
    if (!budget.reserve(mostUsd)) return { kind: "over-cap", mostUsd };
    pace.made(now);
    return { kind: "attempt", attempt: attemptAt(work, lane, { upstream, mostUsd }) };
  }

  /** @param held from here until the attempt is settled or cancelled. */
  function attemptAt(
    { call, body, isLong, read }: AskedCall,
    lane: Lane,
    { upstream, mostUsd }: { readonly upstream: UpstreamState; readonly mostUsd: number },
  ): Attempt<StoredCall> {
    const spent = before(call);
    const attempt = { ...rows.blank(call), lost: spent.lost, attempts: spent.attempts + 1 };
    upstream.slots.begin();
    const inFlight = upstream.slots.underWay;
    const logProbabilities = read === null && reports.asks(modelOf(call), call.id);
    return {
      upstream: upstream.upstream,
      body,
      stream: isLong && upstream.streams && !unstreamed.has(call.id),
      logProbabilities,
      asked: { ...attempt, usd: spent.usd + mostUsd, state: "asked" },
      settle(outcome) {
        const usd = lane.usdOf(outcome, mostUsd);
        budget.settle(mostUsd, usd);
        lane.report(upstream, outcome, call.id, performance.now());
        // It was the streaming that was refused, not the prompt.
        if (outcome.kind === "answered" && unstreamed.has(call.id)) upstream.streams = false;
        const row = { ...attempt, at: new Date().toISOString(), usd: spent.usd + usd, engine: upstream.upstream.engine, inFlight };
        const step = stepAfter(call, row, outcome, { read, logProbabilities });
        pauseForFault(lane);
        return step;
      },
      cancel() {
        budget.settle(mostUsd, 0);
        upstream.slots.release({ kind: "cut" });
      },
    };
  }

  function stepAfter(
    call: LedgerCall,
    row: StoredCall,
    outcome: CallOutcome,
    { read, logProbabilities }: Pick<AskedCall, "read"> & { readonly logProbabilities: boolean },
  ): NextStep<StoredCall> {
    if (outcome.kind === "answered") {
      const { kind: _, text, cut, tokens, ...figures } = outcome;
      const confidence = logProbabilities ? rawConfidence(outcome, reading) : null;
      // An answer without text has no tokens, which shows nothing.
      const shows = read === null && (tokens !== null || text !== "");
      if (shows) reports.answered(modelOf(call), call.id, { asked: logProbabilities, reported: tokens !== null });
      const said = read === null ? { answer: text, cut: cut ? 1 : 0, confidence } : scoreOf(read(text));
      return { kind: "end", row: { ...row, ...figures, ...said, state: "done" } };
    }
    // Requests that may have cost something keep their state "asked": when the job continues they count as lost.
    if (outcome.kind === "aborted") return outcome.mayCost ? { kind: "putBack" } : again(call, row, 0);
    if (outcome.kind === "unstreamed") {
      unstreamed.add(call.id);
      return again(call, row, 0);
    }
    if (outcome.kind === "unreported" || (outcome.kind === "refused" && logProbabilities && !reports.reports(modelOf(call)))) {
      reports.askPlainly(call.id);
      return again(call, row, 0);
    }
    const failed = (failures.get(call.id) ?? 0) + (outcome.kind === "busy" ? 0 : 1);
    failures.set(call.id, failed);
    if (outcome.kind !== "refused" && failed < MOST_ATTEMPTS) return again(call, row, outcome.kind === "busy" ? 0 : retryMs(failed));
    const unscored: UnscoredKind | null = read === null ? null : outcome.kind === "refused" ? "refused" : "failed";
    const who = read === null ? modelOf(call) : readerOf(call);
    return { kind: "end", row: { ...row, unscored, failure: `${who} ${outcome.reason}.`, state: "failed" } };
  }

  function readerOf(call: LedgerCall): string {
    const measure = measures[call.measure ?? 0];
    return measure === undefined ? `${modelOf(call)}, asked for a sample,` : `The judge of "${measure.name}"`;
  }

  function again(call: LedgerCall, row: StoredCall, afterMs: number): NextStep<StoredCall> {
    tally.take(row, before(call));
    earlier.set(call.id, { attempts: row.attempts, lost: row.lost, usd: row.usd });
    return { kind: "again", row, afterMs };
  }

  function ended(call: LedgerCall, row: StoredCall): void {
    tally.take(row, before(call));
    speeds.ended(ledger.laneAt(call), performance.now());
    earlier.delete(call.id);
    failures.delete(call.id);
    unstreamed.delete(call.id);
    reports.forget(call.id);
    ledger.end(call.id, row.state === "failed" ? "failed" : "done");
    if (!keepAnswers) dropRead(call);
  }

  /** Drops answers that no reading needs any more. */
  function dropRead({ model, position }: LedgerCall): void {
    const against = shape.measures.flatMap((measure) => measure.against ?? []);
    for (const read of new Set([model, ...against])) if (ledger.isRead(position, read)) parts.drop(position, models[read]?.model ?? "");
  }

  return {
    sources: shape.lanes.map(
      (_, at): CallSource<PreparedCall, StoredCall> => ({
        take: () => take(at),
        admit: (work) => admit(work, at),
        putBack: ({ call }, afterMs) => putBack(call, afterMs),
        ended: ({ call }, row) => ended(call, row),
      }),
    ),
    /** Whether an attempt is yet to be made after a while. */
    get isWaiting(): boolean {
      return delayed.size > 0;
    },
    /** Forgets failures: a user has checked. */
    resetFailures: () => failures.clear(),
    /** Nothing is made again by itself. */
    close(): void {
      for (const timer of delayed.values()) clearTimeout(timer);
    },
  };
}
