import { expect, it } from "vitest";
import type { ReplicaMemory } from "@/solver/policies/memoryForecast";
import { prepareMemory } from "./prepareMemory";

const replica = (change: Partial<ReplicaMemory> = {}): ReplicaMemory => ({
  ...{ replicaId: "r1", model: "m", capacityTokens: 1000, slotTokens: [500, 1200], suspended: null, requests: [] },
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
        { workId: "5", agent: "app/qa", queuedSinceSeconds: 98, replicaId: "r2", peakTokens: 600.4 },
        { workId: "6", agent: null, queuedSinceSeconds: 99, replicaId: null, peakTokens: null },
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
  expect(unknown?.says).toBe("nothing is expected there, how much it holds is not known, so it counts as having room");
  expect(known?.says).toBe("at most 1,200 tokens expected, 120\u00a0% of 1,000");
  expect(next.map(({ waited, replica: to, peak }) => [waited, to, peak])).toEqual([
    ["2.00\u00a0s", "r2", "600 tokens"],
    ["1.00\u00a0s", null, "–"],
  ]);
  expect(left).toBe(0);
  const many = Array.from({ length: 40 }, (_, at) => replica({ replicaId: `r${at}` }));
  const drawn = prepareMemory({ nowSeconds: 0, slotSeconds: 0.5, replicas: many, next: [] }, "r39");
  expect(drawn.replicas.at(-1)).toMatchObject({ id: "r39", isChosen: true });
  expect(drawn.replicas.length + drawn.left).toBe(40);
});
