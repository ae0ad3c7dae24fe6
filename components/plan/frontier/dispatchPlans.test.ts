import { describe, expect, it } from "vitest";
import { testDispatch } from "../testing/testDispatch";
import { testKnobs } from "../testing/testTables";
import { dispatchPlans, parseDispatchKey } from "./dispatchPlans";

const plansOf = (more: Partial<Parameters<typeof dispatchPlans>[0]> = {}) =>
  dispatchPlans({ exploration: testDispatch, chosen: null, knobs: testKnobs, policy: "any", ...more });

describe("slack dispatch on the frontier", () => {
  it("has every allocation within the GPUs at every tau, at the bound that the floor is held against", () => {
    expect(plansOf()).toHaveLength(6);
    const few = plansOf({ knobs: { ...testKnobs, maxGpus: 4 } });
    expect(few.map(({ figures }) => [figures.gpus, figures.quality])).toEqual([
      [4, 74],
      [4, 76],
      [4, 78],
    ]);
    expect(few[1]).toMatchObject({ key: "slack*1*1", policy: { kind: "slack", models: ["small", "large"], tau: 1 } });
  });

  it("has the curve of the chosen allocation, with the chosen tau on it though that is between two that were simulated", () => {
    const chosen = { ...testDispatch.points[3]!, tau: 0.5, latencySeconds: 4.5 };
    const curve = plansOf({ chosen }).filter(({ dispatch }) => dispatch?.onCurve);
    expect(curve.map(({ dispatch, figures }) => [dispatch?.tau, figures.gpus]).sort()).toEqual([
      [0, 4],
      [0.5, 4],
      [1, 4],
      [2, 4],
    ]);
  });

  it("is marked where it is not asked for", () => {
    expect(plansOf({ policy: "cascade" }).some(({ asked }) => asked)).toBe(false);
    expect(plansOf({ policy: "slack" }).every(({ asked }) => asked)).toBe(true);
  });
});

it("reads back its own keys and no other's", () => {
  for (const { key, dispatch } of plansOf()) expect(parseDispatchKey(key)?.tau).toBe(dispatch?.tau);
  for (const key of ["small", "small@60~large*8", "slack*plan*1", "slack*1", "slack*1*2*3", "baseline 1"])
    expect(parseDispatchKey(key)).toBeNull();
});
