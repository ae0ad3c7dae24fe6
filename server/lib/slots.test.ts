import { expect, it } from "vitest";
import { backoffMs, Slots } from "./slots";

/** Fills all slots, and has one of them asked to wait. @returns how many may be under way then, and for how long nothing is asked. */
function busy(slots: Slots, waitSeconds: number | null): readonly [number, number] {
  while (slots.hasRoom) slots.begin();
  slots.release({ kind: "busy", waitSeconds });
  const restMs = slots.takeRest();
  while (slots.hasRoom) slots.begin();
  return [slots.underWay, restMs];
}

it("leaves an upstream alone for as long as it asks, also while others are under way, and then takes as many as it takes", () => {
  expect(busy(new Slots(4), null)).toEqual([3, 0]);
  expect(busy(new Slots(4), 7)).toEqual([3, 7000]);
  expect(busy(new Slots(1), null)).toEqual([1, 1000]);
});

it("counts only waits with nothing under way as an upstream that is too busy for anything, until it answers", () => {
  const slots = new Slots(2);
  busy(slots, 7);
  expect(slots.busyMs).toBe(0);
  slots.release({ kind: "busy", waitSeconds: 7 });
  expect(slots.busyMs).toBe(7000);
  slots.begin();
  slots.release({ kind: "failed" });
  expect(slots.busyMs).toBe(7000);
  slots.begin();
  slots.release({ kind: "answered" });
  expect(slots.busyMs).toBe(0);
});

it("is as wide as at first once an operator resumes", () => {
  const slots = new Slots(4);
  slots.begin();
  slots.release({ kind: "busy", waitSeconds: null });
  slots.begin();
  expect(slots.hasRoom).toBe(false);
  slots.resetFailures();
  expect(slots.hasRoom).toBe(true);
  expect(slots.takeRest()).toBe(0);
});

it("doubles its waits up to half a minute", () => {
  expect([0, 1, 2, 5, 6, 100].map(backoffMs)).toEqual([1000, 1000, 2000, 16_000, 30_000, 30_000]);
});
