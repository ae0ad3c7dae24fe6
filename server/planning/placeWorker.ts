import { parentPort, workerData } from "node:worker_threads";
import { type PlaceTask, placeEnsemble } from "./placeEnsemble";

/** Entry of a thread that makes one placement and ends. */
const port = parentPort;
if (port === null) throw new Error("Placements are made in worker threads only.");
port.postMessage(await placeEnsemble(workerData as PlaceTask));
