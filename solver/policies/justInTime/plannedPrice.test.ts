import * as fc from "fast-check";
import { expect, it } from "vitest";
import { selectionOf } from "./justInTimeDocument";
import { plannedPrice } from "./plannedPrice";

const models = ["small", "large"].map((model, at) => ({
  ...{ model, cost: at + 1, saturationBatch: 8, meanOutputTokens: 100 },
  throughput: [
    { batch: 1, tokensPerSecond: 100 },
    { batch: 8, tokensPerSecond: 400 },
  ],
}));
const pricesAt = (load: number, replicas = 1) => plannedPrice(models, [{ model: "large", replicas, load }]).models;

it("is 0 for a model without load or engines, and seconds a token for one with load", () => {
  expect(pricesAt(0.7)[0]).toEqual({ model: "small", secondsPerToken: 0, waiting: 0 });
  expect(pricesAt(0)[1]).toEqual({ model: "large", secondsPerToken: 0, waiting: 0 });
  expect(pricesAt(0.7, 0)[1]).toEqual({ model: "large", secondsPerToken: 0, waiting: 0 });
  // sqrt(2 (8 + 1)) = 4.243: W(0.7) = 0.7 ^ 4.243 / 0.3 = 0.734, and (W' - W / 0.7) = 0.734 (3.243 / 0.7 + 1 / 0.3) = 5.85; over 400 tokens/s.
  expect(pricesAt(0.7)[1]?.waiting).toBeCloseTo(0.734, 3);
  expect(pricesAt(0.7)[1]?.secondsPerToken).toBeCloseTo(5.846 / 400, 4);
});

it("grows with the load up to the load from which forecasts are not reliable, and falls with more engines at the same load", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 20 }),
      (one, other, replicas) => {
        const [less, more] = [one, other].sort((a, b) => a - b).map((load) => pricesAt(load, replicas)[1]?.secondsPerToken ?? Number.NaN);
        expect(less).toBeLessThanOrEqual(more ?? Number.NaN);
        const wider = pricesAt(one, replicas + 1)[1]?.secondsPerToken;
        expect(wider).toBeLessThan(pricesAt(one, replicas)[1]?.secondsPerToken ?? Number.NaN);
      },
    ),
  );
  expect(pricesAt(1)).toEqual(pricesAt(0.85));
});

it("is in a document only where it was asked for", () => {
  const weights = { kind: "worth", rightSeconds: 1, delayWeight: 2 } as const;
  const planned = [{ model: "large", replicas: 1, load: 0.7 }];
  expect(selectionOf(weights, models, planned)).toEqual(weights);
  expect(selectionOf({ ...weights, priced: undefined }, models, planned)).toEqual(weights);
  expect(selectionOf({ ...weights, priced: true }, models, planned)).toEqual({ ...weights, price: plannedPrice(models, planned) });
  expect(selectionOf({ kind: "beam", width: 2 }, models, planned)).toEqual({ kind: "beam", width: 2 });
});
