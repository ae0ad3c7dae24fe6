import { gateText } from "@/solver/gates/gates";
import { judgeSourceText } from "@/solver/judging/judgeTime";
import { orderNames, placeNames } from "@/solver/lab/partNames";
import { cascadeRoutingSays, cascadeRoutingText } from "@/solver/nextModel/cascadeRoutingDocument";
import { gpuTypes } from "@/solver/plan/clusterGpus";
import { constraintsOf } from "@/solver/plan/constraints";
import { routerText, startText } from "@/solver/plan/directStart";
import type { Band, CascadePolicy, ModelDeployment, Plan } from "@/solver/plan/plan";
import { noGatePlanText, plannedGateName } from "@/solver/plan/planGates";
import {
  asksJudge,
  cascadeOf,
  directStartOf,
  type JustInTimePolicy,
  judgeEngineOf,
  modelsOf,
  type PolicyDocument,
  readyJudgeOf,
  singlesPolicyOf,
} from "@/solver/plan/policySchema";
import { replicaChange, runningReplicas } from "@/solver/plan/runningReplicas";
import { boundText, counted, loadSays, tokenPriceText, wholePercent } from "@/solver/wording/wording";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { textTable } from "./textTable";

/** A plan as terminal text for an operator. */
export function describePlan(plan: Plan): string {
  const { predictions, solver, policy, deployment } = plan;
  const judge = judgeEngineOf(policy);
  const rows = [
    ["model", "GPUs", "replicas", "share", "p95", "utilisation", ""],
    ...deployment.map((model) => {
      const stage = predictions.stages.find((own) => own.model === model.model);
      const judging = model.model === judge ? predictions.judge : undefined;
      const peer = predictions.gatePeers?.find((own) => own.model === model.model);
      const load = stage ?? judging ?? peer;
      return [
        model.model,
        String(model.gpus),
        replicas(model, gpuTypes(plan.inputs.cluster).length > 1),
        stage === undefined
          ? "-"
          : `${wholePercent(stage.share)}${stage.shareBand === undefined || stage.share === 1 ? "" : ` (${shares(stage.shareBand)})`}`,
        load === undefined ? "-" : `${seconds(load.p95Seconds)}${stage?.bands === undefined ? "" : ` (${span(stage.bands.p95Seconds)})`}`,
        load === undefined ? "-" : wholePercent(load.utilisation),
        [
          ...(model.model === judge ? ["judge"] : []),
          ...(peer === undefined ? [] : ["answers for a gate"]),
          ...(load?.stability === "near-saturation" ? ["near saturation"] : []),
          ...((stage?.extrapolated ?? []).length > 0 ? ["extrapolated"] : []),
        ].join(", "),
      ];
    }),
  ];
  return [
    `Plan ${plan.id.slice(0, 12)}  ${plan.inputs.workload.name} at ${plan.inputs.workload.requestsPerSecond} requests/s on ${plan.inputs.cluster.name}\n\n`,
    `  ${routingText(policy)}\n`,
    ...routingLines(plan).map((line) => `  ${line}\n`),
    `  ${orderNames[policy.order.kind]}, to the ${placeNames[policy.place.kind]}\n`,
    "\n",
    textTable(rows),
    `\n  quality ${predictions.quality.toFixed(1)} (${predictions.qualityBand.low.toFixed(1)} at ${wholePercent(predictions.qualityBand.confidence)})`,
    `, p95 ${seconds(predictions.p95Seconds)} (${span(predictions.p95Band)} at ${wholePercent(predictions.p95Band.confidence)})`,
    `, $${predictions.costUsdPerRequest.toPrecision(3)} a request\n`,
    `  p95 band: ${predictions.p95Band.basis}\n`,
    `  allocation ${solver.status} for these thresholds (gap ${solver.gap === null ? "unknown" : wholePercent(solver.gap)}; ${solver.engine}); `,
    `${solver.evaluatedThresholds} settings searched in ${solver.seconds.toFixed(2)} s\n`,
    ...[...hostedLines(plan), ...highestRateLines(plan), ...askedLines(plan), ...gateLines(plan), ...slackLines(plan)].map(
      (line) => `  ${line}\n`,
    ),
    ...predictions.judgeOutlooks.map(
      ({ auc, quality, share, busiestLoad }) =>
        `  were the judge's AUC ${auc.toFixed(2)}: quality ${quality.toFixed(1)}, ${directStartOf(policy) === undefined ? "sent on" : "reach later stages"} ${share.slice(1).map(wholePercent).join(", ")}, busiest stage ${loadSays(busiestLoad)}\n`,
    ),
    ...[...solver.why, ...(solver.shapes ?? []).map(({ says }) => says), ...alternationLines(plan), ...predictions.notes].map(
      (line) => `  - ${line}\n`,
    ),
  ].join("");
}

/** How requests are routed between models. */
function routingText(policy: PolicyDocument): string {
  switch (policy.kind) {
    case "cascade":
      if (policy.cascadeRouting !== undefined) return cascadeRoutingText(policy);
      return policy.stages
        .map(({ model }, stage) => (stage < policy.thresholds.length ? `${model} --below ${policy.thresholds[stage]}--> ` : model))
        .join("");
    case "fixed":
      return policy.model;
    case "balanced":
      return `${modelsOf(policy).join(" or ")}: the one with the least waiting and running for each replica`;
    case "just-in-time":
      return `${modelsOf(policy).join(" or ")}: at each stage of ${policy.workflows.map(({ workflow }) => workflow.name).join(", ") || "no workflow"}, when an engine has room; ${singlesText(policy)} for all else`;
    case "slack":
      return `${modelsOf(policy).join(" or ")}: the surest whose load is within ${wholePercent(policy.tau)} of the least`;
  }
}

/** How requests of no declared workflow are routed. */
function singlesText(policy: JustInTimePolicy): string {
  const singles = singlesPolicyOf(policy);
  return singles === null ? "the largest" : routingText(singles);
}

/**
 * The judge and its time, and where requests may start if that is not only the first stage; for models chosen just in time, their
 * candidates, and that the figures below do not cover this.
 */
function routingLines({ policy, inputs }: Plan): string[] {
  const cascade = cascadeOf(policy);
  return [
    ...(cascade === null ? [] : cascadeLines(cascade, inputs)),
    ...(policy.kind === "just-in-time" ? justInTimeLines(policy, inputs.mix !== undefined) : []),
  ];
}

/** The gates of a cascade, its judge, and where requests start. */
function cascadeLines(policy: CascadePolicy, inputs: Plan["inputs"]): string[] {
  const { judge, directStart } = policy;
  const { engine } = judge;
  const source = inputs.judgeTime === undefined ? "" : `, ${judgeSourceText(inputs.judgeTime)}`;
  return [
    ...(policy.gates ?? []).map((gate, stage) => `gate of ${policy.stages[stage]?.model}: ${gateText(gate)}`),
    ...(!asksJudge(policy)
      ? readyJudgeOf(policy) === null
        ? []
        : [`${judge.model} judges nothing while the thresholds are 0, and keeps its engines for higher ones`]
      : engine === undefined
        ? [`judged by ${judge.model}, outside of the plan: ${seconds(judge.secondsPerCall)} a call${source}`]
        : [
            `judged by ${judge.model}, an engine of the plan: ${engine.outputTokens} tokens a call, ${seconds(judge.secondsPerCall)} in the mean`,
          ]),
    ...[cascadeRoutingSays(policy)].flatMap((says) => says ?? []),
    ...(directStart === undefined || policy.cascadeRouting !== undefined
      ? []
      : [
          `starts at the first stage that ${routerText(directStart.router)}, scores ${startText(directStart.below)} or more, else at the last`,
        ]),
  ];
}

/** @param predicted whether the plan was made for a mix, whose figures are of this policy. */
function justInTimeLines({ models, workflows, selection, callGates = [] }: JustInTimePolicy, predicted: boolean): string[] {
  const names = models.map(({ model }) => model);
  return [
    ...workflows.map(({ workflow, predictor }) => {
      const { agents, name } = workflow;
      const unpredicted = predicted ? "the planned one for all programs" : "only the largest models count as accurate";
      const accurate = predictor === undefined ? unpredicted : `predictor ${predictor.slice(0, 12)}`;
      return `${name}: ${agents.length} agents, ${counted(configurationSpace(workflow, names).size, "configuration")}, ${accurate}`;
    }),
    ...callGates.map(({ model, gate }) => `agents' answers by ${model} scored, for the models of later agents: ${gateText(gate)}`),
    ...(selection.kind === "beam" ? [`rounds by a beam of width ${selection.width}`] : []),
    ...(selection.kind === "worth"
      ? [
          `each request to its model of highest worth: a right answer ${selection.rightSeconds} s, delays of others ${selection.delayWeight} times`,
          ...(selection.price === undefined ? [] : [`price of a token: ${tokenPriceText(selection.price.models)}`]),
        ]
      : []),
    `saturated by ${models.map(({ model, saturationBatch }) => `${saturationBatch} requests at once on ${model}`).join(", ")}`,
    ...(predicted ? [] : ["nothing predicts this routing: all figures below are of the plan whose engines it has"]),
  ];
}

/** What the plan keeps in the house and what it sends out. */
function hostedLines({ predictions: { hosted = [], costUsdPerHour }, deployment }: Plan): string[] {
  const gpus = deployment.reduce((sum, one) => sum + one.gpus, 0);
  return hosted.map(
    ({ model, share, usdPerHour }) =>
      `keep ${counted(gpus, "GPU")} and send ${wholePercent(share)} of the requests out to ${model}: ${usdPerHour.toFixed(2)} of ${costUsdPerHour.toFixed(2)} USD/hour`,
  );
}

/** The request apart from the objective, and how much of the running deployment changes. */
function askedLines({ inputs: { constraints, running }, deployment }: Plan): string[] {
  const asked = constraints === undefined ? [] : constraintsOf(constraints).map(({ says }) => says);
  if (running === undefined) return asked.length === 0 ? [] : [`asked: ${asked.join("; ")}`];
  const { stays, stopped, started } = replicaChange(running, runningReplicas({ deployment }));
  const change = `of ${running.length} replicas that ran ${stays} stay, ${stopped.length} stop; ${started.length} start`;
  return [...(asked.length === 0 ? [] : [`asked: ${asked.join("; ")}`]), change];
}

/** That the rate was searched for, and what refuses the next one. */
function highestRateLines({ inputs, solver: { highestRate } }: Plan): string[] {
  if (highestRate === undefined) return [];
  const { refused, firstRequestsPerSecond } = highestRate;
  const above = refused === null ? "no higher rate was tried" : `at ${refused.requestsPerSecond} requests/s: ${refused.reason}`;
  const searched = `highest rate ${inputs.workload.requestsPerSecond} requests/s, searched from ${firstRequestsPerSecond}`;
  return [`${searched}; ${above}`];
}

/** What each kind of gate gives on the same objective and GPUs. */
function gateLines({ solver: { comparedGates = [] } }: Plan): string[] {
  return comparedGates.map((gate) => {
    const name = `gate ${plannedGateName(gate)}:`;
    const { p95Seconds, quality, qualityLow, gpus, chosen } = gate;
    if (gate.noPlan !== undefined || p95Seconds === null || quality === null || qualityLow === null)
      return `${name} ${gate.noPlan === undefined ? "no plan" : noGatePlanText(gate.noPlan)}`;
    return `${name} p95 ${seconds(p95Seconds)}, quality ${quality.toFixed(1)} (${qualityLow.toFixed(1)}), ${counted(gpus ?? 0, "GPU")}${chosen ? ", this plan" : ""}`;
  });
}

/** What other slacks give on the plan's replicas; those outside the approved ranges need a new plan. */
function slackLines({ predictions: { slack }, policy }: Plan): string[] {
  if (slack?.kind !== "p95" || policy.kind !== "cascade" || slack.steps.length < 2) return [];
  const shown = (approved: boolean): string =>
    slack.steps
      .filter((step) => step.approved === approved)
      .map(({ value, qualityLow, p95Seconds }) => `${wholePercent(value)} ${boundText(qualityLow)} in ${seconds(p95Seconds)}`)
      .join(", ");
  const beyond = shown(false);
  return [
    `slack on these replicas, by thresholds alone (lower bound in p95): ${shown(true)}${beyond === "" ? "" : `; beyond the approved ranges ${beyond}`}`,
  ];
}

function alternationLines({ solver: { alternation } }: Plan): string[] {
  if (alternation === undefined) return [];
  const { iterations, found, kept, difference } = alternation;
  const rounds = `The source's alternation between deployment and routing, ${iterations} iterations,`;
  if (found === null) return [`${rounds} found nothing that keeps what was asked.`];
  if (kept === "same") return [`${rounds} found the same plan.`];
  const off =
    difference === null
      ? ""
      : `, ${difference.latencySeconds < 0 ? "-" : "+"}${seconds(Math.abs(difference.latencySeconds))} and ${difference.quality.toFixed(1)} points against the direct search, by the tables`;
  return [
    `${rounds} found ${found.stages.join(" -> ")}${off}; ${kept === "alternation" ? "it was kept" : "the direct search's plan was kept"}.`,
  ];
}

/** @param mixed whether there are several GPU types, which then are named. */
const replicas = ({ gpu: own, replicas: groups }: ModelDeployment, mixed: boolean): string =>
  groups.map(({ gpu = own, tp, pp, count }) => `${count} x tp${tp}${pp > 1 ? ` pp${pp}` : ""}${mixed ? ` on ${gpu}` : ""}`).join(" + ");

const seconds = (value: number): string => `${value.toPrecision(3)} s`;
const shares = ({ low, high }: Pick<Band, "low" | "high">): string => `${Math.round(100 * low)} to ${wholePercent(high)}`;
const span = ({ low, high }: Pick<Band, "low" | "high">): string => `${seconds(low)} to ${seconds(high)}`;
