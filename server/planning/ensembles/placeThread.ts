import type { Outcome } from "@/server/contracts/studio";
import type { EnsemblePlacement } from "@/server/contracts/studio/ensembles";
import { createTaskQueue } from "@/server/threads/taskQueue";
import type { PlaceTask } from "./placeEnsemble";

/** From the thread: the placement, or why there is none, in a sentence. */
export type PlaceReply = Outcome<{ readonly placement: EnsemblePlacement }>;

/**
 * Places an ensemble's experts in its own thread, after earlier requests; refused if too many are waiting.
 *
 * @throws the signal's reason if it aborts, which ends the thread at once; Error if the thread ends without an answer.
 */
export const inPlaceThread = createTaskQueue<PlaceTask, PlaceReply>({
  file: "placeWorker",
  heapMb: 512,
  mostLive: 10,
  makes: "placements",
});
