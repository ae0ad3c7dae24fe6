import type { TiedPlan } from "@/server/contracts/studio";

/** Default where no plan names a floor. */
const USUAL_FLOOR = 80;

export interface PlannedFloor {
  readonly floor: number;
  /** The origin of the floor, in a few words. */
  readonly from: string;
}

/** The default floor of quality for measures: of the plan in force, else of the newest plan, among those that name one. */
export function plannedFloor(plans: readonly TiedPlan[]): PlannedFloor {
  const [last] = plans
    .filter(({ qualityFloor }) => qualityFloor !== null)
    .sort((a, b) => Number(b.inForce) - Number(a.inForce) || b.createdAt.localeCompare(a.createdAt));
  if (last === undefined || last.qualityFloor === null) return { floor: USUAL_FLOOR, from: "no plan sets one yet" };
  return { floor: last.qualityFloor, from: last.inForce ? "of the plan in force" : "of the last plan" };
}
