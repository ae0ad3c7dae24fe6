import { expect, test } from "vitest";
import type { RealSetup } from "@/server/contracts/studio";
import { realSetupSteps } from "@/server/contracts/studio/realSetup";
import { prepareSetup } from "./prepareSetup";

const absent: RealSetup = {
  ...{ state: "absent", message: null, engineBytes: 85e6, clusterId: null, workloadId: null, suggested: null },
  ...{ replaces: "vLLM, July", restores: null },
  steps: realSetupSteps.map((name) => ({ name, state: "waiting", says: "", progress: null, seconds: null })),
};
const ready: RealSetup = {
  ...{ ...absent, state: "ready", clusterId: "c 1", workloadId: "w1", suggested: { requestsPerSecond: 6.5, qualityFloor: 90 } },
  ...{ replaces: null, restores: "vLLM, July" },
  steps: realSetupSteps.map((name) => ({ name, state: "done", says: "Done.", progress: null, seconds: 3.25 })),
};

test("before the set-up the button says what it does, and the text what it takes", () => {
  const { start, takes, planPath, summary } = prepareSetup(absent);
  expect(start).toBe("Set up real models");
  expect(takes).toBe("About 85 MB are installed, and two minutes are measured.");
  expect([planPath, summary]).toEqual([null, "0 of 6 steps are done"]);
});

test.each(["failed", "stopped"] as const)("a set-up that %s can be continued, and leads to no plan yet", (state) => {
  const { start, planPath } = prepareSetup({ ...ready, state });
  expect([start, planPath]).toEqual(["Continue", null]);
});

test.each(["running", "unsupported", "ready"] as const)("a set-up that is %s has no button to start it", (state) => {
  expect(prepareSetup({ ...ready, state }).start).toBeNull();
});

test("a ready set-up leads to Plan with its cluster, workload, rate and floor", () => {
  expect(prepareSetup(ready).planPath).toBe("/plan?cluster=c+1&workload=w1&rate=6.5&floor=90");
  expect(prepareSetup({ ...ready, suggested: null }).planPath).toBe("/plan?cluster=c+1&workload=w1");
  expect(prepareSetup({ ...ready, clusterId: null }).planPath).toBeNull();
});

test("before it starts it names the profile that it sets aside, and where that is put back in use", () => {
  expect(prepareSetup(absent).replaces).toBe(
    'Plans then use the measured speeds. The profile in use, "vLLM, July", is set aside for every cluster; Calibration can put it back in use.',
  );
  expect(prepareSetup({ ...absent, replaces: null }).replaces).toBe("");
  expect(prepareSetup({ ...ready, replaces: "vLLM, July" }).replaces).toBe("");
});

test("a ready set-up says that planning, approving and applying are left", () => {
  expect(prepareSetup(ready).ready).toMatch(/^Ready\. Plan, then approve and apply: /);
  expect(prepareSetup(absent).ready).toBe("");
});

test("removing says which profile plans use then", () => {
  expect(prepareSetup(ready).consequences).toMatch(/Plans use the engine profile "vLLM, July" again\.$/);
  expect(prepareSetup({ ...ready, restores: null }).consequences).toMatch(/Plans keep the engine profile in use\.$/);
});

test("a failed step shows its word, its reason and how long it took", () => {
  const steps = absent.steps.map((step) =>
    step.name === "start" ? ({ ...step, state: "failed", says: "No core is free.", seconds: 2 } as const) : step,
  );
  const shown = prepareSetup({ ...absent, state: "failed", steps }).steps.find(({ name }) => name === "start");
  expect(shown).toMatchObject({ word: "failed", tone: "bad", says: "No core is free.", progress: null });
  expect(shown?.seconds).toMatch(/^2/);
});
