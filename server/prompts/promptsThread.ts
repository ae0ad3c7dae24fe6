import type { Prompt, SamplePrompts } from "@/server/contracts/studio";
import { TaskThreads } from "@/server/threads/taskThreads";
import type { SampleAnswer, SampleTask, SurveyAnswer, SurveyTask } from "./promptsTask";
import type { PromptFile } from "./readPrompts";

/** Files read at once, further ones wait: planning and serving go on beside them. The heap is twice what the worst line of 8 MB takes, and a bound for what collects as a million lines go by. */
const threads = new TaskThreads<SurveyTask | SampleTask, SurveyAnswer | SampleAnswer, readonly Prompt[]>({
  file: "promptsWorker",
  heapMb: 512,
  youngHeapMb: 16,
  atOnce: 2,
});

/** `surveyPrompts` in a thread of its own. @throws the signal's reason when it aborts, after which the thread is gone; whatever the thread threw. */
export async function surveyInThread(file: PromptFile, signal: AbortSignal): Promise<SurveyAnswer> {
  return (await threads.run({ kind: "survey", file }, { signal })) as SurveyAnswer;
}

/** `samplePrompts` in a thread of its own, which reads on when `take` has returned. @throws as `surveyInThread`. */
export async function sampleInThread(
  file: PromptFile,
  { size, by, draw, ofTraffic }: Pick<SamplePrompts, "size" | "by" | "draw" | "ofTraffic">,
  take: (prompts: readonly Prompt[]) => void,
  signal: AbortSignal,
): Promise<SampleAnswer> {
  return (await threads.run({ kind: "sample", file, size, by, draw, ofTraffic }, { signal, onSaid: take })) as SampleAnswer;
}
