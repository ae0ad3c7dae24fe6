import { parentPort, workerData } from "node:worker_threads";
import { type CapacityTask, capacityCurve } from "./capacityCurve";

/** Entry of a thread that makes one capacity curve and ends. */
const port = parentPort;
if (port === null) throw new Error("Capacity curves are made in worker threads only.");
port.postMessage(capacityCurve(workerData as CapacityTask));
