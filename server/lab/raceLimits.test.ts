import { expect, test } from "vitest";
import type { LabSpec } from "@/server/contracts/studio/lab";
import { raceLimits } from "@/solver/lab/raceLimits";
import { labCells } from "./labCells";
import { makeGround } from "./labGround";
import { testSpec, testTask } from "./testing/testLab";

const systems = ["Parrot", "Ayo", "Kairos", "Kairos, no priority"];
const [engine, ...others] = testSpec(systems).replicas;
if (engine === undefined) throw new Error("The suggestion has engines");

/** Every system at one rate far above the engines' capacity. */
const cellsOf = (change: Partial<LabSpec>) => {
  const task = testTask({ ...testSpec(systems), programs: 120, rates: [200], seeds: [1], ...change });
  const cellOf = labCells(task, makeGround(task));
  return { said: raceLimits(task.spec).join("\n"), cells: task.spec.systems.map((_, system) => cellOf({ system, rate: 0, seed: 0 })) };
};

test("programs that engines hold all at once hardly wait at any rate, and do once fewer of them run at once", () => {
  const ample = cellsOf({});
  expect(ample.said).toMatch(/120 programs have at most about 120 requests under way/);
  for (const { queueShare } of ample.cells) expect(queueShare).toBeLessThan(0.1);
  const few = cellsOf({ replicas: [engine, ...others].map((each) => ({ ...each, maxSequences: 8 })) });
  expect(few.said).not.toMatch(/under way/);
  for (const { queueShare } of few.cells) expect(queueShare).toBeGreaterThan(0.2);
});

test("systems that are named as differing in their place alone are the same to the digit, and two engines of a model tell them apart", () => {
  const replicas = [{ ...engine, maxSequences: 8 }];
  const toOne = testSpec(systems).systems.map((system) => ({
    ...system,
    policy: { kind: "fixed" as const, model: engine.model, order: system.policy.order, place: system.policy.place },
  }));
  const one = cellsOf({ replicas, systems: toOne });
  expect(one.said).toMatch(/Parrot; Kairos, no priority\. Give a model two engines/);
  expect(one.cells[0]?.digest).toBe(one.cells[3]?.digest);
  const two = cellsOf({ replicas: replicas.map((each) => ({ ...each, count: 2 })), systems: toOne });
  expect(two.said).toBe("");
  expect(two.cells[0]?.digest).not.toBe(two.cells[3]?.digest);
});
