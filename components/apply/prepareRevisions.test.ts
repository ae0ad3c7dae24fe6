import { describe, expect, it } from "vitest";
import type { Application } from "@/server/contracts/studio";
import { isActive, prepareRevisions, stopsWithoutDrain } from "./prepareRevisions";

function application(planId: string | null, minute: number, state: Application["state"] = "done"): Application {
  return {
    id: `${planId}-${minute}`,
    clusterId: "c",
    planId,
    previousPlanId: null,
    kind: "apply",
    state,
    startedAt: `2026-01-01T00:${String(minute).padStart(2, "0")}:00.000Z`,
    endedAt: null,
    graceEndsAt: null,
    steps: [],
    error: null,
    actor: "operator",
  };
}

describe("prepareRevisions", () => {
  it("marks what runs and offers every earlier plan once", () => {
    const revisions = prepareRevisions([application("a", 1), application("b", 2), application("a", 3), application("c", 4)], "c");
    expect(revisions.map((each) => [each.planId, each.current, each.canReturn])).toEqual([
      ["c", true, false],
      ["a", false, true],
      ["b", false, true],
      ["a", false, false],
    ]);
  });

  it("leaves out attempts that never came into force", () => {
    expect(prepareRevisions([application("a", 1, "aborted"), application("b", 2, "failed")], null)).toEqual([]);
  });
});

it("knows which applications still change the cluster", () => {
  expect(
    (["grace", "running", "paused", "done", "failed", "aborted", "rolled-back"] as const).map((state) =>
      isActive(application("a", 1, state)),
    ),
  ).toEqual([true, true, true, false, false, false, false]);
});

it("counts engines that would be stopped with requests in them", () => {
  const step = (kind: "drain" | "stop") =>
    ({ id: kind, kind, text: "", state: "waiting", detail: "", startedAt: null, endedAt: null }) as const;
  expect(stopsWithoutDrain([step("drain"), step("stop")])).toBe(0);
  expect(stopsWithoutDrain([step("stop")])).toBe(1);
});
