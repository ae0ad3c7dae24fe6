import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TokenPriceDocument } from "@/solver/plan/policySchema";
import { TokenPrices } from "./tokenPrices";

const NAMES = ["small", "large"];
const document: TokenPriceDocument = {
  models: [
    { model: "large", secondsPerToken: 0.02, waiting: 3 },
    { model: "small", secondsPerToken: 0.01, waiting: 0.2 },
  ],
  dampingSeconds: 10,
};

const anyMove = fc.record({
  seconds: fc.double({ min: 0, max: 40, noNaN: true }),
  waiting: fc.tuple(fc.nat(50), fc.nat(50)),
});

describe("prices of tokens", () => {
  it("are the plan's where as many wait as planned for long, and nothing where nobody has waited for long", () => {
    const prices = new TokenPrices(document, NAMES);
    expect([...prices.at(0)]).toEqual([0, 0]);
    prices.left(0, [1, 3]);
    // Fewer than one planned to wait count as one.
    expect(prices.at(1000)[0]).toBeCloseTo(0.01, 9);
    expect(prices.at(1000)[1]).toBeCloseTo(0.02, 9);
    prices.left(1000, [0, 0]);
    expect(prices.at(3000)[1]).toBeCloseTo(0, 9);
  });

  it("follow the backlog with the time constant, and rise to four times the plan's at most", () => {
    const prices = new TokenPrices(document, NAMES);
    prices.left(0, [0, 3]);
    expect(prices.at(10)[1]).toBeCloseTo(0.02 * (1 - Math.exp(-1)), 9);
    prices.left(10, [0, 9000]);
    expect(prices.at(60)[1]).toBeCloseTo(0.08, 9);
    expect(prices.at(60)[0]).toBe(0);
  });

  it("stay within their bounds, change without a jump, and do not depend on how often decisions are asked for", () => {
    fc.assert(
      fc.property(
        fc.array(anyMove, { maxLength: 30 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 30, maxLength: 30 }),
        (moves, between) => {
          const [seldom, often] = [new TokenPrices(document, NAMES), new TokenPrices(document, NAMES)];
          let now = 0;
          let last: readonly number[] = [0, 0];
          for (const [at, { seconds, waiting }] of moves.entries()) {
            // The other is also asked in between, with as many waiting as before.
            often.left(now + (between[at] ?? 0) * seconds, last);
            often.at(now + (between[at] ?? 0) * seconds);
            now += seconds;
            const before = [...seldom.at(now)];
            seldom.left(now, waiting);
            often.left(now, waiting);
            expect([...seldom.at(now)]).toEqual(before);
            expect([...often.at(now)]).toEqual(before);
            for (const [model, price] of before.entries()) {
              expect(price).toBeGreaterThanOrEqual(0);
              expect(price).toBeLessThanOrEqual(4 * [0.01, 0.02][model]! * (1 + 1e-9));
            }
            last = waiting;
          }
        },
      ),
    );
  });

  it("are 0 for models that the plan does not price", () => {
    const prices = new TokenPrices({ ...document, models: document.models.slice(1) }, NAMES);
    prices.left(0, [5, 5]);
    expect(prices.at(100)[1]).toBe(0);
  });
});
