import type { Prompt } from "@/server/contracts/studio";
import { serveTasks, type TaskRun } from "@/server/threads/serveTasks";
import type { SampleAnswer, SampleTask, SurveyAnswer, SurveyTask } from "./promptsTask";
import { samplePrompts } from "./samplePrompts";
import { surveyPrompts } from "./surveyPrompts";

/** Entry of a thread that reads a file of prompts. */
serveTasks(async (task: SurveyTask | SampleTask, { say }: TaskRun<readonly Prompt[]>): Promise<SurveyAnswer | SampleAnswer> => {
  if (task.kind === "sample") return samplePrompts(task.file, task, say);
  const outcome = await surveyPrompts(task.file);
  return outcome.ok ? { ok: true, survey: outcome.survey } : outcome;
});
