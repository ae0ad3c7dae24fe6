import { parentPort, workerData } from "node:worker_threads";
import { chooseFit } from "@/solver/calibration/chooseFit";
import { predictServing, type ServingPrediction } from "@/solver/calibration/predictServing";
import { errorsByGroup } from "@/solver/calibration/servingErrors";
import type { UnsupportedRow } from "@/solver/calibration/servingRow";
import { catalogueOf } from "@/solver/hardware/catalogue";
import type { CalibrationReply, CalibrationTask } from "./calibrationRequest";

/** Entry of a calibration worker thread: does the one task it is started with, tells of it on the way, and ends. */
const port = parentPort;
if (port === null) throw new Error("A calibration worker runs as a worker thread only.");

/** How often predictions are handed over, so that a screen moves. */
const BATCH_MS = 250;

const task = workerData as CalibrationTask;
const cards = catalogueOf(task.userCards);
const reply = (message: CalibrationReply): void => port.postMessage(message);

if (task.kind === "fit") {
  const { rows, base, efficiencies, tpotOnly, id, name, asOf } = task;
  reply({ kind: "fit", answer: chooseFit(rows, base, { efficiencies, tpotOnly, id, name, asOf, cards }) });
} else {
  const all: ServingPrediction[] = [];
  let batch: ServingPrediction[] = [];
  let unsupported: UnsupportedRow[] = [];
  let handedOverMs = performance.now();
  const handOver = (): void => {
    reply({ kind: "predicted", predictions: batch, unsupported });
    all.push(...batch);
    [batch, unsupported] = [[], []];
    handedOverMs = performance.now();
  };
  for (const row of task.rows) {
    const answer = predictServing(row, task.profiles[row.engine], cards);
    if (answer.outcome === "predicted") batch.push(answer);
    else unsupported.push(answer.unsupported);
    if (performance.now() - handedOverMs > BATCH_MS) handOver();
  }
  handOver();
  reply({ kind: "checked", errors: errorsByGroup(all) });
}
