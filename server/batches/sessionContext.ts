import type { CallJournal } from "@/server/calls/callScheduler";
import type { Prompt } from "@/server/contracts/studio/prompts";
import type { BatchRepository, EarlierTries, StoredBatch, StoredBatchCall } from "@/server/store/batchRepository";
import type { SessionRow } from "@/solver/ensemble/sessions/sessionRow";
import type { BatchConnector } from "./batchConnector";
import type { BatchTally } from "./batchTally";

/** The pause state of a batch. */
export interface Hold {
  readonly isHeld: boolean;
  /** Waits while it is paused; false: it ends. */
  opened(): Promise<boolean>;
  /** Pauses it for a reason that a user must resolve. */
  pause(reason: string): void;
  /** Pauses it because of a failed operation, most likely on the disk. */
  failed(error: unknown): void;
  /** Resolves after a while, or as soon as the batch ends. */
  sleep(ms: number): Promise<void>;
}

export interface SessionContext {
  readonly batch: Pick<StoredBatch, "id" | "order">;
  readonly batches: BatchRepository;
  readonly connector: BatchConnector;
  readonly tally: BatchTally;
  /** Calls of its model that were begun and have not ended, by position: updated here. */
  readonly tries: Map<number, EarlierTries>;
  readonly journal: CallJournal<StoredBatchCall>;
  readonly hold: Hold;
  /** The model's request; null: the texts are deleted. */
  readonly bodyOf: (position: number) => Prompt["body"] | null;
  readonly readVote: (text: string) => string | null;
  /**
   * A call has ended, and that is on disk.
   * @throws the disk's errors: then it must be repeated.
   */
  readonly ended: (row: StoredBatchCall) => void;
  readonly keepRow: (row: SessionRow) => void;
  /** Aborts the calls in flight. */
  readonly signal: AbortSignal;
}
