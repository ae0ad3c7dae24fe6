import type { Plan } from "./plan";
import { asksJudge, deployedModelsOf, type PolicyDocument } from "./policySchema";

/**
 * The model of the judge's engines that a policy keeps ready: of those that judge, or, where a threshold of 0 leaves nothing to judge, of
 * those that judge as soon as it is raised within its approved range. Plans from before a threshold of 0 meant that nothing is judged deploy
 * such engines.
 *
 * @returns null where no threshold can ask a judge, or a judge outside of the deployment is used.
 */
export function readyJudgeOf(policy: PolicyDocument): string | null {
  if (policy.kind !== "cascade" || policy.judge.engine === undefined) return null;
  const raised = { ...policy, thresholds: policy.thresholds.map((own, stage) => policy.approvedRanges.thresholds[stage]?.max ?? own) };
  return asksJudge(policy) || asksJudge(raised) ? policy.judge.model : null;
}

/** The models of a plan whose engines the gateway lists: those that its policy needs, and the judge that it keeps ready. */
export function listedModelsOf({ policy, deployment }: Pick<Plan, "policy" | "deployment">): string[] {
  const judge = readyJudgeOf(policy);
  const isDeployed = deployment.some(({ model }) => model === judge);
  return [...new Set([...deployedModelsOf(policy), ...(judge !== null && isDeployed ? [judge] : [])])];
}
