import { describe, expect, it } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { ClusterJudge, JudgeRecord } from "@/server/contracts/studio/judges";
import { judgeTimeInUse, trafficRatio } from "./judgeInUse";
import { settledTraffic, trafficTimes } from "./trafficTimes";

const nowMs = Date.parse("2026-11-01T12:00:00Z");
const ago = (minutes: number): string => new Date(nowMs - minutes * 60_000).toISOString();
const times = (meanSeconds: number, calls = 100) => ({
  ...{ calls, meanSeconds, p50Seconds: meanSeconds, p95Seconds: 2 * meanSeconds },
  variation: { tokens: 100, lengthShare: 0.5, logSpread: 0.4 },
});
const test = (meanSeconds: number, minutes: number): ClusterJudge["test"] => ({
  ...{ testedAt: ago(minutes), fault: null, findings: [], times: times(meanSeconds, 15) },
});
const traffic = (meanSeconds: number, minutes: number): ClusterJudge["traffic"] => ({
  ...{ times: times(meanSeconds), latestAt: ago(minutes), settled: { calls: 100, at: ago(minutes) } },
});
const inUse = (known: Partial<Pick<JudgeRecord, "test" | "timed" | "traffic" | "entered">>) =>
  judgeTimeInUse({ test: null, traffic: null, entered: null, ...known }, nowMs);

describe("the time of a judge that plans take", () => {
  it("is assumed, and called so, while nothing is known", () => {
    expect(inUse({})).toEqual({ secondsPerCall: 0.27, p95Seconds: null, variation: null, source: { kind: "assumed" }, stale: false });
    const failed = { testedAt: ago(1), fault: "timed-out", findings: [], times: null } as const;
    expect(inUse({ test: failed }).source.kind).toBe("assumed");
  });

  it("is what was entered, whatever was measured, and varies as measured", () => {
    const entered = { secondsPerCall: 0.5, at: ago(1), by: "o" };
    expect(inUse({ entered, test: test(0.02, 1) })).toMatchObject({ secondsPerCall: 0.5, p95Seconds: 1, source: { kind: "entered" } });
    expect(inUse({ entered })).toMatchObject({ secondsPerCall: 0.5, p95Seconds: null, variation: null });
  });

  it("is of traffic while that is fresh, even after a later test, which calls an idle judge", () => {
    expect(inUse({ test: test(0.02, 1), traffic: traffic(0.06, 30) })).toMatchObject({
      ...{ secondsPerCall: 0.06, stale: false },
      source: { kind: "measured-from-traffic", calls: 100, measuredAt: ago(30) },
    });
  });

  it("is of whichever is newer where traffic is older than an hour, and stale where both are old", () => {
    expect(inUse({ test: test(0.02, 5), traffic: traffic(0.06, 90) })).toMatchObject({ secondsPerCall: 0.02, stale: false });
    expect(inUse({ test: test(0.02, 3000), traffic: traffic(0.06, 90) })).toMatchObject({ secondsPerCall: 0.06, stale: true });
    expect(inUse({ test: test(0.02, 60 * 25) })).toMatchObject({ source: { kind: "measured-at-attach" }, stale: true });
  });

  it("is of the last test that brought times after one that failed, and as old as that one", () => {
    const failed = { testedAt: ago(1), fault: "timed-out", findings: [], times: null } as const;
    const known = { test: failed, timed: test(0.02, 60 * 25) };
    expect(inUse(known)).toMatchObject({ secondsPerCall: 0.02, stale: true, source: { measuredAt: ago(60 * 25) } });
    expect(inUse({ ...known, timed: test(0.02, 5) })).toMatchObject({ secondsPerCall: 0.02, stale: false });
    expect(trafficRatio({ ...known, traffic: traffic(0.06, 1), entered: null })).toBeCloseTo(3, 9);
  });

  it("is said to differ where traffic shows a quarter more or less than was measured or entered", () => {
    const known = { test: test(0.02, 5), traffic: traffic(0.06, 1), entered: null };
    expect(trafficRatio(known)).toBeCloseTo(3, 9);
    expect(trafficRatio({ ...known, entered: { secondsPerCall: 0.06, at: ago(1), by: "o" } })).toBeNull();
    expect(trafficRatio({ ...known, traffic: null })).toBeNull();
    expect(trafficRatio({ ...known, traffic: traffic(0.022, 1) })).toBeNull();
  });
});

describe("the judge's time in traffic", () => {
  const decision = (minutes: number, judgeSeconds: number | null, more: object = {}): Decision =>
    ({
      ...{ planId: "p", finishedAtMs: nowMs - minutes * 60_000, inputTokens: 50 },
      stages: [{ judgeSeconds, judgedScore: judgeSeconds === null ? null : 80, inputTokens: null, outputTokens: 50 }],
      ...more,
    }) as unknown as Decision;
  const options = { sinceMs: 0, isOutside: (planId: string) => planId === "p" };
  const many = (count: number, minutes: number, seconds: number) => Array.from({ length: count }, () => decision(minutes, seconds));

  it("needs 50 judgements, leaves out those before the judge was this one, of other judges, and without a score", () => {
    expect(trafficTimes(many(49, 1, 0.05), options)).toBeNull();
    expect(trafficTimes(many(50, 1, 0.05), options)).toMatchObject({ times: { calls: 50 }, latestAt: ago(1) });
    expect(trafficTimes(many(50, 1, 0.05), { ...options, sinceMs: nowMs })).toBeNull();
    expect(trafficTimes(many(50, 1, 0.05), { ...options, isOutside: () => false })).toBeNull();
    const unscored = many(50, 1, 0.05).map(({ stages, ...rest }) => ({
      ...rest,
      stages: stages.map((one) => ({ ...one, judgedScore: null })),
    }));
    expect(trafficTimes(unscored, options)).toBeNull();
  });

  it("counts a call that ran into its limit at that limit, and none that failed at once", () => {
    const unscored = (unscored: string, judgeSeconds: number) =>
      decision(1, 0, { stages: [{ judgeSeconds, judgedScore: null, unscored, inputTokens: null, outputTokens: 50 }] });
    const late = Array.from({ length: 50 }, () => unscored("too-late", 10));
    const failed = Array.from({ length: 50 }, () => unscored("failed", 0.001));
    const found = trafficTimes([...many(50, 1, 0.1), ...late, ...failed], options);
    expect(found?.times.calls).toBe(100);
    expect(found?.times.meanSeconds).toBeCloseTo(5.05, 9);
    expect(found?.times.p95Seconds).toBe(10);
  });

  it("is of the last ten minutes before the latest, and of the newest 50 where those are fewer", () => {
    const found = trafficTimes([...many(60, 1, 0.1), ...many(60, 20, 0.9)], options);
    expect(found?.times.meanSeconds).toBeCloseTo(0.1, 9);
    expect(trafficTimes([...many(10, 1, 0.1), ...many(60, 20, 0.9)], options)?.times.calls).toBe(50);
  });

  it("stays what plans were made with until it differs by a twentieth", () => {
    const seen = (meanSeconds: number, calls: number, at: string) => ({
      times: times(meanSeconds, calls),
      latestAt: at,
      settled: { calls, at },
    });
    const before = seen(0.1, 60, ago(5));
    expect(settledTraffic(before, seen(0.102, 90, ago(1)))).toEqual({ ...before, times: times(0.1, 90), latestAt: ago(1) });
    const moved = seen(0.11, 90, ago(1));
    expect(settledTraffic(before, moved)).toEqual(moved);
    expect(settledTraffic(null, moved)).toEqual(moved);
  });
});
