import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LiveHistory, type LiveSample, steadyWindows } from "./steadyWindows";

/** A second of an engine that answers `rate` requests a second of 500 prompt and 100 answer tokens, each in 5 s. */
const second = (at: number, rate: number): LiveSample => ({
  atMs: 1000 * at,
  running: 5 * rate,
  runningAtEnd: 5 * rate,
  waiting: 0,
  requestsPerSecond: rate,
  promptTokensPerSecond: 500 * rate,
  generationTokensPerSecond: 100 * rate,
  preemptionsPerSecond: 0,
  prefixHitShare: 0,
  ttftSeconds: 0.05,
  tpotSeconds: 0.05,
  endToEndSeconds: 5,
});
const seconds = (count: number, rate: (at: number) => number = () => 4): LiveSample[] =>
  Array.from({ length: count }, (_, at) => second(at, rate(at)));

const history = (samples: readonly LiveSample[], change: Partial<LiveHistory> = {}): LiveHistory => ({
  samples,
  sampleMs: 1000,
  lookBackMs: 15_000,
  timeScale: 1,
  resetsMs: [],
  ...change,
});
const steady = (samples: readonly LiveSample[], change?: Partial<LiveHistory>) => steadyWindows(history(samples, change));
const changed = (change: Partial<LiveSample>) => seconds(200).map((sample) => ({ ...sample, ...change }));

describe("windows of steady load", () => {
  it("are cut as soon as they are long enough, after the time over which the first rates look back", () => {
    const { windows, leftOutSeconds } = steady(seconds(150));
    expect(windows.map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual([
      [15_000, 75_000],
      [75_000, 135_000],
    ]);
    expect(leftOutSeconds).toMatchObject({ gap: 15, short: 15, unsteady: 0 });
    expect(windows[0]).toMatchObject({ requests: 240, inputTokens: 500, outputTokens: 100 });
    expect(windows[0]?.ttftSeconds).toBeCloseTo(0.05, 9);
    expect(windows[0]?.concurrency).toBeCloseTo(20, 9);
  });

  it("last longer where requests are few, and count in engine seconds", () => {
    expect(steady(seconds(300, () => 0.5)).windows.map(({ fromMs, toMs }) => toMs - fromMs)).toEqual([200_000]);
    // 60 engine seconds are 3 s of wall time here, but a window is never shorter than the interval over which rates are averaged.
    const [window] = steady(seconds(60), { timeScale: 20 }).windows;
    expect(window).toMatchObject({ fromMs: 15_000, toMs: 30_000, requests: 4 * 20 * 15, requestsPerSecond: 4 });
  });

  it("hold as many requests as one request saw: one more than the mean where arrivals are random", () => {
    const samples = seconds(75).map((sample, at) => ({ ...sample, runningAtEnd: 20 + (at % 2 === 0 ? 1 : -1) * Math.sqrt(20) }));
    expect(steady(samples).windows[0]?.concurrency).toBeCloseTo(21, 9);
  });

  it("tell time per token from the others where the engine does not", () => {
    expect(steady(seconds(75).map((sample) => ({ ...sample, tpotSeconds: null }))).windows[0]?.tpotSeconds).toBeCloseTo(0.05, 9);
  });

  it("weigh latencies by how many requests had them", () => {
    const samples = seconds(75).map((sample, at) => (at % 2 === 0 ? sample : { ...second(at, 3.6), ttftSeconds: 0.07 }));
    expect(steady(samples).windows[0]?.ttftSeconds).toBeCloseTo((0.05 * 4 + 0.07 * 3.6) / 7.6, 6);
  });

  it.each([
    ["waiting", { waiting: 4 }],
    ["preempted", { preemptionsPerSecond: 0.5 }],
    ["prefix", { prefixHitShare: 0.2 }],
    ["inconsistent", { endToEndSeconds: 9 }],
    ["inconsistent", { tpotSeconds: 0.1 }],
    ["idle", { requestsPerSecond: 0, ttftSeconds: null }],
    ["gap", { endToEndSeconds: null }],
  ] as const)("are none while the reason is %s", (reason, change) => {
    const { windows, leftOutSeconds } = steady(changed(change));
    expect(windows).toEqual([]);
    expect(leftOutSeconds[reason]).toBeGreaterThan(100);
  });

  it("are none while the load climbs or falls by half within them", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.012, max: 0.05, noNaN: true }),
        fc.boolean(),
        fc.integer({ min: 100, max: 300 }),
        (speed, falls, count) => {
          const samples = seconds(count, (at) => 8 * Math.exp(speed * (falls ? count - at : at)));
          expect(steady(samples).windows).toEqual([]);
        },
      ),
    );
  });

  it("never hold a gap, a reset or the time over which rates look back behind them, and account for all time once", () => {
    const breaks = fc.array(fc.record({ at: fc.integer({ min: 1, max: 899 }), kind: fc.constantFrom("gap", "silent", "reset") }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(breaks, (broken) => {
        const lost = new Set(broken.flatMap(({ at, kind }) => (kind === "gap" ? [at, at + 1, at + 2, at + 3] : [])));
        const silent = new Set(broken.flatMap(({ at, kind }) => (kind === "silent" ? [at] : [])));
        const samples = seconds(900)
          .filter((_, at) => !lost.has(at))
          .map((sample) => (silent.has(sample.atMs / 1000) ? { ...sample, ttftSeconds: null } : sample));
        const resetsMs = broken.flatMap(({ at, kind }) => (kind === "reset" ? [1000 * at] : []));
        const { windows, leftOutSeconds } = steady(samples, { resetsMs });
        const ends = [...resetsMs, ...[...lost, ...silent].map((at) => 1000 * at)];
        for (const { fromMs, toMs } of windows) {
          for (const end of ends) expect(toMs <= end + 1000 || fromMs >= end + 14_000).toBe(true);
        }
        for (const [index, { fromMs }] of windows.entries()) expect(fromMs).toBeGreaterThanOrEqual(windows[index - 1]?.toMs ?? 0);
        const used = windows.reduce((sum, { fromMs, toMs }) => sum + (toMs - fromMs) / 1000, 0);
        const left = Object.values(leftOutSeconds).reduce((sum, one) => sum + one, 0);
        expect(used + left).toBeCloseTo(samples.length, 6);
      }),
    );
  });
});
