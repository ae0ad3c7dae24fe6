import { expect, it } from "vitest";
import type { KeyLimits } from "@/server/contracts/gateway/gatewayKeys";
import { BudgetStore } from "./budgetStore";

const noon = Date.parse("2026-01-31T12:00:00Z");
const day = 86_400_000;

function storeOf(limits: Record<string, KeyLimits>, clock: { nowMs: number }): BudgetStore {
  return new BudgetStore({ limitsOf: (sha256) => limits[sha256], nowMs: () => clock.nowMs });
}

it("keeps what was used over a start without the key's limits, until the windows have ended", async () => {
  const clock = { nowMs: noon };
  const limits = { one: { tokensPerDay: 10 } };
  const first = storeOf(limits, clock);
  await first.reserve("one", { tokens: 8, nanoUsd: 0 });
  await first.settle("one", { tokens: 8, nanoUsd: 0 }, { tokens: 8, nanoUsd: 0 });
  const without = storeOf({}, clock);
  without.restore(first.text);
  const again = storeOf(limits, clock);
  again.restore(without.text);
  expect(again.states("one")).toMatchObject([{ name: "tokensPerDay", used: 8, reserved: 0 }]);
  expect(again.text).toBe(first.text);
  clock.nowMs += day;
  expect(without.text).toBe("{}");
});

it("keeps the use of a key whose limits were removed in this process", async () => {
  const clock = { nowMs: noon };
  const limits: Record<string, KeyLimits> = { one: { tokensPerDay: 10 } };
  const store = storeOf(limits, clock);
  await store.reserve("one", { tokens: 8, nanoUsd: 0 });
  delete limits.one;
  expect(JSON.parse(store.text)).toMatchObject({ one: { reserved: { tokens: 8 } } });
  clock.nowMs += day;
  expect(store.text).toBe("{}");
});
