import { directStartOf, gatesOf, judgesAny, modelsOf, type PolicyDocument, singlesPolicyOf, thresholdsOf } from "../plan/policySchema";
import { policyRefusal } from "../policies/policyRefusal";
import type { LabReplicas, LabSystem } from "./labSpec";
import { orderNames, routeNames } from "./partNames";

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * Why a system cannot be raced on these engines, in one sentence; null when it can. Combinations are refused in which a part would read an
 * input without a specified source, or in which something is predicted that no part reads: both would look like
 * a measured difference without being one.
 */
export function systemRefusal(system: LabSystem, replicas: readonly LabReplicas[]): string | null {
  const { policy, lengths, confidence, configurations = "none" } = system;
  const own = system.replicas ?? replicas;
  const lacking = modelsOf(policy).find((model) => own.every((each) => each.model !== model));
  if (lacking !== undefined) return `No engine of the race serves ${lacking}, which ${system.name} sends requests to.`;
  const gates = gatesOf(policy);
  if (judgesAny(thresholdsOf(policy)) && gates.some(({ kind }) => kind !== "judge")) {
    return "Of the gates of a cascade the lab has the scores of a judge alone: race it with the judge at every stage.";
  }
  const refused = policyRefusal(policy);
  if (refused !== null) return refused;
  const { kind: order } = policy.order;
  const weighsWorth = policy.kind === "just-in-time" && policy.selection.kind === "worth" && policy.singles !== undefined;
  const byLength = order === "sjf" || order === "stjf";
  if (lengths === "none" && byLength) {
    return `${sentence(orderNames[order])} depends on how much is yet to be written: say where lengths come from, or take them to be in the order of input length.`;
  }
  const route = singlesPolicyOf(policy)?.kind;
  if (lengths === "none" && route === "slack") {
    return "Slack dispatch weighs the tokens that each model has yet to write: say where lengths come from.";
  }
  if (lengths !== "none" && !byLength && route !== "slack" && !weighsWorth) {
    return `Nothing here reads lengths: a ${routeNames[policy.kind]}, ${orderNames[order]}, does the same without them.`;
  }
  const startsLater = directStartOf(policy) !== undefined;
  if (confidence === "none" && startsLater) return "A direct start reads a router's confidence: say where it comes from.";
  if (confidence !== "none" && route !== "slack" && !startsLater && !weighsWorth) {
    return `Nothing here reads confidence: a ${routeNames[policy.kind]} sends a prompt to the same model whatever a router says of it.`;
  }
  return configurationsRefusal(policy, configurations);
}

function configurationsRefusal(policy: PolicyDocument, source: NonNullable<LabSystem["configurations"]>): string | null {
  const chooses = policy.kind === "just-in-time" && policy.selection.kind !== "fixed";
  if (!chooses && source !== "none") {
    return "Nothing here reads accurate configurations: only a route at dispatch that chooses among them does.";
  }
  if (chooses && source === "none") {
    return "Just-in-time choice is among the configurations that are accurate for a request: say where they come from, or every request goes to the largest model.";
  }
  if (source === "oracle" && policy.kind === "just-in-time" && policy.callGates !== undefined) {
    return "An oracle knows which configurations are accurate, so that no score of an answer changes them: take learnt ones, or name no gates.";
  }
  if (source !== "named" || (policy.kind === "just-in-time" && policy.workflows.some(({ predictor }) => predictor !== undefined)))
    return null;
  return "The policy names no predictor of accurate configurations: name one of a workflow, or say where else they come from.";
}
