import { expect, it } from "vitest";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { changeQueueing } from "@/solver/policies/changeQueueing";
import { orderKinds, orderUnder, placeKinds } from "./queueingText";

const queueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
const fixed: PolicyDocument = { kind: "fixed", model: "m", ...queueing };
const justInTime: PolicyDocument = {
  ...{ kind: "just-in-time", workflows: [], selection: { kind: "cheapest" }, ...queueing },
  models: [{ model: "m", cost: 1, saturationBatch: 1, throughput: [{ batch: 1, tokensPerSecond: 1 }] }],
};

it("offers every policy each order and place, and all of them can run", () => {
  const runs = (policy: PolicyDocument, change: object) =>
    "policy" in changeQueueing({ order: "fcfs", place: "least-load", affinity: false, ...change }, policy);
  for (const policy of [fixed, justInTime]) {
    expect(orderKinds.filter((order) => order !== "fcfs" && !runs(policy, { order }))).toEqual([]);
    expect(placeKinds.filter((place) => place !== "least-load" && !runs(policy, { place }))).toEqual([]);
  }
});

it("says of rounds whom they serve first, which is not who came first unless another order is chosen", () => {
  expect(orderUnder(justInTime, "fcfs")).toMatch(/^by program start/);
  expect(orderUnder(justInTime, "workflow")).toBe(orderUnder(fixed, "workflow"));
  expect(orderUnder(fixed, "fcfs")).toBe("first come, first served (FCFS)");
});
