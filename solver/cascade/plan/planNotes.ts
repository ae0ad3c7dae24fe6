import { createGate } from "@/solver/gates/gates";
import { limitsOfModel } from "@/solver/hardware/engineLimits";
import { type EngineProfile, engineTitle, isMeasured } from "@/solver/hardware/engineProfile";
import { measuredSoftware, percentileErrors } from "@/solver/hardware/measuredProfile";
import { MAX_BATCHED_TOKENS, MAX_SEQUENCES } from "@/solver/hardware/replicaShapes";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { routerOf, routerText, type StartRouter } from "@/solver/plan/directStart";
import type { CascadePolicy, Objective, StagePrediction } from "@/solver/plan/plan";
import { judgesAny } from "@/solver/plan/policySchema";
import { crowdedHosts, crowdedHostText } from "@/solver/plan/sharedCores";
import { exactSecondsText, secondsText, significantText, wholePercent } from "@/solver/wording/wording";
import type { Workload } from "@/solver/workload/workload";
import type { Finalist } from "../deploy/finalist";
import { loadText } from "../deploy/stageStability";
import type { EvaluatedRouting, Explorer } from "../explore/explorer";

/** Difference between tables and whole simulation from which on a sentence is added. */
const TABLE_ERROR = 0.15;

export interface Noted {
  readonly explorer: Explorer;
  readonly workload: Workload;
  readonly objective: Objective;
  readonly judge: CascadePolicy["judge"];
  readonly profile: EngineProfile;
  readonly cluster: Pick<ClusterSpec, "engineLimits" | "gpu" | "nodes">;
}

/** What an operator should read before trusting a plan's figures, a sentence each. */
export function planNotes(
  { explorer, workload, objective, judge, profile, cluster }: Noted,
  finalist: Finalist,
  predicted: readonly StagePrediction[],
): string[] {
  const { routed, qualityLow, stages, thresholds, startBelow, byGain } = explorer.routing(finalist.routing);
  const scores = judgesAny(thresholds);
  const judges = scores && routed.judgements !== 0;
  const validated = isMeasured(profile) && percentileErrors(profile) !== null;
  const notes = [
    ...(validated ? [] : ["Percentiles are simulated: no public measurement of real engines validates a predicted p95."]),
    profileNote(profile),
  ];
  notes.push(...limitNotes(finalist, cluster));
  const placed = [...finalist.deployment, ...finalist.kept].map(({ groups }) => ({ replicas: groups }));
  notes.push(...crowdedHosts(cluster, placed).map(crowdedHostText));
  if (judges && workload.judge.kind === "modelled")
    notes.push(
      `Judged scores are modelled with an AUC of ${workload.judge.auc.toFixed(2)}, not measured; thresholds, shares and quality rest on that.`,
    );
  for (const [stage, model] of stages.slice(0, -1).entries()) {
    const sentOn = (routed.share[stage + 1] ?? 0) - (routed.startShare?.[stage + 1] ?? 0);
    if (byGain === undefined && sentOn < 1e-9 && (thresholds[stage] ?? 0) > 0)
      notes.push(`No planning answer of ${explorer.input.sample.models[model]} falls below its threshold: each is judged all the same.`);
  }
  if (judges && judge.usdPerCall === 0 && judge.engine === undefined)
    notes.push("Judge calls are priced at 0 USD: their cost is not in the cost per request.");
  const { directStart } = explorer.input;
  if (startBelow !== 0 && directStart !== undefined) notes.push(routerNote(directStart));
  if (byGain !== undefined) notes.push(...gainNotes(byGain));
  const readers = stages.slice(0, -1).flatMap((at, stage) => {
    const model = explorer.input.sample.models[at] ?? "";
    const document = explorer.input.gates?.stages.get(model)?.document;
    const reads = document !== undefined && (thresholds[stage] ?? 0) > 0 && createGate(document).needs.includes("log-probabilities");
    return reads ? [model] : [];
  });
  if (readers.length > 0)
    notes.push(
      `Engines of ${readers.join(" and ")} must report log probabilities: an answer without them goes to the largest model, which these predictions do not include.`,
    );
  if (
    scores &&
    explorer.input.gates !== undefined &&
    [...explorer.input.gates.stages.values()].some(({ document }) => document.kind === "agreement")
  )
    notes.push(
      "Further answers use engines that are at most half full; an answer for which none is free goes to the largest model, and in these predictions too.",
    );
  if (stages.length > 1 && !scores)
    notes.push("No answer is judged: a router chooses the model from the prompt, and every answer is accepted.");
  if (workload.origin.generated) notes.push("The workload is generated from published figures, not recorded.");
  if (workload.origin.measured?.emulated)
    notes.push("Emulated engines gave the answers of the workload: its quality and lengths say nothing of real models.");
  for (const [index, { model, stability, extrapolated = [] }] of predicted.entries()) {
    const stage = finalist.deployment[index];
    if (stability === "near-saturation" && stage !== undefined)
      notes.push(`Near saturation: ${loadText(stage, profile)}. A little more traffic costs much latency.`);
    if (extrapolated.length > 0) notes.push(`${model}, extrapolated: ${extrapolated.join("; ")}.`);
  }
  const error = finalist.tableSeconds / finalist.verifiedSeconds - 1;
  if (Math.abs(error) > TABLE_ERROR)
    notes.push(`Tables and whole simulation differ by ${wholePercent(error)}; the prediction is the simulation's.`);
  const floor = objective.qualityFloor;
  const promised = objective.qualityConfidence === null ? routed.quality : qualityLow;
  if (floor !== null && promised < floor)
    notes.push(`The thresholds set by hand miss the quality floor of ${floor}: ${promised.toFixed(1)} is promised.`);
  const budget = objective.latencyBudgetSeconds;
  if (budget !== null && finalist.verifiedSeconds > budget)
    notes.push(
      `The thresholds set by hand miss the latency budget of ${exactSecondsText(budget)}: ${secondsText(finalist.verifiedSeconds)} are predicted.`,
    );
  return notes;
}

function routerNote(router: StartRouter): string {
  if ("predictor" in router)
    return `The start stage depends on ${routerText(routerOf(router))}; shares and quality rest on its out-of-fold scores.`;
  const { auc } = router;
  return `The start stage depends on a router that is modelled with an AUC of ${auc.toFixed(2)}${auc <= 0.5 ? ", no better than a coin" : ""}. It knows what no prompt reveals: the figures are an upper bound.`;
}

/** What decides in cascade routing, and what its figures rest on. */
function gainNotes({ document, router }: NonNullable<EvaluatedRouting["byGain"]>): string[] {
  const { pointsPerGpuSecond, gates } = document;
  const scored = gates.some((gate) => gate !== null) ? " After each scored answer it chooses again, or stops." : "";
  const rests =
    "predictor" in router
      ? `${routerText(routerOf(router))} gives the scores; shares and quality rest on its out-of-fold scores.`
      : `${routerText(routerOf(router))} gives the scores. It knows what no prompt reveals, so the figures are an upper bound.`;
  return [
    `Cascade routing: the model with the largest expected gain answers next, at ${significantText(pointsPerGpuSecond)} points of quality for a GPU-second; it may pass models over.${scored}`,
    `${rests.charAt(0).toUpperCase()}${rests.slice(1)}`,
  ];
}

/** Engine limits in a plan that are known, with their origin; all others are assumed. */
function limitNotes({ deployment }: Finalist, { engineLimits = [] }: Noted["cluster"]): string[] {
  if (engineLimits.length === 0) return [];
  return deployment.map(({ model }) => {
    const { maxSequences, maxBatchedTokens } = limitsOfModel(engineLimits, model);
    const known = engineLimits.find((one) => one.model === model) ?? engineLimits.find((one) => one.model === undefined);
    const told = known?.source === "engine" ? "as the engine says" : "as entered";
    const count = (value: number | undefined, assumed: number): string =>
      value === undefined ? `${assumed} (assumed)` : `${value} (${told})`;
    return `Engines of ${model} run ${count(maxSequences, MAX_SEQUENCES)} requests at once, with ${count(maxBatchedTokens, MAX_BATCHED_TOKENS)} tokens a step.`;
  });
}

function profileNote(profile: EngineProfile): string {
  const { name, fittedOn, errors } = profile;
  const engines = (isMeasured(profile) ? measuredSoftware(profile) : [profile.engine]).map(engineTitle).join(" and ");
  const fitted =
    fittedOn === null
      ? ", fitted to no runs"
      : `, fitted to ${fittedOn.rows} ${fittedOn.emulated ? "runs of emulated engines that stand in for" : "measured runs of"} ${engines}`;
  const off = errors === null ? "" : `; on runs the fit had not seen it was ${wholePercent(errors.endToEnd.meanAbsolute)} off end to end`;
  return `Engine times follow the profile "${name}"${fitted}${off}.`;
}
