import { describe, expect, it } from "vitest";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { StepAction, StoredStep } from "@/server/store/documents/storedStep";
import { hasReached, isAt, isNext, killAfterSeconds, moments, pointOf, type RollOutPoint } from "./moments";

type States = readonly (readonly [StepAction["kind"], StoredStep["state"]])[];

const application = (states: States, state: StoredApplication["state"] = "running") => ({
  state,
  endedAt: state === "done" || state === "failed" ? "2026-01-01T00:00:09.000Z" : null,
  // Of a step's action only the kind counts here.
  steps: states.map(([kind, one], index) => ({ id: `${index}`, kind, state: one }) as StoredStep),
});

const forward: readonly StepAction["kind"][] = ["drain", "stop", "start", "verify", "switch-policy"];

/** The roll-out with one step running, those before it done. */
const during = (running: StepAction["kind"]) => {
  const at = forward.indexOf(running);
  return application(forward.map((kind, index) => [kind, index < at ? "done" : index === at ? "running" : "waiting"]));
};
const over = application(
  forward.map((kind) => [kind, "done"]),
  "done",
);

const momentsAt = (point: RollOutPoint): readonly string[] => moments.filter((moment) => isAt(moment, point));

describe("the moment of a roll-out", () => {
  it("is that of the running step", () => {
    expect(momentsAt(pointOf(null))).toEqual(["before it"]);
    expect(momentsAt(pointOf(during("drain")))).toEqual(["while the old engine drains"]);
    expect(momentsAt(pointOf(during("stop")))).toEqual([]);
    expect(momentsAt(pointOf(during("switch-policy")))).toEqual(["at the switch"]);
    expect(momentsAt(pointOf(over))).toEqual(["after it"]);
  });

  it("is the loading of the new engine only while that engine does not answer its health check", () => {
    for (const step of ["start", "verify"] as const) {
      expect(momentsAt(pointOf(during(step), "loading"))).toEqual(["while the new engine loads"]);
      expect(momentsAt(pointOf(during(step), "healthy"))).toEqual([]);
      expect(momentsAt(pointOf(during(step), "absent"))).toEqual([]);
      expect(momentsAt(pointOf(during(step)))).toEqual([]);
    }
    expect(momentsAt(pointOf(over, "healthy"))).toEqual(["after it"]);
  });

  it("is over when its step is done, although nothing else runs yet", () => {
    const drained = application([
      ["drain", "done"],
      ["stop", "waiting"],
    ]);
    expect(pointOf(drained)).toEqual({ application: "running", step: "drain", stepState: "done" });
    expect(momentsAt(pointOf(drained))).toEqual([]);
  });

  it("is none in a roll-out that has halted", () => {
    const halted = application(
      [
        ["start", "failed"],
        ["verify", "waiting"],
      ],
      "paused",
    );
    expect(momentsAt(pointOf(halted, "loading"))).toEqual([]);
    expect(pointOf(halted)).toMatchObject({ application: "paused", step: "start", stepState: "failed" });
  });
});

describe("the wait for a step", () => {
  it("ends when the step has begun, has passed, or can no longer come", () => {
    expect(hasReached("switch-policy", during("verify"))).toBe(false);
    expect(hasReached("switch-policy", during("switch-policy"))).toBe(true);
    expect(hasReached("drain", during("verify"))).toBe(true);
    expect(hasReached("switch-policy", application([["start", "failed"]], "failed"))).toBe(true);
  });

  it("is close where the step may come next", () => {
    expect(isNext("drain", application([]))).toBe(true);
    expect(isNext("switch-policy", during("start"))).toBe(false);
    expect(isNext("switch-policy", during("verify"))).toBe(true);
  });
});

it("a kill while an engine loads comes after half of its load time, or soon after its start where that is not known", () => {
  expect(killAfterSeconds(80)).toBe(40);
  expect(killAfterSeconds(0.9)).toBeCloseTo(0.45);
  expect(killAfterSeconds(null)).toBeLessThan(0.5);
});
