import { openToRead } from "@/server/store/openToRead";
import { serveTasks } from "@/server/threads/serveTasks";
import { type MadeWorkloads, makeWorkloads, type ScorerProgress, type WorkloadTask } from "./workloadTask";

/** Entry of a thread that makes workloads of a profile. */
serveTasks<WorkloadTask, MadeWorkloads, ScorerProgress>((task, { say }) => {
  const store = openToRead(task.file);
  try {
    return makeWorkloads(store, task, (progress) => void say(progress));
  } finally {
    store.close();
  }
});
