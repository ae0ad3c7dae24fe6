import { once } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import type { PromptsReply, PromptsTask } from "./promptsTask";
import { samplePrompts } from "./samplePrompts";
import { surveyPrompts } from "./surveyPrompts";

/** Entry of a thread that reads a file of prompts: does the one task it is started with, and ends. */
const port = parentPort;
if (port === null) throw new Error("A reader of prompts runs as a worker thread only.");

const task = workerData as PromptsTask;
const reply = (message: PromptsReply): void => port.postMessage(message);

if (task.kind === "survey") {
  const outcome = await surveyPrompts(task.file);
  reply({ kind: "surveyed", outcome: outcome.ok ? { ok: true, survey: outcome.survey } : outcome });
} else {
  const outcome = await samplePrompts(task.file, task, async (prompts) => {
    reply({ kind: "prompts", prompts });
    await once(port, "message");
  });
  reply({ kind: "sampled", outcome });
}
