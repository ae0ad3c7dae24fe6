import type { GatewayConfig } from "@/server/contracts/gatewayAdmin";
import { policyRefusal } from "@/solver/policies/policyRefusal";

/** Why a configuration of the right shape cannot be served, in one sentence with the offending value; null when it can. */
export function configRefusal({ policy, replicas, judge }: GatewayConfig): string | null {
  const refusal = policyRefusal(policy);
  if (refusal !== null) return refusal;
  const ids = replicas.map((replica) => replica.id);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) return `Two replicas are called ${repeated}; ids must differ.`;
  const noHttp = [...replicas.map((replica) => replica.url), ...(judge ? [judge.url] : [])].find((url) => !/^https?:\/\//.test(url));
  if (noHttp !== undefined) return `${noHttp} is no http or https address.`;
  const lonely = policy.stages.find((stage) => !replicas.some((replica) => replica.model === stage.model));
  if (lonely) return `The stage ${lonely.model} has no replica; list at least one, cordoned if it is not ready.`;
  if (judge === null && policy.stages.length > 1)
    return `A cascade of ${policy.stages.length} stages needs judged scores, but no judge is given.`;
  return null;
}
