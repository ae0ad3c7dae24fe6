import * as fc from "fast-check";
import { expect, it } from "vitest";
import { meanWaiting, waitingCaused } from "./meanWaiting";

/** Erlang's formula for M/M/c, by the recursion of the loss probability. */
function erlangWaiting(load: number, slots: number): number {
  let loss = 1;
  for (let servers = 1; servers <= slots; servers += 1) loss = (load * slots * loss) / (servers + load * slots * loss);
  const delayed = loss / (1 - load * (1 - loss));
  return (delayed * load) / (1 - load);
}

const anyLoad = fc.double({ min: 0.01, max: 0.99, noNaN: true });
const anySlots = fc.integer({ min: 1, max: 512 });

it("is exactly Erlang's number of waiting requests for one slot, and at most a quarter of a request above it up to a load of 0.85", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.85, noNaN: true }), anySlots, (load, slots) => {
      const over = meanWaiting(load, slots) - erlangWaiting(load, slots);
      expect(over).toBeGreaterThan(-1e-9);
      expect(over).toBeLessThan(0.25);
      expect(meanWaiting(load, 1)).toBeCloseTo(erlangWaiting(load, 1), 9);
    }),
  );
});

it("says by how much the waiting of the others grows: the slope of all waiting less the share of the one that is added", () => {
  fc.assert(
    fc.property(anyLoad, anySlots, (load, slots) => {
      const step = 1e-6 * (1 - load);
      const slope = (meanWaiting(load + step, slots) - meanWaiting(load - step, slots)) / (2 * step);
      const caused = slope - meanWaiting(load, slots) / load;
      expect(Math.abs(waitingCaused(load, slots) - caused)).toBeLessThanOrEqual(1e-4 * slope + 1e-9);
    }),
  );
});

it("grows with the load, is nothing without any, and without bound near a load of 1", () => {
  fc.assert(
    fc.property(anyLoad, anyLoad, anySlots, (one, other, slots) => {
      const [less, more] = [Math.min(one, other), Math.max(one, other)];
      expect(waitingCaused(less, slots)).toBeLessThanOrEqual(waitingCaused(more, slots));
    }),
  );
  expect(waitingCaused(0, 64)).toBe(0);
  expect(waitingCaused(0.9999, 64)).toBeGreaterThan(1e7);
});
