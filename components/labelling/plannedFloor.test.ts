import { expect, it } from "vitest";
import type { TiedPlan } from "@/server/contracts/studio";
import { plannedFloor } from "./plannedFloor";

const plan = (change: Partial<TiedPlan>): TiedPlan => ({
  ...{ id: "p", clusterId: "c", clusterName: "c", createdAt: "2026-03-01T10:00:00Z" },
  ...{ requestsPerSecond: 10, qualityFloor: 40, inForce: false, ...change },
});

it("starts from the floor of the plan in force, else of the last one that names a floor, else from 80 and says so", () => {
  const inForce = plan({ inForce: true, qualityFloor: 50 });
  const later = plan({ createdAt: "2026-03-03T10:00:00Z", qualityFloor: 60 });
  const without = plan({ createdAt: "2026-03-04T10:00:00Z", qualityFloor: null });
  expect(plannedFloor([without, later, inForce, plan({})])).toEqual({ floor: 50, from: "of the plan in force" });
  expect(plannedFloor([plan({}), later, without])).toEqual({ floor: 60, from: "of the last plan" });
  expect(plannedFloor([without])).toEqual({ floor: 80, from: "no plan sets one yet" });
});
