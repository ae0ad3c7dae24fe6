import fc from "fast-check";
import { expect, test } from "vitest";
import type { SlackPolicy } from "@/solver/plan/policySchema";
import type { ReplicaView, WaitingWork } from "../core/policy";
import { starting } from "../testing/worldOfContract";
import { slackPrices } from "./slackPrice";
import { slackRoute } from "./slackRoute";

const policy: SlackPolicy = {
  kind: "slack",
  models: [
    { model: "small", decodeSecondsPerToken: 0.01, maxBatchSize: 10, confidence: 0.4 },
    { model: "large", decodeSecondsPerToken: 0.04, maxBatchSize: 10, confidence: 0.5 },
  ],
  tau: 8,
  deltaScore: 0,
  floorSeconds: 2,
  price: { weight: 0.01, dampingSeconds: 10 },
  order: { kind: "fcfs" },
  place: { kind: "least-load" },
  approvedRanges: { tau: { min: 0, max: 8 }, deltaScore: { min: 0, max: 1 } },
};
const priced = [
  { secondsPerToken: 0.001, meanOutputTokens: 100 },
  { secondsPerToken: 0.004, meanOutputTokens: 150 },
];
const pricesOf = (own: SlackPolicy = policy) => {
  const prices = slackPrices(own);
  if (prices === null) throw new Error("no prices");
  return prices;
};

test("a load that stays has in the end the price of its weight, its floors and its share of work", () => {
  const prices = pricesOf();
  // 4 and 6 s of work.
  prices.observe(0, [4000, 1500]);
  expect(prices.of(priced)).toEqual([0, 0]);
  prices.observe(1000, [4000, 1500]);
  const [small, large] = prices.of(priced);
  expect(small).toBeCloseTo(0.01 * (4 / 2), 9);
  expect(large).toBeCloseTo(0.01 * (6 / 2) * ((0.004 * 150) / (0.001 * 100)), 9);
});

test("a price is never below 0, and never above what the largest backlog so far would give", () => {
  const tokens = fc.nat(25_000);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.double({ min: -5, max: 20, noNaN: true }), tokens, tokens), { minLength: 1 }), (events) => {
      const prices = pricesOf();
      let now = 0;
      let most = 0;
      for (const [gap, first, second] of events) {
        now += gap;
        prices.observe(now, [first, second]);
        most = Math.max(most, first, second);
        const [small = 0, large = 0] = prices.of(priced);
        expect(small).toBeGreaterThanOrEqual(0);
        expect(large).toBeLessThanOrEqual(0.01 * ((most * 0.004) / 2) * 6 + 1e-9);
      }
    }),
  );
});

test("a burst counts less the shorter it is, and a price forgets it", () => {
  const after = (seconds: number, later: number): number => {
    const prices = pricesOf();
    prices.observe(0, [0, 2500]);
    prices.observe(seconds, [0, 0]);
    prices.observe(seconds + later, [0, 0]);
    return prices.of(priced)[1] ?? 0;
  };
  expect(after(1, 0)).toBeLessThan(after(5, 0));
  expect(after(5, 30)).toBeLessThan(after(5, 0) / 10);
});

test("a model without replicas has no price, and what others cost does not depend on it", () => {
  const prices = pricesOf();
  prices.observe(0, [4000, 1500]);
  prices.observe(1000, [4000, 1500]);
  const alone = prices.of([{ secondsPerToken: 0.001 }, { secondsPerToken: Number.POSITIVE_INFINITY }]);
  expect(alone[0]).toBeCloseTo(0.02, 9);
  expect(alone[1]).toBe(0);
});

test("the route keeps a busy model for requests that are worth its price there", () => {
  const replica = (model: string): ReplicaView => ({
    ...{ id: model, model, inFlight: 0, maxInFlight: 10, accepting: true },
    kvUse: { state: "absent" },
  });
  const work = (id: string, queuedSinceSeconds: number): WaitingWork => ({
    ...{ id, programId: id, stage: 1, programArrivalSeconds: 0, queuedSinceSeconds, inputTokens: 100, predictedTokens: 1000 },
    state: { kind: "queued" },
  });
  /** Where a request goes of which the large model is surer by so much, with a backlog of 8 s at the large model for long. */
  const chosen = (own: SlackPolicy, surer: number): number => {
    const route = slackRoute(own);
    const scores = (model: string): number => (model === "large" ? 50 + 100 * surer : 50);
    route.start({ ...starting("first", scores), replicas: [replica("small"), replica("large")] });
    route.observe?.({ kind: "queued", work: work("a", 0) });
    route.observe?.({ kind: "queued", work: work("b", 0) });
    // The same load, much later.
    route.observe?.({ kind: "queued", work: { ...work("c", 500), predictedTokens: 0 } });
    return route.start({ ...starting("new", scores), replicas: [replica("small"), replica("large")] }).stage;
  };
  // The price is 0.01 times 8 s of 2 s, times the fourfold work: 0.16.
  expect([0.1, 0.15, 0.17, 0.3].map((surer) => chosen(policy, surer))).toEqual([0, 0, 1, 1]);
  const { price: _, ...unpriced } = policy;
  expect([0.1, 0.15, 0.17, 0.3].map((surer) => chosen(unpriced, surer))).toEqual([1, 1, 1, 1]);
});
