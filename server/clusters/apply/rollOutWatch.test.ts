import { expect, it } from "vitest";
import type { StepState } from "@/server/contracts/studio";
import type { StoredStep } from "@/server/store/documents/storedStep";
import { type PlannedStep, planSteps } from "../steps/planSteps";
import { between, engine } from "../testing/testRollOuts";
import { waitingStep } from "./applicationSteps";
import { rollOutPosition } from "./rollOutWatch";

/** Steps of which `done` are done and the next one runs. */
const after = (steps: readonly PlannedStep[], done: number): StoredStep[] =>
  steps.map((step, index) => {
    const state: StepState = index < done ? "done" : index === done ? "running" : "waiting";
    return { ...waitingStep(step, index), state };
  });

it("is thin from the drain that makes room to the routing over what came in its place", () => {
  const steps = planSteps(between([engine("a", [0])], [engine("b", [0])]));
  expect(steps.map(({ action }) => action.kind)).toEqual(["drain", "stop", "start", "verify", "switch-policy"]);
  expect(steps.map((_, done) => rollOutPosition(after(steps, done)).thin)).toEqual([true, true, true, true, true]);
  expect(rollOutPosition(after(steps, 5)).thin).toBe(false);
});

it("is never thin where engines come up first", () => {
  const steps = planSteps(between([engine("a", [0])], [engine("b", [1])]));
  expect(steps.map(({ action }) => action.kind)).toEqual(["start", "verify", "switch-policy", "drain", "stop"]);
  expect(steps.some((_, done) => rollOutPosition(after(steps, done)).thin)).toBe(false);
});

it("tells the engines that should serve, without the one that is just drained", () => {
  const [a, b] = [engine("a", [0]), engine("b", [1])];
  const steps = planSteps(between([a], [b]));
  expect(rollOutPosition(after(steps, 0))).toMatchObject({ routed: null, staying: null });
  expect(rollOutPosition(after(steps, 2))).toMatchObject({ routed: null, staying: [b.id] });
  expect(rollOutPosition(after(steps, 3))).toMatchObject({ routed: [b.id], staying: [b.id] });
});
