import type { Outcome } from "@/server/contracts/studio";
import { createTaskQueue } from "@/server/threads/taskQueue";
import type { TournamentFigures } from "@/solver/tournament/tournamentFigures";

export interface GatesTask {
  /** A workload in the store's form. */
  readonly data: Uint8Array;
  /** Share of answers sent on, 0..1. */
  readonly share: number;
}

/** From the thread: the figures, or why there are none, in a sentence. */
export type GatesReply = Outcome<{ readonly tournament: TournamentFigures }>;

/**
 * Compares the gates of a workload in its own thread, after earlier requests: half a second for 1,300 prompts and three models, four
 * seconds for 20,000.
 *
 * @throws the signal's reason if it aborts, which ends the thread at once; Error if the thread ends without an answer.
 */
export const gatesInThread = createTaskQueue<GatesTask, GatesReply>({
  file: "gatesWorker",
  heapMb: 1024,
  mostLive: 10,
  makes: "comparisons of gates",
});
