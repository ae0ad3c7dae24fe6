import { describe, expect, it } from "vitest";
import type { TrafficReport } from "@/server/contracts/studio";
import { trafficRows, trafficWindow } from "./prepareTraffic";

const report: TrafficReport = {
  planId: "p",
  windowSeconds: 300,
  last: { at: "2026-01-01T14:05:00", requests: 1234, seconds: 301 },
  gauges: [
    { name: "rate", kind: "rate", planned: 54, now: 110.4, level: 2.31, drifted: true },
    { name: "input tokens", kind: "tokens", planned: 211.4, now: 209.8, level: 0.12, drifted: false },
    { name: "score of a", kind: "score", planned: 61.24, now: null, level: null, drifted: false },
  ],
  driftedSince: "2026-01-01T14:05:00",
  says: null,
};

describe("trafficRows", () => {
  it("gives each in its unit beside what was planned, and what was not seen as absent, never as zero", () => {
    expect(trafficRows(report).map(({ planned, now, level, word }) => [planned, now, level, word])).toEqual([
      ["54/s", "110/s", "2.31 × the limit", "drifted"],
      ["211 tokens", "210 tokens", "0.12 × the limit", "as planned"],
      ["61.2 points", "–", "–", "too little seen"],
    ]);
  });
});

describe("trafficWindow", () => {
  it("says what was judged last, or that nothing was", () => {
    expect(trafficWindow(report)).toContain("1,234 requests, 14:05:00");
    expect(trafficWindow({ ...report, last: null })).toContain("none ended yet");
  });
});
