import { describe, expect, it } from "vitest";
import type { Application } from "@/server/contracts/studio";
import { isActive, linesOfGateway, noWayBack, prepareInForce, prepareRevisions, stopsWithoutDrain } from "./prepareRevisions";

function application(planId: string | null, minute: number, state: Application["state"] = "done"): Application {
  return {
    id: `${planId}-${minute}`,
    clusterId: "c",
    planId,
    previousPlanId: null,
    hasWayBack: true,
    kind: "apply",
    state,
    startedAt: `2026-01-01T00:${String(minute).padStart(2, "0")}:00.000Z`,
    endedAt: null,
    graceEndsAt: null,
    steps: [],
    error: null,
    actor: "operator",
    undoing: false,
    rollBackOnRegression: false,
    halt: null,
    verification: null,
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

describe("prepareInForce", () => {
  const line = (action: string, minute: number) => {
    const at = `2026-01-01T00:${String(minute).padStart(2, "0")}:30.000Z`;
    return { at, actor: "ada", action, subject: "gateway", detail: "" };
  };
  const revisions = prepareRevisions([application("a", 1), application("b", 4)], "b");
  const summary = (audit: Parameters<typeof prepareInForce>[2], applications: readonly Application[] = []) =>
    prepareInForce(revisions, applications, audit).map((each) =>
      "attempt" in each ? each.attempt.state : ["line" in each ? each.line.action : each.planId, each.current],
    );

  it("puts promotions, roll backs and turned knobs between the applications, and no other line", () => {
    expect(summary([line("rolled back", 3), line("panic", 2), line("canary promoted", 2)])).toEqual([
      ["b", true],
      ["rolled back", false],
      ["canary promoted", false],
      ["a", false],
    ]);
  });

  it("marks the change that came last, and no plan that the routing left since", () => {
    expect(summary([line("rolled back", 5)])).toEqual([
      ["rolled back", true],
      ["b", false],
      ["a", false],
    ]);
  });

  it("takes the lines of the cluster's own gateway, and none of another cluster's", () => {
    const other = { ...line("rolled back", 5), subject: "gateway of paris" };
    const audit = [line("canary promoted", 5), other];
    expect(linesOfGateway(audit, { id: "embedded", name: "embedded (emulated)" })).toEqual([audit[0]]);
    expect(linesOfGateway(audit, { id: "u", name: "paris" })).toEqual([other]);
    expect(linesOfGateway(audit, { id: "v", name: "rome" })).toEqual([]);
  });

  it("tells of roll-outs that came to nothing at their time, and takes none of them for what is in force", () => {
    const applications = [
      application("b", 7, "failed"),
      application("a", 6, "aborted"),
      application("b", 4),
      application("c", 8, "running"),
    ];
    expect(summary([line("rolled back", 5)], applications)).toEqual([
      ...["failed", "aborted"],
      ...[
        ["rolled back", true],
        ["b", false],
        ["a", false],
      ],
    ]);
  });

  it("leaves the plan marked whose knobs were turned", () => {
    expect(summary([line("controls set", 5)]).slice(0, 2)).toEqual([
      ["controls set", true],
      ["b", true],
    ]);
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
    ({ id: kind, kind, text: "", state: "waiting", detail: "", startedAt: null, endedAt: null, engineId: null }) as const;
  expect(stopsWithoutDrain([step("drain"), step("stop")])).toBe(0);
  expect(stopsWithoutDrain([step("stop")])).toBe(1);
});

it("says in different words why there is no way back", () => {
  const says = (applications: readonly Application[], running: string | null) =>
    noWayBack(applications, prepareRevisions(applications, running));
  const texts = [
    says([], null),
    says([application("a", 1, "running")], null),
    says([application("a", 1, "aborted")], null),
    says([application("a", 1)], "a"),
  ];
  expect(new Set(texts).size).toBe(4);
  expect(texts.every((text) => text !== "")).toBe(true);
  expect(says([application("a", 1), application("b", 2)], "b")).toBe("");
});
