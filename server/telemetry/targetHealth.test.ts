import { describe, expect, it } from "vitest";
import type { ScrapeFailure } from "./scrape";
import { createTargetHealth } from "./targetHealth";

const refused: ScrapeFailure = { ok: false, kind: "unreachable", reason: "ECONNREFUSED" };
const late: ScrapeFailure = { ok: false, kind: "timeout", reason: "too slow" };

/** A target scraped once a second on a clock of its own. */
function target() {
  let nowMs = 0;
  const health = createTargetHealth({ intervalMs: 1000, now: () => nowMs });
  const at = (ms: number): void => {
    nowMs = ms;
  };
  return { health, at };
}

describe("a target's health", () => {
  it("is asked ever more rarely while it fails, every five periods at last, and says when next", () => {
    const { health, at } = target();
    const tried: number[] = [];
    for (let ms = 0; ms <= 30_000; ms += 1000) {
      at(ms);
      if (!health.isDue()) continue;
      tried.push(ms / 1000);
      health.failed(refused, ms);
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
    const { health, at } = target();
    at(500);
    health.succeeded();
    expect(health.state()).toMatchObject({ state: "fresh", sinceMs: 500, failing: null, reason: "" });
    at(2000);
    health.failed(late, 1000);
    expect(health.state()).toMatchObject({ state: "fresh", sinceMs: 500, failing: { kind: "timeout", sinceMs: 2000 } });
    at(4000);
    expect(health.state()).toMatchObject({ state: "stale", sinceMs: 4000, reason: "too slow" });
    at(4500);
    health.failed(refused, 4500);
    expect(health.state()).toMatchObject({ state: "unreachable", sinceMs: 4500, failing: { kind: "unreachable", sinceMs: 4500 } });
    at(9000);
    health.failed(refused, 9000);
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

  it("keeps the last few events only", () => {
    const { health } = target();
    for (let one = 0; one < 20; one += 1) health.note("counters-reset", `${one}`);
    expect(health.state().events.map(({ text }) => text)).toEqual(["12", "13", "14", "15", "16", "17", "18", "19"]);
  });
});
