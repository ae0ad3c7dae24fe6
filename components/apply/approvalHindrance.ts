import type { KeptPlan, Me } from "@/server/contracts/studio";

/**
 * Why a person who may approve plans cannot approve this one: under four eyes another person than its maker approves.
 *
 * @param approvers names of all who may approve plans
 * @returns null where nothing hinders it
 */
export function approvalHindrance(
  maker: KeptPlan["maker"],
  { me, fourEyes, approvers }: { readonly me: Me | null; readonly fourEyes: boolean; readonly approvers: readonly string[] },
): string | null {
  if (!fourEyes || me === null || maker?.id !== me.userId) return null;
  const others = approvers.filter((name) => name !== maker.name);
  const who = others.length === 0 ? "nobody else may approve plans yet" : `${others.join(" or ")} can approve it`;
  return `You made this plan, and four eyes is on: ${who}.`;
}
