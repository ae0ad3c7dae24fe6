import { expect, test } from "vitest";
import { replicaChange, runningReplicas } from "./runningReplicas";
import { examplePlanDraft } from "./testing/examplePlan";

const replica = (model: string, gpus: readonly number[], tp = gpus.length) => ({
  model,
  shape: { tp, pp: 1 },
  placements: [{ node: "n", gpus: [...gpus] }],
});

test("a plan's replicas are told one by one with where they are", () => {
  expect(runningReplicas(examplePlanDraft())).toEqual([
    { model: "small", shape: { tp: 1, pp: 1 }, placements: [{ node: "node1", gpus: [0] }] },
    { model: "large", shape: { tp: 1, pp: 1 }, placements: [{ node: "node1", gpus: [1] }] },
  ]);
});

test("a replica stays where model, shape and GPUs are the same, in whatever order they are written", () => {
  const before = [replica("a", [0, 1]), replica("a", [2, 3]), replica("b", [4])];
  const after = [replica("a", [1, 0]), replica("a", [2, 3], 1), replica("b", [5])];
  const { stays, stopped, started } = replicaChange(before, after);
  expect(stays).toBe(1);
  expect(stopped).toEqual(before.slice(1));
  expect(started).toEqual(after.slice(1));
});
