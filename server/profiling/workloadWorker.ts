import { parentPort, workerData } from "node:worker_threads";
import { openToRead } from "@/server/store/openToRead";
import { makeWorkloads, type WorkloadTask } from "./workloadTask";

/** Entry of a thread that makes workloads of a profile: does the one task it is started with, and ends. */
const port = parentPort;
if (port === null) throw new Error("A maker of workloads runs as a worker thread only.");

const task = workerData as WorkloadTask;
const store = openToRead(task.file);
port.postMessage(makeWorkloads(store, task));
store.close();
