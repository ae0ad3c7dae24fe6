import type { Outcome } from "@/server/contracts/studio";
import type { EnsemblePlacement } from "@/server/contracts/studio/ensembles";
import { createTaskQueue } from "@/server/threads/taskQueue";
import type { PlaceTask } from "./placeEnsemble";

/** From the thread: the placement, or why there is none, in a sentence. */
export type PlaceReply = Outcome<{ readonly placement: EnsemblePlacement }>;

/**
 * Places an ensemble's experts in a thread of its own, after those that were asked for before; refused where too many are.
 *
 * @throws the signal's reason when it aborts, the thread ending at once; Error where the thread ends without an answer.
 */
export const inPlaceThread = createTaskQueue<PlaceTask, PlaceReply>({
  file: "placeWorker",
  heapMb: 512,
  mostLive: 10,
  makes: "placements",
});
