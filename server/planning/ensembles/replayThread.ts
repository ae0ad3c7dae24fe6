import type { Outcome } from "@/server/contracts/studio";
import type { GateReport } from "@/server/contracts/studio/ensembles";
import { createTaskQueue } from "@/server/threads/taskQueue";
import type { ReplayRequest } from "@/solver/ensemble/replay/gateReplay";

export interface ReplayTask {
  /** A sample in the store's form. */
  readonly data: Uint8Array;
  readonly request: ReplayRequest;
}

/** From the thread: the report, or why there is none, in a sentence. */
export type ReplayReply = Outcome<{ readonly report: GateReport }>;

/**
 * Replays a gate on a sample in its own thread, after earlier requests: sixteen experts of a thousand questions take a quarter of a second
 * on a busy machine.
 *
 * @throws the signal's reason if it aborts; Error if the thread ends without an answer.
 */
export const inReplayThread = createTaskQueue<ReplayTask, ReplayReply>({
  file: "replayWorker",
  heapMb: 512,
  mostLive: 20,
  makes: "replays",
});
