import fc from "fast-check";
import { expect, it } from "vitest";
import { BudgetStore } from "./budgetStore";
import { nanoPerUsd } from "./keyBudget";

const start = Date.parse("2026-01-31T10:00:00Z");
const hourMs = 3_600_000;

/** A call reserves an amount and settles with no more, time passes, or the process is killed after what it had stored. */
const eventArbitrary = fc.oneof(
  fc.record({
    kind: fc.constant("call" as const),
    reserved: fc.integer({ min: 1, max: 60 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  fc.record({ kind: fc.constant("end" as const), which: fc.nat(9) }),
  fc.record({ kind: fc.constant("time" as const), ms: fc.nat(2 * hourMs) }),
  fc.record({ kind: fc.constant("kill" as const) }),
);

it("never bills more in an hour or a day than the caps, whatever is killed and whenever", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 400 }),
      fc.array(eventArbitrary, { maxLength: 80 }),
      async (hour, day, events) => {
        const clock = { nowMs: start };
        const limits = { usdPerHour: hour / nanoPerUsd, usdPerDay: day / nanoPerUsd };
        const opened = (): BudgetStore => new BudgetStore({ limitsOf: () => limits, nowMs: () => clock.nowMs });
        let store = opened();
        let inFlight: { readonly reserved: number; readonly used: number }[] = [];
        /** When the provider was paid, and how much: at the latest when its answer came. */
        const paid: { readonly atMs: number; readonly nano: number }[] = [];
        const spend = (nanoUsd: number) => ({ tokens: 0, nanoUsd });
        for (const event of events) {
          if (event.kind === "time") clock.nowMs += event.ms;
          if (event.kind === "call") {
            const { refusal } = await store.reserve("far", spend(event.reserved));
            if (refusal === null) inFlight.push({ reserved: event.reserved, used: Math.floor(event.reserved * event.share) });
          }
          const call = event.kind === "end" ? inFlight[event.which % Math.max(1, inFlight.length)] : undefined;
          if (call !== undefined) {
            inFlight = inFlight.filter((one) => one !== call);
            await store.settle("far", spend(call.reserved), spend(call.used));
            paid.push({ atMs: clock.nowMs, nano: call.used });
          }
          if (event.kind === "kill") {
            const stored = store.text;
            // What was in flight is billed all the same.
            paid.push(...inFlight.map(({ used }) => ({ atMs: clock.nowMs, nano: used })));
            inFlight = [];
            store = opened();
            store.restore(stored);
          }
          for (const [lengthMs, most] of [
            [hourMs, hour],
            [24 * hourMs, day],
          ] as const) {
            const fromMs = Math.floor(clock.nowMs / lengthMs) * lengthMs;
            const inWindow = paid.filter(({ atMs }) => atMs >= fromMs).reduce((sum, { nano }) => sum + nano, 0);
            expect(inWindow).toBeLessThanOrEqual(most);
          }
        }
      },
    ),
    { numRuns: 200 },
  );
});
