import { openToRead } from "@/server/store/openToRead";
import { serveTasks, type TaskRun } from "@/server/threads/serveTasks";
import { trainOnRuns } from "./executedTraining";
import type { Trained } from "./trainingContext";
import { type TrainingTask, train, trainOnTraffic } from "./trainingTask";

/** Entry of a thread that trains a predictor; it reports its progress. */
serveTasks(async (task: TrainingTask, { say }: TaskRun<string>): Promise<Trained> => {
  const doing = (words: string): void => void say(words);
  if ("lines" in task) return trainOnTraffic(task, doing);
  if ("runs" in task) return trainOnRuns(task, doing);
  const store = openToRead(task.file);
  try {
    return await train(task, store, doing);
  } finally {
    store.close();
  }
});
