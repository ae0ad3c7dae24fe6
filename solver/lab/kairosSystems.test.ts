import { expect, test } from "vitest";
import type { OrderDocument, PlaceDocument, PolicyDocument } from "../plan/policySchema";
import { kairosSystems } from "./kairosSystems";

const routed = (order: OrderDocument, place: PlaceDocument): PolicyDocument => ({ kind: "fixed", model: "m", order, place });

test("each system has the order, the place and the lengths that its source gives it, and reads no confidence", () => {
  const made = kairosSystems(routed, 640).map(({ name, policy, lengths, confidence }) => [
    ...[name, policy.order.kind, policy.place, lengths, confidence],
  ]);
  expect(made).toEqual([
    ["Parrot", "fcfs", { kind: "round-robin" }, "none", "none"],
    ["Ayo", "depth", { kind: "round-robin" }, "none", "none"],
    ["Kairos", "workflow", { kind: "time-slots" }, "none", "none"],
    ["Kairos, no priority", "fcfs", { kind: "time-slots" }, "none", "none"],
    ["Kairos, no packing", "workflow", { kind: "round-robin" }, "none", "none"],
    ["Kairos, oracle order", "stjf", { kind: "time-slots" }, "oracle", "none"],
  ]);
});

test("work that waits goes first after as many releases as were asked for, in every order but that of arrival", () => {
  for (const agingThreshold of [1, 640]) {
    const orders = kairosSystems(routed, agingThreshold).map(({ policy }) => policy.order);
    for (const order of orders) expect(order).toEqual(order.kind === "fcfs" ? { kind: "fcfs" } : { kind: order.kind, agingThreshold });
  }
});

test("what is left out is what a system is named after: each half of Kairos differs from the whole in one part alone", () => {
  const partsOf = (name: string) => {
    const found = kairosSystems(routed, 640).find((each) => each.name === name);
    if (found === undefined) throw new Error(`There is no system ${name}.`);
    return { order: found.policy.order, place: found.policy.place, lengths: found.lengths };
  };
  const whole = partsOf("Kairos");
  expect(partsOf("Kairos, no priority")).toEqual({ ...whole, order: partsOf("Parrot").order });
  expect(partsOf("Kairos, no packing")).toEqual({ ...whole, place: partsOf("Parrot").place });
  expect(partsOf("Kairos, oracle order")).toMatchObject({ place: whole.place });
});
