import { environmentManager, QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { rangeRefresh } from "./useMeasuredRange";

const NOW_MS = Date.UTC(2026, 2, 1, 12);

beforeEach(() => {
  environmentManager.setIsServer(() => false);
  vi.useFakeTimers({ now: NOW_MS });
});
afterEach(() => {
  vi.useRealTimers();
  environmentManager.setIsServer(() => true);
});

/** How often a page that stays open for so many seconds requests a range. */
async function asked(zoom: Parameters<typeof rangeRefresh>[0], seconds: number): Promise<number> {
  const client = new QueryClient();
  const queryFn = vi.fn(async () => "measured");
  const leave = new QueryObserver(client, { queryKey: ["range"], queryFn, ...rangeRefresh(zoom) }).subscribe(() => {});
  await vi.advanceTimersByTimeAsync(seconds * 1000);
  leave();
  client.clear();
  return queryFn.mock.calls.length;
}

it("asks for a range that follows the present every two seconds", async () => {
  expect(await asked(null, 21)).toBe(11);
});

it("asks once for a stretch that lies in the past, which cannot change", async () => {
  expect(await asked({ fromMs: NOW_MS - 3_600_000, toMs: NOW_MS - 1_800_000 }, 600)).toBe(1);
});

it("asks for a stretch that has only just ended until its records are in", async () => {
  const times = await asked({ fromMs: NOW_MS - 60_000, toMs: NOW_MS - 40_000 }, 600);
  expect(times).toBeGreaterThan(5);
  expect(times).toBeLessThan(15);
});
