import { isDeepStrictEqual } from "node:util";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { isSamePlan, shortId } from "../lib/planName";

/** What a configuration changes of the one before it, in a sentence without its stop; null where it is the same. */
export function configChange(before: GatewayConfig | null, after: GatewayConfig): string | null {
  const { planId, policyHash, replicas } = after;
  const changed = changedParts(before, after);
  if (before === null || !isSamePlan(before, after)) {
    const beside = changed.length === 0 ? "" : `; changed with it: ${changed.join(", ")}`;
    return `The plan ${shortId(planId)} with the policy ${shortId(policyHash)} came into force over ${replicas.length} engines${beside}`;
  }
  return changed.length === 0 ? null : `Changed under the plan ${shortId(planId)}: ${changed.join(", ")}`;
}

/** What of a configuration is not its plan and has changed; of keys and addresses that they did, not what they are. */
function changedParts(before: GatewayConfig | null, after: GatewayConfig): readonly string[] {
  const [settings, was] = [after.settings ?? {}, before?.settings ?? {}];
  const members = [...new Set([...Object.keys(settings), ...Object.keys(was)])] as (keyof typeof settings)[];
  const set = members.filter((member) => !isDeepStrictEqual(settings[member], was[member]));
  const parts = set.length === 0 ? [] : [`settings (${set.join(", ")})`];
  if (before === null) return parts;
  if (!isDeepStrictEqual(before.replicas, after.replicas)) parts.push(`engines (${engineChange(before.replicas, after.replicas)})`);
  if (!isDeepStrictEqual(before.judge, after.judge)) parts.push("judge");
  if (before.name !== after.name) parts.push(`name (${after.name})`);
  if (before.timeScale !== after.timeScale) parts.push(`time scale (${after.timeScale})`);
  return parts;
}

function engineChange(before: GatewayConfig["replicas"], after: GatewayConfig["replicas"]): string {
  const was = new Map(before.map((replica) => [replica.id, replica]));
  const kept = after.filter(({ id }) => was.has(id));
  const altered = kept.filter((replica) => !isDeepStrictEqual(replica, was.get(replica.id)));
  const [added, removed] = [after.length - kept.length, before.length - kept.length];
  const counts = Object.entries({ added, removed, altered: altered.length }).filter(([, count]) => count > 0);
  return counts.length === 0 ? "another order" : counts.map(([what, count]) => `${count} ${what}`).join(", ");
}
