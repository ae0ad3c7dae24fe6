import type { CallJournal } from "@/server/calls/callScheduler";
import type { Prompt } from "@/server/contracts/studio/prompts";
import type { BatchRepository, EarlierTries, StoredBatch, StoredBatchCall } from "@/server/store/batchRepository";
import type { SessionRow } from "@/solver/ensemble/sessions/sessionRow";
import type { BatchConnector } from "./batchConnector";
import type { BatchTally } from "./batchTally";

/** Whether a batch goes on. */
export interface Hold {
  readonly isHeld: boolean;
  /** Waits while it is held; false: it ends. */
  opened(): Promise<boolean>;
  /** Holds it for a reason that somebody has to see to. */
  pause(reason: string): void;
  /** Holds it for what could not be done, most likely for the disk. */
  failed(error: unknown): void;
  /** After a while, or as soon as it ends. */
  sleep(ms: number): Promise<void>;
}

export interface SessionContext {
  readonly batch: Pick<StoredBatch, "id" | "order">;
  readonly batches: BatchRepository;
  readonly connector: BatchConnector;
  readonly tally: BatchTally;
  /** Calls of its model that were begun and are not over, by position: kept up with here. */
  readonly tries: Map<number, EarlierTries>;
  readonly journal: CallJournal<StoredBatchCall>;
  readonly hold: Hold;
  /** What the model is asked; null: the texts are gone. */
  readonly bodyOf: (position: number) => Prompt["body"] | null;
  readonly readVote: (text: string) => string | null;
  /** A call has come to its end, and that is on disk. @throws what the disk throws: it is to be told again. */
  readonly ended: (row: StoredBatchCall) => void;
  readonly keepRow: (row: SessionRow) => void;
  /** Cuts what is under way. */
  readonly signal: AbortSignal;
}
