import type { TiedPlan } from "@/server/contracts/studio";

/** Where no plan names a floor. */
const USUAL_FLOOR = 80;

export interface PlannedFloor {
  readonly floor: number;
  /** Whose floor it is, in a few words. */
  readonly from: string;
}

/** The floor of quality that measures are first held against: of the plan in force, else of the one that was planned last, of those that name one. */
export function plannedFloor(plans: readonly TiedPlan[]): PlannedFloor {
  const [last] = plans
    .filter(({ qualityFloor }) => qualityFloor !== null)
    .sort((a, b) => Number(b.inForce) - Number(a.inForce) || b.createdAt.localeCompare(a.createdAt));
  if (last === undefined || last.qualityFloor === null) return { floor: USUAL_FLOOR, from: "no plan sets one yet" };
  return { floor: last.qualityFloor, from: last.inForce ? "of the plan in force" : "of the last plan" };
}
