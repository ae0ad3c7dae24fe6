import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { WaitingWork } from "../core/policy";
import { workflowOrder } from "../orders/workflowOrder";
import { forecastOf } from "../testing/worldOfContract";
import { HeldWork, MOST_PASSES } from "../waiting/heldWork";
import { ReleaseLog, ReleaseQueue } from "../waiting/releaseQueue";
import { RoundOrder } from "./roundOrder";

const workOf = (id: string, distance: number, at: { readonly joined: number; readonly began: number }): WaitingWork => ({
  ...{ id, programId: id, stage: 0, inputTokens: 5, programArrivalSeconds: at.began, queuedSinceSeconds: at.joined },
  forecast: forecastOf(distance),
  state: { kind: "queued" },
});

const anyArrivals = fc.array(fc.record({ distance: fc.integer({ min: 0, max: 4 }), began: fc.integer({ min: 0, max: 3 }) }), {
  maxLength: 3,
});

it("the next request of rounds in an order is the next of a model's own queue in that order, aged requests too", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(anyArrivals, { maxLength: 40 }), (agingThreshold, turns) => {
      const order = workflowOrder({ agingThreshold });
      const log = new ReleaseLog({ agingThreshold });
      const rounds = new RoundOrder(order.preference, new HeldWork());
      let waiting: readonly WaitingWork[] = [];
      for (const [nowSeconds, arrivals] of turns.entries()) {
        const came = arrivals.map(({ distance, began }, at) => workOf(`${nowSeconds}-${at}`, distance, { joined: nowSeconds, began }));
        waiting = [...waiting, ...came];
        const queue = new ReleaseQueue(waiting, order, log);
        const next = queue.peek();
        const [first] = rounds.ordered(waiting);
        expect(first?.id).toBe(next?.id);
        if (next === undefined) continue;
        queue.release(nowSeconds);
        rounds.sent(nowSeconds);
        waiting = waiting.filter(({ id }) => id !== next.id);
      }
    }),
  );
});

it("what is due goes first, whatever its order says", () => {
  const held = new HeldWork();
  for (let pass = 0; pass < MOST_PASSES; pass += 1) held.pass("late");
  const waiting = [workOf("soon", 1, { joined: 0, began: 0 }), workOf("late", 9, { joined: 1, began: 1 })];
  expect(new RoundOrder(workflowOrder({ agingThreshold: 9 }).preference, held).ordered(waiting).map(({ id }) => id)).toEqual([
    "late",
    "soon",
  ]);
  expect(new RoundOrder(undefined, held).ordered(waiting).map(({ id }) => id)).toEqual(["late", "soon"]);
  expect(new RoundOrder(undefined, new HeldWork()).ordered(waiting)).toBe(waiting);
});
