import { on } from "node:events";
import { Worker } from "node:worker_threads";
import type { Outcome, Prompt, PromptSurvey, SamplePrompts } from "@/server/contracts/studio";
import { createLane } from "@/server/planning/lane";
import { workerFile } from "@/server/planning/workerFile";
import type { PromptsReply, PromptsTask } from "./promptsTask";
import type { PromptFile } from "./readPrompts";
import type { SampledPrompts } from "./samplePrompts";

/** Files read at once, further ones wait: planning and serving go on beside them. */
const lane = createLane(2);

/** Twice what the worst line of 8 MB takes, and a bound for what collects as a million lines go by. */
const heapMb = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 16 };

/** `surveyPrompts` in a thread of its own. */
export async function surveyInThread(file: PromptFile, signal: AbortSignal): Promise<Outcome<{ readonly survey: PromptSurvey }>> {
  for await (const reply of replies({ kind: "survey", file }, signal)) if (reply.kind === "surveyed") return reply.outcome;
  throw new Error("The reader of prompts ended without an answer.");
}

/** `samplePrompts` in a thread of its own, which reads on when `take` has returned. */
export async function sampleInThread(
  file: PromptFile,
  { size, by, draw, ofTraffic }: Pick<SamplePrompts, "size" | "by" | "draw" | "ofTraffic">,
  take: (prompts: readonly Prompt[]) => void,
  signal: AbortSignal,
): Promise<Outcome<{ readonly sampled: SampledPrompts }>> {
  for await (const reply of replies({ kind: "sample", file, size, by, draw, ofTraffic }, signal)) {
    if (reply.kind === "prompts") take(reply.prompts);
    else if (reply.kind === "sampled") return reply.outcome;
  }
  throw new Error("The reader of prompts ended without an answer.");
}

/**
 * What a thread says on a task, each answered when the next is asked for.
 *
 * @throws the signal's reason when it aborts, after which the thread is gone; whatever the thread threw.
 */
async function* replies(task: PromptsTask, signal: AbortSignal): AsyncGenerator<PromptsReply> {
  await lane.enter(signal);
  try {
    const worker = new Worker(workerFile("promptsWorker"), { workerData: task, resourceLimits: heapMb });
    try {
      for await (const [reply] of on(worker, "message", { signal, close: ["exit"] })) {
        yield reply as PromptsReply;
        worker.postMessage("on");
      }
    } finally {
      await worker.terminate();
    }
  } finally {
    lane.leave();
  }
}
