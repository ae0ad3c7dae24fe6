import type { Prompt, SamplePrompts } from "@/server/contracts/studio";
import { TaskThreads } from "@/server/threads/taskThreads";
import type { SampleAnswer, SampleTask, SurveyAnswer, SurveyTask } from "./promptsTask";
import type { PromptFile } from "./readPrompts";

/**
 * Most files read at once; further ones wait: planning and serving continue meanwhile. The heap is twice what the worst line of 8 MB takes,
 * and bounds what accumulates over a million lines.
 */
const threads = new TaskThreads<SurveyTask | SampleTask, SurveyAnswer | SampleAnswer, readonly Prompt[]>({
  file: "promptsWorker",
  heapMb: 512,
  youngHeapMb: 16,
  atOnce: 2,
});

/**
 * `surveyPrompts` in its own thread.
 * @throws the signal's reason if it aborts, after which the thread has ended; the thread's exception.
 */
export async function surveyInThread(file: PromptFile, signal: AbortSignal): Promise<SurveyAnswer> {
  return (await threads.run({ kind: "survey", file }, { signal })) as SurveyAnswer;
}

/**
 * `samplePrompts` in its own thread, which continues to read when `take` has returned.
 * @throws as `surveyInThread`.
 */
export async function sampleInThread(
  file: PromptFile,
  { size, by, draw, ofTraffic }: Pick<SamplePrompts, "size" | "by" | "draw" | "ofTraffic">,
  take: (prompts: readonly Prompt[]) => void,
  signal: AbortSignal,
): Promise<SampleAnswer> {
  return (await threads.run({ kind: "sample", file, size, by, draw, ofTraffic }, { signal, onSaid: take })) as SampleAnswer;
}
