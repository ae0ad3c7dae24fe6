import type { CascadePolicy, Objective } from "../plan/plan";
import type { Workload } from "../workload/workload";
import type { Explorer } from "./explore";
import type { Finalist } from "./finalist";

/** Share of its saturation rate from which on a stage's latency rises steeply with a little more traffic. */
const NEAR_SATURATION = 0.8;

/** Difference between tables and whole simulation worth a sentence. */
const TABLE_ERROR = 0.15;

interface Noted {
  readonly explorer: Explorer;
  readonly workload: Workload;
  readonly objective: Objective;
  readonly judge: CascadePolicy["judge"];
}

/** What an operator should read before trusting a plan's figures, a sentence each. */
export function planNotes({ explorer, workload, objective, judge }: Noted, finalist: Finalist): string[] {
  const { routed, qualityLow, stages } = explorer.routing(finalist.routing);
  const notes = ["Percentiles are simulated: no public measurement of real engines validates a predicted p95."];
  if (stages.length > 1 && workload.judge.kind === "modelled")
    notes.push(
      `Judged scores are modelled with an AUC of ${workload.judge.auc.toFixed(2)}, not measured; thresholds, shares and quality rest on that.`,
    );
  if (stages.length > 1 && judge.usdPerCall === 0)
    notes.push("Judge calls are priced at 0 USD: their cost is not in the cost per request.");
  if (workload.origin.generated) notes.push("The workload is generated from published figures, not recorded.");
  for (const [stage, { model, saturationRequestsPerSecond }] of finalist.deployment.entries()) {
    const load = (explorer.input.requestsPerSecond * (routed.share[stage] ?? 0)) / saturationRequestsPerSecond;
    if (load > NEAR_SATURATION)
      notes.push(`${model} stands at ${Math.round(100 * load)} % of its saturation rate: a little more traffic costs much latency.`);
  }
  for (const model of finalist.deployment.map((stage) => stage.model)) {
    const [first] = explorer.input.shapes[explorer.input.sample.models.indexOf(model)] ?? [];
    if (first?.replica.stepTime.provenance.some(({ kind }) => kind === "extrapolated"))
      notes.push(`Step times of ${model} are extrapolated from another GPU's measurements.`);
  }
  const error = finalist.tableSeconds / finalist.verifiedSeconds - 1;
  if (Math.abs(error) > TABLE_ERROR)
    notes.push(`Tables and whole simulation differ by ${Math.round(100 * error)} %; the prediction is the simulation's.`);
  const floor = objective.qualityFloor;
  const promised = objective.qualityConfidence === null ? routed.quality : qualityLow;
  if (floor !== null && promised < floor)
    notes.push(`The thresholds set by hand miss the quality floor of ${floor}: ${promised.toFixed(1)} is promised.`);
  const budget = objective.latencyBudgetSeconds;
  if (budget !== null && finalist.verifiedSeconds > budget)
    notes.push(
      `The thresholds set by hand miss the latency budget of ${budget} s: ${finalist.verifiedSeconds.toFixed(2)} s are predicted.`,
    );
  return notes;
}
