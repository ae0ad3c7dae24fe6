import { expect, it } from "vitest";
import { testDispatch } from "../testing/testDispatch";
import { planChange } from "./planChange";

const axes = { x: "quality", y: "latency" } as const;
const view = { policy: "any", axes, dispatch: testDispatch } as const;

it("plans slack dispatch at the tau of its point, and on its GPUs where an axis shows them", () => {
  expect(planChange("slack*1*1.5", view)).toEqual({ policy: "slack", tau: 1.5, fixed: null });
  expect(planChange("slack*1*1.5", { ...view, axes: { x: "gpus", y: "latency" } })).toMatchObject({ gpus: 4 });
});

it("plans thresholds, and leaves a kind of policy that does not include them", () => {
  const fixed = { models: ["small", "large"], thresholds: [60] };
  expect(planChange("small@60~large", view)).toEqual({ fixed });
  expect(planChange("small@60~large*4", view)).toEqual({ fixed, gpus: 4 });
  expect(planChange("small@60~large", { ...view, policy: "slack" })).toEqual({ fixed, policy: "any", tau: null });
  expect(planChange("small@60~large", { ...view, policy: "one-model" })).toMatchObject({ policy: "any" });
  expect(planChange("small", { ...view, policy: "one-model" })).toEqual({ fixed: { models: ["small"], thresholds: [] } });
});

it("plans nothing for the key of a baseline", () => {
  expect(planChange("baseline 1@", view)).toBeNull();
});
