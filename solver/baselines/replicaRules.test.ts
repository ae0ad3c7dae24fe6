import { expect, it } from "vitest";
import { replicaRules } from "./replicaRules";

const replicas = (tp: number, count: number, pp = 1) => ({ shape: { tp, pp }, count });

it("asks for the shape of each model and its number of replicas, over all that it is deployed for", () => {
  const deployed = [
    { model: "small", replicas: [replicas(1, 3), replicas(2, 0)] },
    { model: "large", replicas: [replicas(4, 2, 2)] },
    { model: "small", replicas: [replicas(1, 1)] },
  ];
  expect(replicaRules(deployed)).toEqual([
    { model: "small", shape: { tp: 1, pp: 1 }, count: 4 },
    { model: "large", shape: { tp: 4, pp: 2 }, count: 2 },
  ]);
});

it("asks for nothing where a model has replicas of several shapes", () => {
  expect(replicaRules([{ model: "small", replicas: [replicas(1, 2), replicas(2, 1)] }])).toBeNull();
  expect(replicaRules([{ model: "small", replicas: [replicas(2, 2), replicas(2, 1, 2)] }])).toBeNull();
});
