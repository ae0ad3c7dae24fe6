import { expect, test } from "vitest";
import { planInForce } from "./planInForce";

type Cluster = Parameters<typeof planInForce>[1][number];

const cluster = (active: readonly string[]): Cluster => {
  const engines = [
    { id: "a", url: "http://127.0.0.1:8000" },
    { id: "b", url: "http://127.0.0.1:8001" },
  ];
  const answer = { ok: true, value: { engines, routing: { planId: "p", active, cordoned: [] } } };
  return { seen: () => ({ atMs: 1, answer }) } as unknown as Cluster;
};

test("an engine that a plan in force sends requests to serves others, whatever the spelling of its address", () => {
  expect(planInForce("http://localhost:8000", [cluster([]), cluster(["a"])])).toMatch(/^A plan in force sends requests to/);
});

test("an engine of no cluster, or that no plan uses, is free", () => {
  expect(planInForce("http://localhost:8001", [cluster(["a"])])).toBeNull();
  expect(planInForce("http://10.0.0.4:8000", [cluster(["a"])])).toBeNull();
  const away: Cluster = { seen: () => ({ atMs: null, answer: { ok: false, message: "away" } }) };
  expect(planInForce("http://localhost:8000", [away])).toBeNull();
});
