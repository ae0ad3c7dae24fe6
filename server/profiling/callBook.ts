import { batchedWrite } from "@/server/store/batchedWrite";
import type { StoredCall, StoredProfile } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";
import type { CallLedger, LedgerCall } from "./callLedger";
import { none } from "./callRows";
import type { JobState } from "./jobState";
import type { LaneSpeeds } from "./laneSpeeds";
import type { ProfileShape } from "./profileShape";
import type { EarlierAttempts } from "./restoreCalls";
import type { Tally } from "./tally";

export interface CallBookParts {
  readonly profile: StoredProfile;
  readonly profiles: Store["profiles"];
  readonly shape: ProfileShape;
  readonly ledger: CallLedger;
  readonly tally: Tally;
  readonly speeds: LaneSpeeds;
  readonly state: Pick<JobState<unknown>, "state" | "isRunning">;
  /** Of calls that are not over, by their number. */
  readonly earlier: Map<number, EarlierAttempts>;
  /** A call can be taken again. */
  readonly soon: () => void;
}

export type CallBook = ReturnType<typeof createCallBook>;

/**
 * How a job's calls stand: on disk, in the ledger and in what is told of them. Where a write fails, its promise rejects and nothing is
 * lost: a call that was not made is there to be taken again, and what came of one that was waits to be written.
 */
export function createCallBook({ profile, profiles, shape, ledger, tally, speeds, state, earlier, soon }: CallBookParts) {
  const { id, request } = profile;
  const writer = createCallWriter(profiles, id);
  const delayed = new Map<number, NodeJS.Timeout>();
  /** Calls that are over and could not be written. */
  const unwritten = new Map<LedgerCall, StoredCall>();
  const before = (call: LedgerCall): EarlierAttempts => earlier.get(call.id) ?? none;

  function putBack(call: LedgerCall, afterMs = 0): void {
    ledger.leave(call.id);
    const back = (): void => {
      delayed.delete(call.id);
      ledger.giveBack(call.id);
      soon();
    };
    if (afterMs === 0 || !state.isRunning) back();
    else delayed.set(call.id, setTimeout(back, afterMs));
  }

  async function over(call: LedgerCall, row: StoredCall): Promise<void> {
    // Of a job that was stopped no text is kept that was not there already.
    const isWanted = request.keepAnswers || state.state !== "stopped";
    try {
      await writer.save(isWanted ? row : { ...row, answer: null });
    } catch (error) {
      unwritten.set(call, row);
      throw error;
    }
    tally.take(row, before(call));
    speeds.ended(ledger.laneAt(call), performance.now());
    earlier.delete(call.id);
    ledger.end(call.id, row.state === "failed" ? "failed" : "done");
    if (!request.keepAnswers) dropRead(call);
  }

  /** Drops answers that nobody reads any more. */
  function dropRead({ model, position }: LedgerCall): void {
    const against = shape.measures.flatMap((measure) => measure.against ?? []);
    for (const read of new Set([model, ...against]))
      if (ledger.isRead(position, read)) writer.drop(position, request.models[read]?.model ?? "");
  }

  return {
    before,
    /** Whether an attempt is yet to be made after a while. */
    get isWaiting(): boolean {
      return delayed.size > 0;
    },
    /** Puts down that a call is about to be made. */
    async begin(call: LedgerCall, row: StoredCall): Promise<void> {
      try {
        await writer.save(row);
      } catch (error) {
        putBack(call);
        throw error;
      }
    },
    over,
    /** Puts an attempt down that failed, and has the call made again after a while. */
    async again(call: LedgerCall, row: StoredCall, afterMs: number): Promise<void> {
      tally.take(row, before(call));
      earlier.set(call.id, { attempts: row.attempts, lost: row.lost, usd: row.usd });
      try {
        await writer.save(row);
      } finally {
        putBack(call, afterMs);
      }
    },
    /** A call is not made now. */
    putBack,
    /** Writes what could not be written. */
    async writeLeft(): Promise<void> {
      const left = [...unwritten];
      unwritten.clear();
      await Promise.all(left.map(([call, row]) => over(call, row)));
    },
    /** Writes what waits for the next turn, at once. */
    flush: () => writer.flush(),
    /** Nothing is made again by itself. */
    close(): void {
      for (const timer of delayed.values()) clearTimeout(timer);
    },
  };
}

interface CallWriter {
  /** Resolves when it is on disk. */
  save(call: StoredCall): Promise<void>;
  /** Deletes an answer's text with the next calls. */
  drop(position: number, model: string): void;
  /** Writes what waits, at once; where that fails it waits on. */
  flush(): void;
}

/** Puts down calls of a job, those of one turn of the event loop together. */
function createCallWriter(profiles: Store["profiles"], profileId: string): CallWriter {
  let calls: StoredCall[] = [];
  let drops: { readonly position: number; readonly model: string }[] = [];

  /** @throws what the disk throws: whoever has the calls has them yet, and texts are deleted with the next. */
  function write(): void {
    if (calls.length === 0 && drops.length === 0) return;
    const [rows, answers] = [calls, drops];
    calls = [];
    drops = [];
    try {
      profiles.saveCalls(profileId, rows, answers);
    } catch (error) {
      drops = [...answers, ...drops];
      throw error;
    }
  }

  function flush(): void {
    const rows = calls;
    try {
      write();
    } catch (error) {
      calls = rows;
      throw error;
    }
  }

  const later = batchedWrite(write);

  return {
    flush,
    save(call) {
      calls.push(call);
      return later();
    },
    drop(position, model) {
      drops.push({ position, model });
    },
  };
}
