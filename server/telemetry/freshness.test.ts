import { describe, expect, it } from "vitest";
import { type FreshnessFacts, freshness } from "./freshness";

const failed = (kind: "unreachable" | "timeout"): FreshnessFacts["failure"] => ({ ok: false, kind, reason: kind });

/** Freshness of a sample so many seconds old, scraped once a second. */
const aged = (seconds: number, failure: FreshnessFacts["failure"] = null) =>
  freshness({ nowMs: 100_000, intervalMs: 1000, lastGoodAtMs: 100_000 - seconds * 1000, failure });

describe("freshness", () => {
  it("counts a sample as fresh for three periods, even while scrapes fail, and then says why they do", () => {
    expect(aged(1)).toEqual({ state: "fresh", ageSeconds: 1, reason: "" });
    expect(aged(3, failed("timeout"))).toEqual({ state: "fresh", ageSeconds: 3, reason: "timeout" });
    expect(aged(3.1, failed("timeout")).state).toBe("stale");
  });

  it("calls a target unreachable after ten periods, and one that refuses connections as soon as its sample is old", () => {
    expect(aged(10, failed("timeout")).state).toBe("stale");
    expect(aged(10.1, failed("timeout")).state).toBe("unreachable");
    expect(aged(3.1, failed("unreachable")).state).toBe("unreachable");
  });

  it("has no sample to show before the first one came", () => {
    const never = (failure: FreshnessFacts["failure"]) => freshness({ nowMs: 0, intervalMs: 1000, lastGoodAtMs: null, failure });
    expect(never(null)).toMatchObject({ state: "unreachable", reason: "not scraped yet" });
    expect(never(failed("timeout"))).toMatchObject({ state: "unreachable", reason: "timeout" });
  });
});
