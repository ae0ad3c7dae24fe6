import type { Outcome } from "@/server/contracts/studio";
import type { GateReport } from "@/server/contracts/studio/ensembles";
import { createTaskQueue } from "@/server/threads/taskQueue";
import type { ReplayRequest } from "@/solver/ensemble/replay/gateReplay";

export interface ReplayTask {
  /** A sample as the store keeps it. */
  readonly data: Uint8Array;
  readonly request: ReplayRequest;
}

/** From the thread: the report, or why there is none, in a sentence. */
export type ReplayReply = Outcome<{ readonly report: GateReport }>;

/**
 * Replays a gate on a sample in a thread of its own, after those that were asked for before: sixteen experts of a thousand questions take
 * a quarter of a second on a busy machine.
 *
 * @throws the signal's reason when it aborts; Error where the thread ends without an answer.
 */
export const inReplayThread = createTaskQueue<ReplayTask, ReplayReply>({
  file: "replayWorker",
  heapMb: 512,
  mostLive: 20,
  makes: "replays",
});
