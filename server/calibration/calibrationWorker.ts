import { serveTasks, type TaskRun } from "@/server/threads/serveTasks";
import { chooseFit } from "@/solver/calibration/chooseFit";
import { fitMeasured } from "@/solver/calibration/fitMeasured";
import { predictServing, type ServingPrediction } from "@/solver/calibration/predictServing";
import { errorsByGroup } from "@/solver/calibration/servingErrors";
import type { UnsupportedRow } from "@/solver/calibration/servingRow";
import { catalogueOf } from "@/solver/hardware/catalogue";
import type { CalibrationAnswer, CalibrationTask, Predicted } from "./calibrationRequest";

/** Interval of batches of predictions, so that a screen is updated continuously. */
const BATCH_MS = 250;

/** Entry of a calibration worker thread. */
serveTasks((task: CalibrationTask, { say }: TaskRun<Predicted>): CalibrationAnswer => {
  if (task.kind === "measured") return { kind: "measured", answer: fitMeasured(task.runs, task.options) };
  const cards = catalogueOf(task.userCards);
  if (task.kind === "fit") {
    const { rows, base, efficiencies, tpotOnly, id, name, asOf } = task;
    return { kind: "fit", answer: chooseFit(rows, base, { efficiencies, tpotOnly, id, name, asOf, cards }) };
  }
  const all: ServingPrediction[] = [];
  let batch: ServingPrediction[] = [];
  let unsupported: UnsupportedRow[] = [];
  let handedOverMs = performance.now();
  const handOver = (): void => {
    void say({ kind: "predicted", predictions: batch, unsupported });
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
  return { kind: "checked", errors: errorsByGroup(all) };
});
