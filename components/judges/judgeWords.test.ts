import { expect, test } from "vitest";
import type { JudgeHealth } from "@/server/contracts/studio";
import { driftWords, healthWords, plannedWords, sourceWords, testWords } from "./judgeWords";

const nowMs = Date.parse("2026-11-01T12:00:00Z");
const minutesAgo = (minutes: number): string => new Date(nowMs - minutes * 60_000).toISOString();
const times = {
  ...{ calls: 15, meanSeconds: 0.02, p50Seconds: 0.018, p95Seconds: 0.031 },
  variation: { tokens: 100, lengthShare: 0, logSpread: 0.2 },
};
const plain = (text: string): string => text.replaceAll("\u00a0", " ");

test("a judge's time is told with where it is known from and how old it is", () => {
  const source = { kind: "measured-from-traffic", calls: 400, measuredAt: minutesAgo(3) } as const;
  expect(plain(sourceWords(source, nowMs))).toBe("measured in traffic (400 calls), 3 min ago");
  expect(sourceWords({ kind: "assumed" }, nowMs)).toBe("assumed, not measured");
  expect(sourceWords({ kind: "entered" }, nowMs)).toBe("entered, not measured");
  expect(plain(plannedWords({ secondsPerCall: 0.02, p95Seconds: 0.031, source }))).toBe("20 ms a call, p95 31 ms");
  expect(plain(testWords({ testedAt: minutesAgo(0), fault: null, findings: [], times }, nowMs))).toBe(
    "mean 20 ms, p50 18 ms, p95 31 ms, of 15 calls; just now",
  );
  expect(plain(testWords({ testedAt: minutesAgo(5), fault: "timed-out", findings: [], times: null }, nowMs))).toBe("no score, 5 min ago");
});

test("traffic that differs is held against what was entered, else against the test", () => {
  expect(driftWords({ trafficRatio: 3, entered: null })).toBe("In traffic a call takes 3.0 times as long as measured by the test.");
  expect(driftWords({ trafficRatio: 0.5, entered: { secondsPerCall: 1, at: "", by: "" } })).toContain(
    "0.5 times as long as the time entered",
  );
  expect(driftWords({ trafficRatio: null, entered: null })).toBeNull();
});

test("a judge's health is a word, the reason where it is not well, and its last answers", () => {
  const health: JudgeHealth = {
    ...{ model: "j", state: "circuit-open", reason: "the judge answered 500", scored: 4, failed: 3 },
    ...{ lastScoreAt: minutesAgo(2), lastFailureAt: minutesAgo(0) },
  };
  const { word, tone, says } = healthWords(health, nowMs);
  expect({ word, tone }).toEqual({ word: "not called: it failed repeatedly", tone: "bad" });
  expect(plain(says)).toBe("the judge answered 500; 4 scores, 3 failed; last score 2 min ago; last failure just now");
  const idle: JudgeHealth = { ...health, state: "idle", reason: "", scored: 0, failed: 0, lastScoreAt: null, lastFailureAt: null };
  expect(healthWords(idle, nowMs)).toEqual({ word: "not called yet", tone: "neutral", says: "" });
});
