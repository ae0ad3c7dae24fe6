import { expect, it } from "vitest";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { changeQueueing } from "@/solver/policies/changeQueueing";
import { orderKinds, ordersUnder, orderUnder, placeKinds, placesUnder } from "./queueingText";

const queueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
const fixed: PolicyDocument = { kind: "fixed", model: "m", ...queueing };
const justInTime: PolicyDocument = {
  ...{ kind: "just-in-time", workflows: [], selection: { kind: "cheapest" }, ...queueing },
  models: [{ model: "m", cost: 1, saturationBatch: 1, throughput: [{ batch: 1, tokensPerSecond: 1 }] }],
};

it("offers rounds no order and only the places that can run under them", () => {
  const runs = (policy: PolicyDocument, change: object) =>
    "policy" in changeQueueing({ order: "fcfs", place: "least-load", affinity: false, ...change }, policy);
  expect(ordersUnder(justInTime)).toEqual([]);
  expect(orderKinds.filter((order) => runs(justInTime, { order }))).toEqual([]);
  expect(placesUnder(justInTime).filter((place) => place !== "least-load")).toEqual(
    placeKinds.filter((place) => runs(justInTime, { place })),
  );
  expect([ordersUnder(fixed), placesUnder(fixed)]).toEqual([orderKinds, placeKinds]);
});

it("says of rounds whom they serve first, which is not who came first", () => {
  expect(orderUnder(justInTime)).toMatch(/^by program start/);
  expect(orderUnder(fixed)).toBe("first come, first served (FCFS)");
});
