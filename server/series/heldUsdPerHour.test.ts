import { expect, test } from "vitest";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { heldUsdPerHour } from "./heldUsdPerHour";

const cluster: ClusterSpec = {
  ...{ id: "c", name: "c", kind: "described", gpu: "l40s", usdPerGpuHour: 1, otherUsdPerGpuHour: { "h100-sxm": 4 } },
  nodes: [
    { name: "small", gpus: 4 },
    { name: "large", gpus: 2, gpu: "h100-sxm" },
  ],
};
const on = (node: string, ...indices: readonly number[]) => ({ gpus: indices.map((index) => ({ node, index })) });
const of = (...engines: readonly ReturnType<typeof on>[]) => heldUsdPerHour(engines, engines, cluster);

test("each GPU costs what those of its node do", () => {
  expect(of(on("small", 0, 1), on("large", 0))).toBe(6);
});

test("a GPU that engines share counts once, and the parts of its models sum to it", () => {
  const [one, other] = [on("large", 0), on("large", 0, 1)];
  expect(of(one, other)).toBe(8);
  const part = (engine: typeof one) => heldUsdPerHour([engine], [one, other], cluster);
  expect([part(one), part(other)]).toEqual([2, 6]);
});

test("what is not known is no sum: no engines, an engine without a known GPU, a strange node, a type without a price", () => {
  expect(of()).toBeNull();
  expect(of(on("small", 0), on("small"))).toBeNull();
  expect(of(on("elsewhere", 0))).toBeNull();
  const engines = [on("large", 0)];
  const { otherUsdPerGpuHour: _, ...unpriced } = cluster;
  expect(heldUsdPerHour(engines, engines, unpriced)).toBeNull();
  const free = [on("small", 0)];
  expect(heldUsdPerHour(free, free, { ...unpriced, usdPerGpuHour: 0 })).toBeNull();
});
