import { expect, it } from "vitest";
import type { Application } from "@/server/contracts/studio";
import { planInForce } from "./planInForce";
import { prepareRevisions } from "./prepareRevisions";

const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, "0")}:00.000Z`;
const ended = (planId: string | null, minute: number, state: Application["state"] = "done") =>
  ({ id: `${planId}-${minute}`, planId, state, startedAt: at(minute - 1), endedAt: at(minute) }) as Application;

it("goes by an application that is done while the cluster still names what ran before", () => {
  expect(planInForce([ended("a", 5)], { runningPlanId: null, runningSince: null })).toBe("a");
  expect(planInForce([ended("b", 9), ended("a", 5)], { runningPlanId: "a", runningSince: at(4) })).toBe("b");
  expect(planInForce([ended("a", 5), ended(null, 9)], { runningPlanId: "a", runningSince: at(4) })).toBeNull();
});

it("goes by the cluster where it is newer, or where nothing was ever carried out", () => {
  expect(planInForce([ended("a", 5)], { runningPlanId: "b", runningSince: at(8) })).toBe("b");
  expect(planInForce([ended("b", 9, "failed")], { runningPlanId: "a", runningSince: at(4) })).toBe("a");
  expect(planInForce([], { runningPlanId: null, runningSince: null })).toBeNull();
});

it("goes by the plan that is being replaced until the new one is wholly in force", () => {
  const replacing = { ...ended("b", 9, "paused"), endedAt: null, previousPlanId: "a" };
  expect(planInForce([replacing, ended("a", 5)], { runningPlanId: "b", runningSince: at(8) })).toBe("a");
  expect(planInForce([{ ...replacing, previousPlanId: null }], { runningPlanId: "b", runningSince: at(8) })).toBeNull();
});

it("leaves no way back to the plan that was just put in force", () => {
  const applications = [ended("a", 5)];
  const [revision] = prepareRevisions(applications, planInForce(applications, { runningPlanId: null, runningSince: null }));
  expect(revision).toMatchObject({ current: true, canReturn: false });
});
