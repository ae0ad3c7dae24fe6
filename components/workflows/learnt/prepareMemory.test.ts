import { expect, it } from "vitest";
import type { NextPlacement, ReplicaMemory } from "@/solver/policies/core/memoryForecast";
import { prepareMemory } from "./prepareMemory";

const replica = (change: Partial<ReplicaMemory> = {}): ReplicaMemory => ({
  ...{ replicaId: "r1", model: "m", capacityTokens: 1000, inFlight: 4, seats: 256, slotTokens: [500, 1200], suspended: null, requests: [] },
  ...change,
});

const placement = (change: Partial<NextPlacement>): NextPlacement => ({
  ...{ workId: "5", agent: null, queuedSinceSeconds: 99, replicaId: null, held: null, laterReplicaId: null, peakTokens: null },
  ...change,
});

it("draws expected memory against what a replica holds, marks what is beyond it, and says where nobody knows", () => {
  const { replicas, left, next } = prepareMemory(
    {
      ...{ nowSeconds: 100, slotSeconds: 0.5 },
      replicas: [
        replica({
          requests: [
            { workId: "1", agent: "app/coder", untilSeconds: 99 },
            { workId: "2", agent: null, untilSeconds: 104 },
            { workId: "3", agent: null, untilSeconds: 102 },
            { workId: "4", agent: "app/qa", untilSeconds: null },
          ],
        }),
        replica({ replicaId: "r2", capacityTokens: null, suspended: "preempted a request 2 s ago", slotTokens: [] }),
      ],
      next: [
        placement({ replicaId: "r2", peakTokens: 600.4, queuedSinceSeconds: 98, agent: "app/qa" }),
        placement({ held: "seats", laterReplicaId: "r1", peakTokens: 700 }),
        placement({ held: "memory" }),
        placement({ held: "pressure" }),
        placement({ held: "closed" }),
        placement({ held: "behind", laterReplicaId: "r2", peakTokens: 10 }),
        placement({ held: "behind" }),
      ],
    },
    "r1",
  );
  const [known, unknown] = replicas;
  expect(known?.bars.map(({ over, height }) => [over, height])).toEqual([
    [false, 500 / 1200],
    [true, 1],
  ]);
  expect(known?.capacity).toBeCloseTo(1000 / 1200, 9);
  expect(known?.agents).toEqual([
    { agent: "unnamed", requests: "2 requests", until: "until 4.00\u00a0s from now, expected" },
    { agent: "coder of app", requests: "1 request", until: "runs late" },
    { agent: "qa of app", requests: "1 request", until: "end not known" },
  ]);
  expect(unknown).toMatchObject({ capacity: null, suspended: "preempted a request 2 s ago", bars: [] });
  expect(unknown?.says).toBe("no tokens expected, its capacity is unknown and counts as unlimited");
  expect(known?.says).toBe("at most 1,200 tokens expected, 120\u00a0% of 1,000");
  expect(known).toMatchObject({ span: "5.00\u00a0s", cut: false, axis: null });
  expect(known?.bars[1]).toMatchObject({ at: 0.1, text: "1,200 tokens expected from 500\u00a0ms to 1.00\u00a0s from now" });
  expect(known).toMatchObject({ load: "4 of 256 requests", isFull: false });
  expect(next.map(({ agent, waited, replica: to, held, peak }) => [agent, waited, to ?? held, peak])).toEqual([
    ["qa of app", "2.00\u00a0s", "r2", "600 tokens"],
    ["unnamed", "1.00\u00a0s", "to r1 when a request there ends (4 of 256 requests)", "700 tokens"],
    ["unnamed", "1.00\u00a0s", "held: no replica has enough memory now", "–"],
    ["unnamed", "1.00\u00a0s", "held: all replicas are under pressure", "–"],
    ["unnamed", "1.00\u00a0s", "held: no replica takes work now", "–"],
    ["unnamed", "1.00\u00a0s", "to r2, kept for a request that was passed over", "10 tokens"],
    ["unnamed", "1.00\u00a0s", "held behind requests that were passed over", "–"],
  ]);
  expect(left).toBe(0);
  const many = Array.from({ length: 40 }, (_, at) => replica({ replicaId: `r${at}` }));
  const drawn = prepareMemory({ nowSeconds: 0, slotSeconds: 0.5, replicas: many, next: [] }, "r39");
  expect(drawn.replicas.at(-1)).toMatchObject({ id: "r39", isChosen: true });
  expect(drawn.replicas.length + drawn.left).toBe(40);
});

it("draws little expected memory on an axis of its own, and says where that ends and what share it is", () => {
  const axisOf = (peak: number, capacityTokens: number | null = 2_000_000) => {
    const memory = { nowSeconds: 0, slotSeconds: 0.5, replicas: [replica({ capacityTokens, slotTokens: [peak / 2, peak] })], next: [] };
    const [drawn] = prepareMemory(memory, null).replicas;
    return [drawn?.bars[1]?.height, drawn?.capacity, drawn?.axis, drawn?.says];
  };
  expect(axisOf(9_000)).toEqual([10 / 11, null, "axis to 9,900 tokens", "at most 9,000 tokens expected, <1\u00a0% of 2,000,000"]);
  expect(axisOf(3)).toEqual([3 / 4, null, "axis to 4 tokens", "at most 3 tokens expected, <1\u00a0% of 2,000,000"]);
  expect(axisOf(500_000)).toEqual([0.25, 1, null, "at most 500,000 tokens expected, 25\u00a0% of 2,000,000"]);
  expect(axisOf(10_000, null).slice(0, 3)).toEqual([1, null, null]);
});

it("spreads slots over one time for all replicas, and says where more is expected than is drawn", () => {
  const replicas = [3, 12, 40].map((slots) => replica({ slotTokens: Array.from({ length: slots }, () => 1) }));
  const [few, some, many] = prepareMemory({ nowSeconds: 0, slotSeconds: 0.5, replicas, next: [] }, null).replicas;
  expect([few, some, many].map((one) => [one?.bars.length, one?.bars[1]?.at, one?.slotWidth, one?.cut, one?.span])).toEqual([
    [3, 1 / 30, 1 / 30, false, "15.0\u00a0s"],
    [12, 1 / 30, 1 / 30, false, "15.0\u00a0s"],
    [30, 1 / 30, 1 / 30, true, "15.0\u00a0s"],
  ]);
});

it("says how many requests a replica has of how many it may have", () => {
  const loads = [
    { inFlight: 256, seats: 256 },
    { inFlight: 3, seats: 0 },
    { inFlight: 1, seats: 2 ** 31 - 1 },
  ];
  const { replicas } = prepareMemory({ nowSeconds: 0, slotSeconds: 0.5, replicas: loads.map((load) => replica(load)), next: [] }, null);
  expect(replicas.map(({ load, isFull }) => [load, isFull])).toEqual([
    ["256 of 256 requests", true],
    ["3 requests, takes no more", true],
    ["1 request", false],
  ]);
});
