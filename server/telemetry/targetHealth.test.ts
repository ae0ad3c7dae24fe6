import { describe, expect, it } from "vitest";
import type { ScrapeFailure } from "./scrape";
import { createTargetHealth } from "./targetHealth";
import { createTestClock } from "./testing/testClock";

const refused: ScrapeFailure = { ok: false, kind: "unreachable", reason: "ECONNREFUSED" };
const late: ScrapeFailure = { ok: false, kind: "timeout", reason: "too slow" };

/** A target scraped once a second on its own clock. */
function target() {
  const clock = createTestClock(0);
  const startMs = clock.steadyMs();
  const health = createTargetHealth({ intervalMs: 1000, clock });
  const fail = (why: ScrapeFailure, beganMs: number): void => health.failed(why, startMs + beganMs);
  return { health, clock, fail, at: (ms: number) => clock.pass(ms - clock.wallMs()) };
}

describe("a target's health", () => {
  it("is asked ever more rarely while it fails, every five periods at last, and says when next", () => {
    const { health, at, fail } = target();
    const tried: number[] = [];
    for (let ms = 0; ms <= 30_000; ms += 1000) {
      at(ms);
      if (!health.isDue()) continue;
      tried.push(ms / 1000);
      fail(refused, ms);
      expect(health.state().failing?.nextTryAtMs).toBeGreaterThan(ms);
    }
    expect(tried).toEqual([0, 1, 3, 7, 12, 17, 22, 27]);
    expect(health.isFailing()).toBe(true);
    expect(health.state().failing).toEqual({ kind: "unreachable", sinceMs: 0, nextTryAtMs: 32_000 });
    health.succeeded();
    expect(health.isDue()).toBe(true);
    expect(health.state().failing).toBeNull();
  });

  it("says since when it is in its state, and since when and how scrapes fail", () => {
    const { health, at, fail } = target();
    at(500);
    health.succeeded();
    expect(health.state()).toMatchObject({ state: "fresh", sinceMs: 500, failing: null, reason: "" });
    at(2000);
    fail(late, 1000);
    expect(health.state()).toMatchObject({ state: "fresh", sinceMs: 500, failing: { kind: "timeout", sinceMs: 2000 } });
    at(4000);
    expect(health.state()).toMatchObject({ state: "stale", sinceMs: 4000, reason: "too slow" });
    at(4500);
    fail(refused, 4500);
    expect(health.state()).toMatchObject({ state: "unreachable", sinceMs: 4500, failing: { kind: "unreachable", sinceMs: 4500 } });
    at(9000);
    fail(refused, 9000);
    expect(health.state()).toMatchObject({ sinceMs: 4500, failing: { sinceMs: 4500 } });
    at(10_000);
    health.succeeded();
    expect(health.state()).toMatchObject({ state: "fresh", sinceMs: 10_000 });
    expect(health.state().events.map(({ atMs, kind }) => [atMs, kind])).toEqual([
      [2000, "timeout"],
      [4500, "unreachable"],
      [10_000, "answers"],
    ]);
  });

  it("goes on as before when the clock is set back or forth: it is tried when due, grows old, and tells how long it was away", () => {
    for (const setMs of [-3_600_000, 3_600_000]) {
      const { health, clock, fail } = target();
      health.succeeded();
      fail(refused, 0);
      expect(health.isDue()).toBe(false);
      clock.set(setMs);
      expect(health.isDue()).toBe(false);
      clock.pass(1000);
      expect(health.isDue()).toBe(true);
      expect(health.state()).toMatchObject({ state: "fresh", ageSeconds: 1 });
      clock.pass(4000);
      expect(health.state()).toMatchObject({ state: "unreachable", ageSeconds: 5, sinceMs: setMs + 5000 });
      fail(refused, 5000);
      expect(health.state().failing?.nextTryAtMs).toBe(setMs + 7000);
      clock.pass(2000);
      health.succeeded();
      expect(health.state().events.at(-1)).toMatchObject({ atMs: setMs + 7000, text: expect.stringContaining("7.0 s after") });
    }
  });

  it("keeps the last few events only", () => {
    const { health } = target();
    for (let one = 0; one < 20; one += 1) health.note("counters-reset", `${one}`);
    expect(health.state().events.map(({ text }) => text)).toEqual(["12", "13", "14", "15", "16", "17", "18", "19"]);
  });
});
