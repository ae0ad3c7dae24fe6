import { expect, it } from "vitest";
import type { ModelDeployment } from "@/solver/plan/plan";
import { identifyModels } from "../ui/modelIdentity";
import { prepareGpuMap } from "./prepareGpuMap";

const deployment: ModelDeployment[] = [
  {
    model: "small-8b",
    precision: "bf16",
    gpu: "h100-sxm",
    gpus: 2,
    replicas: [
      {
        tp: 1,
        pp: 1,
        count: 2,
        shareEach: 0.5,
        placements: [[{ node: "n1", gpus: [0] }], [{ node: "n1", gpus: [1] }]],
      },
    ],
  },
  {
    model: "large-70b",
    precision: "bf16",
    gpu: "h100-sxm",
    gpus: 4,
    replicas: [
      {
        tp: 2,
        pp: 2,
        count: 1,
        shareEach: 1,
        placements: [
          [
            { node: "n1", gpus: [2, 3] },
            { node: "n2", gpus: [0, 1] },
          ],
        ],
      },
    ],
  },
];
const nodes = [
  { name: "n1", gpus: 4 },
  { name: "n2", gpus: 4 },
];
const cluster = { id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes, usdPerGpuHour: 3 } as const;
const identities = identifyModels(["small-8b", "large-70b"]);
const map = prepareGpuMap({ cluster: { ...cluster, nodes }, deployment, identities });

it("gives every GPU of every node exactly one block", () => {
  expect(map.map((node) => node.blocks.flatMap((block) => block.gpus))).toEqual([
    [0, 1, 2, 3],
    [0, 1, 2, 3],
  ]);
});

it("keeps neighbouring replicas of one model apart and draws one replica's GPUs as one block", () => {
  expect(map[0]?.blocks.map((block) => [block.identity?.model, block.gpus.length])).toEqual([
    ["small-8b", 1],
    ["small-8b", 1],
    ["large-70b", 2],
  ]);
});

it("says of free GPUs that they are free, and of a replica why it lies as it lies", () => {
  expect(map[1]?.blocks.map((block) => block.identity === null)).toEqual([false, true]);
  expect(map[1]?.blocks[1]?.why).toContain("Free");
  expect(map[0]?.blocks[2]?.why).toContain("only a pipeline may leave its node");
});

it("names the GPU type of each node only where the cluster has several", () => {
  expect(map.map(({ type }) => type)).toEqual([null, null]);
  const mixed = { ...cluster, nodes: [...nodes, { name: "n3", gpus: 2, gpu: "l40s" }] };
  expect(prepareGpuMap({ cluster: mixed, deployment, identities }).map(({ type }) => type)).toEqual(["h100-sxm", "h100-sxm", "l40s"]);
});
