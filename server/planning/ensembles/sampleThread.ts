import type { Outcome } from "@/server/contracts/studio";
import type { AnswerSampleSummary } from "@/server/contracts/studio/ensembles";
import { decodeSample } from "@/server/store/answerSampleCodec";
import { createTaskQueue } from "@/server/threads/taskQueue";
import type { AnswerSample } from "@/solver/ensemble/replay/answerSample";
import { MOST_ROWS } from "./spreadRows";

export interface SampleTask {
  /** A sample in the store's form. */
  readonly data: Uint8Array;
}

export type SampleReply = Outcome<{ readonly sample: AnswerSample }>;

const inSampleThread = createTaskQueue<SampleTask, SampleReply>({
  file: "sampleWorker",
  heapMb: 512,
  mostLive: 20,
  makes: "readings of large samples",
});

/**
 * Four thousand questions of a saved sample, spread over all of it, or all if it has no more: the basis of lengths and agreement. Larger
 * samples are decoded in a thread, one after another, since a hundred thousand questions of seventeen models take half a second; refused if
 * too many wait.
 *
 * @throws the signal's reason if it aborts; Error if the thread ends without an answer.
 */
export async function readSample(
  { summary, data }: { readonly summary: Pick<AnswerSampleSummary, "questions">; readonly data: Uint8Array },
  signal: AbortSignal,
): Promise<SampleReply> {
  return summary.questions > MOST_ROWS ? inSampleThread({ data }, signal) : { ok: true, sample: decodeSample(data) };
}
