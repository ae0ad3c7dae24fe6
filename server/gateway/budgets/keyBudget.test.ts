import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KeyLimits } from "@/server/contracts/gateway/gatewayKeys";
import { calendarWindow } from "./calendarWindow";
import { KeyBudget, nanoPerUsd, type Spend, storedBudgetSchema } from "./keyBudget";

const at = (text: string): number => Date.parse(text);
const noon = at("2026-01-31T12:00:00Z");
const tokens = (count: number): Spend => ({ tokens: count, nanoUsd: 0 });
const usedOf = (budget: KeyBudget, nowMs: number) => budget.states(nowMs).map(({ used, reserved }) => [used, reserved]);

describe("calendarWindow", () => {
  it("is the minute, hour, day or month of UTC that contains the time, and the next begins at its end", () => {
    const text = (period: Parameters<typeof calendarWindow>[0], ms: number) => {
      const { startMs, endMs } = calendarWindow(period, ms);
      return [startMs, endMs].map((one) => new Date(one).toISOString());
    };
    expect(text("month", at("2024-02-29T23:59:59.999Z"))).toEqual(["2024-02-01T00:00:00.000Z", "2024-03-01T00:00:00.000Z"]);
    expect(text("month", at("2026-12-31T23:00:00Z"))).toEqual(["2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"]);
    expect(text("day", at("2026-01-31T23:59:59Z"))).toEqual(["2026-01-31T00:00:00.000Z", "2026-02-01T00:00:00.000Z"]);
    expect(text("hour", noon)).toEqual(["2026-01-31T12:00:00.000Z", "2026-01-31T13:00:00.000Z"]);
    fc.assert(
      fc.property(fc.constantFrom("minute", "hour", "day", "month"), fc.integer({ min: 0, max: 4e12 }), (period, ms) => {
        const { startMs, endMs } = calendarWindow(period, ms);
        expect(startMs <= ms && ms < endMs).toBe(true);
        expect(calendarWindow(period, endMs).startMs).toBe(endMs);
        expect(calendarWindow(period, endMs - 1).startMs).toBe(startMs);
      }),
    );
  });
});

/** What may happen to a budget: a request comes, one in flight ends, time passes or goes back, or the gateway restarts. */
const eventArbitrary = fc.oneof(
  fc.record({ kind: fc.constant("ask" as const), tokens: fc.nat(60), nanoUsd: fc.nat(60) }),
  fc.record({ kind: fc.constant("end" as const), which: fc.nat(20), tokens: fc.nat(90), nanoUsd: fc.nat(90) }),
  fc.record({ kind: fc.constant("time" as const), ms: fc.integer({ min: -90_000_000, max: 90_000_000 }) }),
  fc.record({ kind: fc.constant("restart" as const) }),
);

const limitsArbitrary = fc.record(
  {
    tokensPerMinute: fc.integer({ min: 1, max: 200 }),
    tokensPerDay: fc.integer({ min: 1, max: 200 }),
    usdPerHour: fc.integer({ min: 1, max: 200 }).map((nano) => nano / nanoPerUsd),
    usdPerMonth: fc.integer({ min: 1, max: 200 }).map((nano) => nano / nanoPerUsd),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<KeyLimits>;

describe("KeyBudget", () => {
  it("is never negative, and exceeds a limit only by what requests used beyond their reservations", () => {
    fc.assert(
      fc.property(limitsArbitrary, fc.array(eventArbitrary, { maxLength: 120 }), (limits, events) => {
        let budget = new KeyBudget(limits);
        let nowMs = noon;
        let inFlight: Spend[] = [];
        // Of the whole run, which bounds that of each window.
        const beyond = { tokens: 0, usd: 0 };
        for (const event of events) {
          if (event.kind === "time") nowMs += event.ms;
          if (event.kind === "restart") {
            const stored = storedBudgetSchema.parse(JSON.parse(JSON.stringify(budget.stored)));
            budget = new KeyBudget(limits);
            budget.restore(stored);
            inFlight = [];
          }
          if (event.kind === "ask") {
            const before = budget.states(nowMs);
            const refusal = budget.reserve(event, nowMs);
            const hasRoom = before.every(({ unit, most, used, reserved }) => {
              const needed = unit === "usd" ? event.nanoUsd : event.tokens;
              return used + reserved < most && used + reserved + needed <= most;
            });
            expect(refusal === null).toBe(hasRoom);
            if (refusal === null) inFlight.push(event);
            else expect(budget.states(nowMs)).toEqual(before);
          }
          if (event.kind === "end" && inFlight.length > 0) {
            const [reserved] = inFlight.splice(event.which % inFlight.length, 1);
            if (reserved === undefined) throw new Error("Nothing is in flight.");
            budget.settle(reserved, event, nowMs);
            beyond.tokens += Math.max(0, event.tokens - reserved.tokens);
            beyond.usd += Math.max(0, event.nanoUsd - reserved.nanoUsd);
          }
          for (const { unit, most, used, reserved } of budget.states(nowMs)) {
            expect(used).toBeGreaterThanOrEqual(0);
            expect(reserved).toBe(inFlight.reduce((sum, one) => sum + (unit === "usd" ? one.nanoUsd : one.tokens), 0));
            expect(used + reserved).toBeLessThanOrEqual(most + beyond[unit]);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it("counts in a window exactly what was settled in it", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ ms: fc.nat(40_000), used: fc.nat(500) }), { maxLength: 60 }), (steps) => {
        const budget = new KeyBudget({ tokensPerMinute: 1_000_000, tokensPerDay: 1e9 });
        let nowMs = noon;
        const settled: { readonly atMs: number; readonly used: number }[] = [];
        for (const { ms, used } of steps) {
          nowMs += ms;
          expect(budget.reserve(tokens(1), nowMs)).toBeNull();
          budget.settle(tokens(1), tokens(used), nowMs);
          settled.push({ atMs: nowMs, used });
          const { startMs } = calendarWindow("minute", nowMs);
          const inWindow = settled.filter(({ atMs }) => atMs >= startMs).reduce((sum, one) => sum + one.used, 0);
          expect(budget.states(nowMs)[0]?.used).toBe(inWindow);
        }
      }),
    );
  });

  it("grants nothing anew when the clock goes back, also over a restart", () => {
    const budget = new KeyBudget({ tokensPerDay: 10 });
    expect(budget.reserve(tokens(10), noon)).toBeNull();
    budget.settle(tokens(10), tokens(10), noon);
    for (const earlier of ["2026-01-31T00:00:00Z", "2026-01-30T12:00:00Z", "2025-12-31T23:59:59Z"])
      expect(budget.reserve(tokens(1), at(earlier))).toMatchObject({ name: "tokensPerDay", used: 10 });
    const again = new KeyBudget({ tokensPerDay: 10 });
    again.restore(budget.stored);
    expect(again.reserve(tokens(1), at("2026-01-30T12:00:00Z"))).toMatchObject({ resetsAtMs: at("2026-02-01T00:00:00Z") });
    expect(again.reserve(tokens(10), at("2026-02-01T00:00:00Z"))).toBeNull();
  });

  it("keeps reservations over the end of a window, and charges the window in which they settle", () => {
    const budget = new KeyBudget({ tokensPerDay: 10 });
    const midnight = at("2026-02-01T00:00:00Z");
    expect(budget.reserve(tokens(8), midnight - 1)).toBeNull();
    expect(usedOf(budget, midnight)).toEqual([[0, 8]]);
    expect(budget.reserve(tokens(3), midnight)).toMatchObject({ reserved: 8, used: 0 });
    budget.settle(tokens(8), tokens(6), midnight + 5);
    expect(usedOf(budget, midnight + 5)).toEqual([[6, 0]]);
  });

  it("counts what was in flight at a crash as used", () => {
    const budget = new KeyBudget({ tokensPerDay: 10, usdPerMonth: 1 });
    expect(budget.reserve({ tokens: 4, nanoUsd: 5 }, noon)).toBeNull();
    const again = new KeyBudget({ tokensPerDay: 10, usdPerMonth: 1 });
    again.restore(budget.stored);
    expect(usedOf(again, noon)).toEqual([
      [4, 0],
      [5, 0],
    ]);
  });

  it("reserves safe integers of 0 or more alone, and is unchanged by others", () => {
    const budget = new KeyBudget({ tokensPerDay: 10 });
    for (const amount of [Number.NaN, Number.POSITIVE_INFINITY, 1e308, -1, 0.5]) {
      expect(() => budget.reserve({ tokens: amount, nanoUsd: 0 }, noon)).toThrow(RangeError);
      expect(() => budget.reserve({ tokens: 0, nanoUsd: amount }, noon)).toThrow(RangeError);
    }
    expect(usedOf(budget, noon)).toEqual([[0, 0]]);
  });

  it("warns of a limit once a window, when its use reaches the share", () => {
    const budget = new KeyBudget({ tokensPerDay: 10, usdPerDay: 1, warnAt: 0.8 });
    const settle = (count: number, nowMs: number) => budget.settle(tokens(0), tokens(count), nowMs).map(({ name, used }) => [name, used]);
    expect(settle(7, noon)).toEqual([]);
    expect(settle(1, noon)).toEqual([["tokensPerDay", 8]]);
    expect(settle(1, noon)).toEqual([]);
    const tomorrow = noon + 86_400_000;
    expect(budget.states(tomorrow).map(({ isNear }) => isNear)).toEqual([false, false]);
    expect(settle(9, tomorrow)).toEqual([["tokensPerDay", 9]]);
  });

  it("keeps the use of a limit that changes, and names the limit that ends last", () => {
    const budget = new KeyBudget({ tokensPerDay: 10 });
    budget.settle(tokens(0), tokens(9), noon);
    budget.limits = { tokensPerDay: 20, tokensPerMinute: 5 };
    expect(budget.reserve(tokens(6), noon)).toMatchObject({ name: "tokensPerMinute", most: 5 });
    expect(budget.reserve(tokens(12), noon)).toMatchObject({ name: "tokensPerDay", used: 9, needed: 12 });
    budget.limits = { tokensPerDay: 9 };
    expect(budget.reserve(tokens(0), noon)).toMatchObject({ most: 9, used: 9 });
  });

  it("exceeds no limit over gateways that cannot reach one another, if each keeps to its share of what was left", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.array(fc.nat(300), { minLength: 1, maxLength: 6 }),
        fc.array(fc.tuple(fc.nat(5), fc.nat(60)), { maxLength: 60 }),
        (tokensPerDay, uses, asked) => {
          const gateways = uses.map(() => new KeyBudget({ tokensPerDay }));
          // All that was used before has had room.
          let before = 0;
          for (const [index, use] of uses.entries()) {
            const used = Math.min(use, tokensPerDay - before);
            before += used;
            gateways[index]?.settle(tokens(0), tokens(used), noon);
          }
          const startMs = calendarWindow("day", noon).startMs;
          const usedBy = (gateway: KeyBudget | undefined) => gateway?.own.windows.tokensPerDay?.used ?? 0;
          for (const gateway of gateways)
            gateway.others = { reserved: tokens(0), windows: { tokensPerDay: { startMs, used: before - usedBy(gateway) } } };
          let passed = 0;
          for (const [index, count] of asked) {
            const gateway = gateways[index % gateways.length];
            const refusal = gateway?.reserve(tokens(count), noon, gateways.length);
            if (refusal === null) {
              passed += count;
              // What has ended counts as well.
              if (count % 2 === 0) gateway?.settle(tokens(count), tokens(count), noon);
            } else expect(refusal?.whole ?? refusal?.most).toBe(tokensPerDay);
          }
          expect(before + passed).toBeLessThanOrEqual(tokensPerDay);
        },
      ),
    );
  });

  it("gives each gateway its share of the whole limit in the next window, and all to the only one", () => {
    const budget = new KeyBudget({ tokensPerDay: 90 });
    budget.others = { reserved: tokens(30), windows: { tokensPerDay: { startMs: calendarWindow("day", noon).startMs, used: 60 } } };
    expect(budget.states(noon, 3)).toMatchObject([{ most: 90, used: 60, reserved: 30 }]);
    expect(budget.states(noon + 86_400_000, 3)).toMatchObject([{ most: 30, whole: 90, used: 0, reserved: 0 }]);
    expect(budget.states(noon + 86_400_000, 1)).toMatchObject([{ most: 90, used: 0 }]);
  });
});
