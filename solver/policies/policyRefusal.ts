import { cascadeRoutingFault } from "../nextModel/cascadeRoutingDocument";
import { startScores } from "../plan/directStart";
import { gatesFault } from "../plan/gatesFault";
import { graceFault } from "../plan/grace";
import type { CascadePolicy } from "../plan/plan";
import {
  type BalancedPolicy,
  type JustInTimePolicy,
  modelsOf,
  type PolicyDocument,
  type SlackPolicy,
  singlesPolicyOf,
} from "../plan/policySchema";
import { justInTimeRefusal } from "./justInTime/justInTimeRefusal";

/** Why no policy can be built from the document, in one sentence with the offending value; null when one can. */
export function policyRefusal(document: PolicyDocument): string | null {
  const names = modelsOf(document);
  const repeated = names.find((model, index) => names.indexOf(model) !== index);
  if (repeated !== undefined) return `${repeated} is listed twice in the ${document.kind}; each model may serve one stage.`;
  return routeRefusal(document) ?? queueingRefusal(document);
}

function routeRefusal(document: PolicyDocument): string | null {
  switch (document.kind) {
    case "cascade":
      return cascadeRefusal(document);
    case "slack":
      return slackRefusal(document);
    case "balanced":
      return balancedRefusal(document);
    case "just-in-time":
      return justInTimeRefusal(document) ?? singlesRefusal(document);
    case "fixed":
      return null;
  }
}

function singlesRefusal(document: JustInTimePolicy): string | null {
  const singles = singlesPolicyOf(document);
  if (singles === null) return null;
  const names = modelsOf(document);
  const missing = modelsOf(singles).find((model) => !names.includes(model));
  if (missing !== undefined) return `Single requests are served by ${missing}, which is not among ${names.join(", ")}.`;
  if (singles.kind === "slack" && document.selection.kind === "worth")
    return "Slack dispatch and worth are two rules for the same choice: serve single requests by a cascade or one model, or choose by throughput.";
  if (singles.kind === "cascade" && singles.grace !== undefined)
    return "Where models are chosen just in time requests wait in one queue, which does not tell which stage is overloaded: leave grace out.";
  return policyRefusal(singles);
}

function cascadeRefusal(document: CascadePolicy): string | null {
  const { stages, thresholds, gates, approvedRanges, directStart, cascadeRouting, grace } = document;
  if (stages.length === 0) return "A cascade needs at least one stage.";
  if (thresholds.length !== stages.length - 1) {
    return `A cascade of ${stages.length} stages needs ${stages.length - 1} thresholds, one for each stage but the last; found ${thresholds.length}.`;
  }
  if (approvedRanges.thresholds.length !== thresholds.length) {
    return `Each of the ${thresholds.length} thresholds needs its approved range; found ${approvedRanges.thresholds.length}.`;
  }
  for (const [stage, threshold] of thresholds.entries()) {
    if (!Number.isInteger(threshold) || threshold < 0 || threshold > 100) {
      return `The threshold of stage ${stage + 1} is ${threshold}; it must be an integer from 0 to 100.`;
    }
    const range = approvedRanges.thresholds[stage];
    if (range && (threshold < range.min || threshold > range.max)) {
      return `The threshold of stage ${stage + 1} is ${threshold}, outside its approved range ${range.min} to ${range.max}.`;
    }
  }
  if (directStart !== undefined) {
    const refused = directStartRefusal(directStart, stages.length);
    if (refused !== null) return refused;
  }
  return (
    gatesFault({ stages, gates }) ??
    cascadeRoutingFault({ stages, thresholds, gates, directStart, cascadeRouting }) ??
    graceFault({ grace, stages, cascadeRouting })
  );
}

function directStartRefusal({ below }: NonNullable<CascadePolicy["directStart"]>, stages: number): string | null {
  const least = typeof below === "number" ? 1 : 0;
  const scores = startScores(below, stages);
  if (scores.length !== stages - 1)
    return `A direct start in ${stages} stages needs one router score, or ${stages - 1}, one for each stage but the last; found ${scores.length}.`;
  const wrong = [below].flat().find((score) => !(Number.isInteger(score) && score >= least && score <= 100));
  return wrong === undefined ? null : `The direct start is below ${wrong}; it must be an integer from ${least} to 100.`;
}

function slackRefusal({ models, tau, deltaScore, floorSeconds, price, approvedRanges }: SlackPolicy): string | null {
  if (models.length < 2) return "Slack dispatch chooses between models and needs at least two; for one model the policy is fixed.";
  if (!(tau >= 0)) return `The slack tau is ${tau}; it must be 0 or more.`;
  if (!(deltaScore >= 0 && deltaScore <= 1)) return `The margin deltaScore is ${deltaScore}; it must be from 0 to 1.`;
  if (!(floorSeconds >= 0)) return `The floor of loads is ${floorSeconds} s; it must be 0 or more.`;
  if (price !== undefined && floorSeconds === 0) return "A price needs `floorSeconds` above 0.";
  if (price !== undefined && !(price.weight > 0)) return `The weight of the price is ${price.weight}; it must be more than 0.`;
  if (price !== undefined && !(price.dampingSeconds > 0))
    return `The price is smoothed over ${price.dampingSeconds} s; it must be more than 0.`;
  for (const { model, decodeSecondsPerToken, maxBatchSize, confidence } of models) {
    if (!(decodeSecondsPerToken > 0)) return `The decode time of ${model} is ${decodeSecondsPerToken} s a token; it must be more than 0.`;
    if (!(maxBatchSize >= 1)) return `The batch of ${model} holds ${maxBatchSize}; it must hold at least 1.`;
    if (!(confidence >= 0 && confidence <= 1)) return `The confidence in ${model} is ${confidence}; it must be from 0 to 1.`;
  }
  for (const [knob, value] of Object.entries({ tau, deltaScore })) {
    const { min, max } = approvedRanges[knob as keyof typeof approvedRanges];
    if (value < min || value > max) return `${knob} is ${value}, outside its approved range ${min} to ${max}.`;
  }
  return null;
}

function balancedRefusal({ models }: BalancedPolicy): string | null {
  if (models.length === 0) return "Balancing needs at least one model.";
  const unfit = models.find(({ maxBatchSize }) => !(maxBatchSize >= 1));
  return unfit === undefined ? null : `The batch of ${unfit.model} holds ${unfit.maxBatchSize}; it must hold at least 1.`;
}

function queueingRefusal({ order, place }: Pick<PolicyDocument, "order" | "place">): string | null {
  if (place.affinity !== undefined && place.kind === "round-robin") {
    return "Round-robin takes the replicas in turn, affinity sends a program back to its last one: place on the least loaded replica or that with the emptiest KV cache, or leave affinity out.";
  }
  if (place.affinity !== undefined && place.kind === "time-slots") {
    return "Time slots hold memory for a request at the replica that they choose, affinity sends it to its program's last one: place on the least loaded replica or that with the emptiest KV cache, or leave affinity out.";
  }
  if (place.affinity !== undefined && place.kind === "prefix") {
    return "Placing by prefix keeps a program at the replica that holds its prompts, so affinity has nothing to add: leave affinity out, or place on the least loaded replica.";
  }
  if (place.affinity !== undefined && !(place.affinity.ratio >= 0)) {
    return `The ratio of affinity is ${place.affinity.ratio}; it must be 0 or more.`;
  }
  if (order.kind === "fcfs") return null;
  if (!Number.isInteger(order.agingThreshold) || order.agingThreshold < 1) {
    return `Work ages after ${order.agingThreshold} releases; it must be an integer of at least 1.`;
  }
  if (order.kind === "deadline" && !(order.impliedSeconds > 0))
    return `An implied deadline is ${order.impliedSeconds} s after the program began; it must be more than 0.`;
  if (order.kind !== "mlfq") return null;
  if (order.quantaSeconds.length === 0) return "Feedback over levels needs at least one quantum; with one level alone the order is fcfs.";
  const quantum = order.quantaSeconds.find((seconds) => !(seconds > 0));
  return quantum === undefined ? null : `A quantum is ${quantum} s; each must be more than 0.`;
}
