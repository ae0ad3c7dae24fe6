import { expect, it } from "vitest";
import { budgetRefusal } from "./budgetRefusal";
import type { BudgetRefusal } from "./keyBudget";
import { durationText, limitHeaders } from "./rateHeaders";

const nowMs = Date.parse("2026-01-31T12:00:00Z");
const limit = (more: Partial<BudgetRefusal> = {}): BudgetRefusal => ({
  ...{ name: "tokensPerDay", unit: "tokens", period: "day", most: 100, used: 60, reserved: 0, needed: 50 },
  ...{ resetsAtMs: Date.parse("2026-02-01T00:00:00Z"), isNear: false, ...more },
});

it("writes durations as OpenAI's API does", () => {
  expect([0, 0.02, 0.9995, 1, 59.2, 60, 360, 3723].map(durationText)).toEqual([
    "0s",
    "20ms",
    "1000ms",
    "1s",
    "1m0s",
    "1m0s",
    "6m0s",
    "1h2m3s",
  ]);
});

it("says in headers the rest of the tightest limit of tokens, and which limits are nearly used", () => {
  const minute = limit({ name: "tokensPerMinute", period: "minute", most: 50, used: 20, reserved: 15, resetsAtMs: nowMs + 30_000 });
  const money = limit({ name: "usdPerMonth", unit: "usd", period: "month", most: 1000, used: 905, isNear: true });
  expect(limitHeaders([minute, limit(), money], nowMs)).toEqual({
    "x-ratelimit-limit-tokens": 50,
    "x-ratelimit-remaining-tokens": 15,
    "x-ratelimit-reset-tokens": "30s",
    "x-weir-budget-warning": "usdPerMonth=0.91",
  });
  expect(limitHeaders([limit({ used: 130 })], nowMs)["x-ratelimit-remaining-tokens"]).toBe(0);
  expect(limitHeaders([], nowMs)).toEqual({});
});

it("says why a request is refused, and when it may come again", () => {
  const refused = (more: Partial<BudgetRefusal>) => {
    const { error, headers } = budgetRefusal(limit(more), { key: "app", prompt: { tokens: 100, nanoUsd: 2e9 }, nowMs });
    return [error.status, error.code, error.message, headers["retry-after"], headers["x-should-retry"]];
  };
  const next = "The next day begins at 2026-02-01T00:00:00.000Z.";
  expect(refused({ used: 100 })).toEqual([
    429,
    "token_limit_exceeded",
    `The key app has used its 100 tokens of this day. ${next}`,
    "43200",
    "false",
  ]);
  expect(refused({})[2]).toBe(`The request may need 50 tokens, and the key app has 40 tokens left of 100 tokens a day. ${next}`);
  expect(refused({ needed: 101 })).toEqual([
    429,
    "token_limit_exceeded",
    "The request may need 101 tokens, but the key app may use 100 tokens a day: ask with a lower max_tokens.",
    undefined,
    "false",
  ]);
  expect(refused({ most: 99, needed: 101 })[2]).toBe(
    "The prompt alone may have 100 tokens, but the key app may use 99 tokens a day: send a shorter one.",
  );
  expect(refused({ used: 10, reserved: 80, needed: 20 }).slice(2)).toEqual([
    "Requests in flight have reserved 80 tokens of the key app, which may use 100 tokens a day: send the request again when one of them has ended.",
    "1",
    undefined,
  ]);
  expect(refused({ most: 50, whole: 100, used: 50 })).toEqual([
    429,
    "token_limit_exceeded",
    "The gateway cannot reach the others with which it shares the limits of the key app, and its share of 100 tokens a day has no room for the request: send it again in some seconds.",
    "5",
    undefined,
  ]);
  const money = { name: "usdPerHour", unit: "usd", period: "hour", most: 2e9, used: 2e9, resetsAtMs: nowMs + 20_000 } as const;
  expect(refused(money)).toEqual([
    429,
    "budget_exceeded",
    "The key app has used its 2 USD of this hour. The next hour begins at 2026-01-31T12:00:20.000Z.",
    "20",
    undefined,
  ]);
});
