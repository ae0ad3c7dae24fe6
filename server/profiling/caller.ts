import type { UnscoredKind } from "@/server/contracts/studio";
import type { StoredCall, StoredProfile } from "@/server/store/profileRepository";
import { type Asked, askModel } from "./askModel";
import type { Budget } from "./budget";
import type { CallBook } from "./callBook";
import type { LedgerCall } from "./callLedger";
import { callRows, scoreOf } from "./callRows";
import type { Lane, UpstreamState } from "./lane";
import type { PreparedCall } from "./prepareCall";

/** Attempts at one call that failed, since the job was last resumed, after which it is given up. */
const MOST_ATTEMPTS = 5;

/** Before another attempt. */
const retryMs = (failures: number): number => Math.min(60_000, 500 * 2 ** (failures - 1));

type Call = Extract<PreparedCall, { kind: "call" }>;

export interface CallerParts {
  readonly profile: StoredProfile;
  readonly book: CallBook;
  readonly budget: Budget;
  /** Cuts what is under way. */
  readonly signal: AbortSignal;
}

export type Caller = ReturnType<typeof createCaller>;

/** Makes calls of a job, one attempt at a time, and puts down what came of each. */
export function createCaller({ profile, book, budget, signal }: CallerParts) {
  const { models, measures } = profile.request;
  const rows = callRows(profile);
  const failures = new Map<number, number>();
  /** Calls that a place refused since they were to be streamed. */
  const unstreamed = new Set<number>();
  let inFlight = 0;

  async function settle(call: LedgerCall, row: StoredCall, asked: Asked, read: Call["read"]): Promise<void> {
    if (asked.kind === "answered") {
      const { kind: _, text, cut, ...figures } = asked;
      const said = read === null ? { answer: text, cut: cut ? 1 : 0 } : scoreOf(read(text));
      return end(call, { ...row, ...figures, ...said, state: "done" });
    }
    // What had begun to be answered stays as asked: when the job goes on it counts as lost.
    if (asked.kind === "aborted") return asked.mayCost ? book.putBack(call) : book.again(call, row, 0);
    if (asked.kind === "unstreamed") {
      unstreamed.add(call.id);
      return book.again(call, row, 0);
    }
    const failed = (failures.get(call.id) ?? 0) + (asked.kind === "busy" ? 0 : 1);
    failures.set(call.id, failed);
    if (asked.kind !== "refused" && failed < MOST_ATTEMPTS) return book.again(call, row, asked.kind === "busy" ? 0 : retryMs(failed));
    const unscored: UnscoredKind | null = read === null ? null : asked.kind === "refused" ? "refused" : "failed";
    const who = read === null ? models[call.model]?.model : `The judge of "${measures[call.measure ?? 0]?.name}"`;
    return end(call, { ...row, unscored, failure: `${who} ${asked.reason}.`, state: "failed" });
  }

  async function end(call: LedgerCall, row: StoredCall): Promise<void> {
    await book.over(call, row);
    failures.delete(call.id);
    unstreamed.delete(call.id);
  }

  return {
    inFlight: () => inFlight,
    /** @param mostUsd reserved for it. @returns when it is put down what came of it; rejects where that cannot be. */
    async make({ call, body, read }: Call, mostUsd: number, lane: Lane, standing: UpstreamState): Promise<void> {
      const before = book.before(call);
      const attempt = { ...rows.blank(call), lost: before.lost, attempts: before.attempts + 1 };
      let spentUsd = 0;
      inFlight += 1;
      standing.inFlight += 1;
      const others = standing.inFlight;
      try {
        await book.begin(call, { ...attempt, usd: before.usd + mostUsd, state: "asked" });
        const stream = read === null && standing.streams && !unstreamed.has(call.id);
        const asked = await askModel({ place: standing.place, body, stream, signal });
        spentUsd = lane.usdOf(asked, mostUsd);
        lane.report(standing, asked, call.id, performance.now());
        // It was the streaming that was refused, not the prompt.
        if (asked.kind === "answered" && unstreamed.has(call.id)) standing.streams = false;
        const row = { ...attempt, at: new Date().toISOString(), usd: before.usd + spentUsd };
        await settle(call, { ...row, engine: standing.place.engine, inFlight: others }, asked, read);
      } finally {
        budget.settle(mostUsd, spentUsd);
        inFlight -= 1;
        standing.inFlight -= 1;
      }
    },
    /** Forgets failures: somebody has looked. */
    resetFailures: () => failures.clear(),
  };
}
