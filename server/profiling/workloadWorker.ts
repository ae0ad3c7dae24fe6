import { openToRead } from "@/server/store/openToRead";
import { serveTasks } from "@/server/threads/serveTasks";
import { makeWorkloads, type WorkloadTask } from "./workloadTask";

/** Entry of a thread that makes workloads of a profile. */
serveTasks((task: WorkloadTask) => {
  const store = openToRead(task.file);
  try {
    return makeWorkloads(store, task);
  } finally {
    store.close();
  }
});
