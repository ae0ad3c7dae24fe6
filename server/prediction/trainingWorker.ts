import { parentPort, workerData } from "node:worker_threads";
import { openToRead } from "@/server/store/openToRead";
import { trainOnRuns } from "./executedTraining";
import { type Trained, type TrainingReply, type TrainingTask, train, trainOnTraffic } from "./trainingTask";

/** Entry of a thread that trains a predictor: does the one task it is started with, and ends. */
const port = parentPort;
if (port === null) throw new Error("A trainer runs as a worker thread only.");

const tell = (reply: TrainingReply): void => port.postMessage(reply);
const doing = (words: string): void => tell({ kind: "doing", doing: words });

async function trained(task: TrainingTask): Promise<Trained> {
  if ("lines" in task) return trainOnTraffic(task, doing);
  if ("runs" in task) return trainOnRuns(task, doing);
  const store = openToRead(task.file);
  try {
    return await train(task, store, doing);
  } finally {
    store.close();
  }
}

try {
  tell({ kind: "trained", trained: await trained(workerData as TrainingTask) });
} catch (problem) {
  tell({ kind: "refused", message: problem instanceof Error ? problem.message : String(problem) });
}
