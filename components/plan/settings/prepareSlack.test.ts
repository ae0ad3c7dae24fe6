import { describe, expect, it } from "vitest";
import { type SlackFigures, slackEffect, slackSentence } from "./prepareSlack";

const fastest: SlackFigures = { quality: 80, latencySeconds: 2, gpusTotal: 16, costUsdPerRequest: 0.002 };
const says = (kind: Parameters<typeof slackEffect>[0]["kind"], slack: number | undefined, chosen: Partial<SlackFigures> | null) =>
  slackSentence(slackEffect({ kind, slack }, chosen === null ? null : { chosen: { ...fastest, ...chosen }, fastest }), kind);

describe("the effect of a slack", () => {
  it("is quality and GPUs for more p95, where the fastest plan is asked for", () => {
    expect(says("latency-under-quality", 0.25, { quality: 81.6, latencySeconds: 2.36, gpusTotal: 12, costUsdPerRequest: 0.0015 })).toBe(
      "+18\u00a0% p95 → +1.6 points, −4 GPUs",
    );
    expect(says("latency-under-quality", 0.25, { quality: 80.4, latencySeconds: 2.02 })).toBe("+1\u00a0% p95 → +0.4 points");
    expect(says("latency-under-quality", 0.25, { latencySeconds: 2.5, gpusTotal: 15 })).toBe("+25\u00a0% p95 → ±0 points, −1 GPU");
  });

  it("is GPUs and money for more p95, where the cheapest plan is asked for", () => {
    expect(says("cost-under-both", 0.2, { latencySeconds: 2.36, gpusTotal: 12, costUsdPerRequest: 0.0016 })).toBe(
      "+18\u00a0% p95 → −4 GPUs, −$0.000400 per request",
    );
    // The fastest plan may promise more than the floor; the cheapest gives that up.
    expect(says("cost-under-both", 0.2, { quality: 79, latencySeconds: 2.4, gpusTotal: 15 })).toContain("−1.0 points");
  });

  it("is nothing where the fastest plan stays the best", () => {
    expect(slackEffect({ kind: "latency-under-quality", slack: 0.3 }, { chosen: fastest, fastest })).toEqual({ kind: "nothing" });
    expect(says("latency-under-quality", 0.3, { quality: 80.01 })).toMatch(/^Nothing more to buy/);
  });

  it("says what off means, and that the highest quality has no use for it", () => {
    expect(says("cost-under-both", undefined, {})).toBe("Off: only the latency budget limits p95.");
    expect(says("latency-under-quality", undefined, {})).toBe("Off: the fastest plan at this floor.");
    expect(slackEffect({ kind: "quality-under-latency", slack: 0.3 }, null)).toEqual({ kind: "without-meaning" });
    expect(slackEffect({ kind: "cost-under-both", slack: 0 }, null)).toEqual({ kind: "unknown" });
  });
});
