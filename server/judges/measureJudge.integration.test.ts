import { afterEach, describe, expect, it } from "vitest";
import { judgePrompt } from "@/solver/judging/judgePrompt";
import { secondsAt } from "@/solver/judging/judgeTime";
import { measureJudge } from "./measureJudge";
import { startTestJudge, type TestJudge, type TestJudgeOptions } from "./testing/testJudge";

const signal = new AbortController().signal;
let judge: TestJudge | null = null;
afterEach(async () => {
  await judge?.close();
  judge = null;
});

async function measured(is: TestJudgeOptions, keyFromEnvironment?: string) {
  judge = await startTestJudge(is);
  const access = keyFromEnvironment === undefined ? {} : { key: { environment: keyFromEnvironment } };
  return measureJudge({ model: "our-judge", url: judge.url, ...access }, { signal, callLimitMs: 300 });
}

describe("a test of a judge", () => {
  it("measures real judgements of different lengths: mean, percentiles and how the time grows", async () => {
    const { fault, findings, times } = await measured({ takesMs: (characters) => 10 + characters / 100 });
    expect(fault).toBeNull();
    expect(findings).toMatchObject([{ what: "judge", level: "ok", sentence: expect.stringContaining("our-judge") }]);
    if (times === null) throw new Error("nothing was measured");
    expect(times.calls).toBeGreaterThanOrEqual(9);
    expect(times.p50Seconds).toBeLessThan(times.p95Seconds);
    // A prompt of 4,000 characters takes 40 ms longer than an empty one.
    const [short, long] = [25, 1000].map((tokens) => secondsAt(times.meanSeconds, times.variation, tokens));
    expect((long ?? 0) - (short ?? 0)).toBeGreaterThan(0.02);
    expect((long ?? 0) - (short ?? 0)).toBeLessThan(0.08);
  });

  it("asks each time about another text from its first words on, so that an engine's prefix cache shortens no call", async () => {
    await measured({});
    const asked = judge?.messages() ?? [];
    expect(asked.length).toBeGreaterThanOrEqual(10);
    expect(new Set(asked).size).toBe(asked.length);
    const fixed = judgePrompt("user: ", "").indexOf("user: ") + "user: ".length;
    expect(new Set(asked.map((text) => text.slice(fixed, fixed + 8))).size).toBe(asked.length);
  });

  it("leaves out lengths that the judge refuses, and says so", async () => {
    const { fault, findings, times } = await measured({ mostCharacters: 2500 });
    expect(fault).toBeNull();
    expect(times?.calls).toBeGreaterThan(0);
    expect(findings).toContainEqual(expect.objectContaining({ level: "warn", sentence: expect.stringContaining("4000 characters") }));
  });

  it.each([
    ["refuses connections", "unreachable", {}],
    ["never answers", "timed-out", { hangs: true }],
    ["answers with an error", "failed", { status: 500 }],
    ["does not know the model", "not-found", { status: 404 }],
    ["wants a key", "key-refused", { key: "sesame" }],
    ["answers text that is no score", "no-score", { reply: "It is a fine answer." }],
  ] as const)("says in one sentence that the judge %s, and what to do", async (what, kind, is) => {
    judge = await startTestJudge(is);
    const { url } = judge;
    if (what === "refuses connections") await judge.close();
    const beganMs = performance.now();
    const { fault, findings, times } = await measureJudge({ model: "our-judge", url }, { signal, callLimitMs: 300 });
    expect(performance.now() - beganMs).toBeLessThan(3_000);
    expect({ fault, times }).toEqual({ fault: kind, times: null });
    expect(findings).toHaveLength(1);
    const [finding] = findings;
    expect(finding).toMatchObject({ what: "judge", level: "failed" });
    expect(finding?.sentence).toMatch(/^[^.]+(\.\d[^.]*)*\.$/);
    expect(finding?.next).toMatch(/\.$/);
    if (what === "refuses connections") judge = null;
  });

  it("says that the key is not set where the studio runs, without a call", async () => {
    const { fault, findings } = await measured({}, "WEIR_JUDGE_KEY_OF_NOBODY");
    expect(fault).toBe("no-key");
    expect(findings[0]?.sentence).toContain("WEIR_JUDGE_KEY_OF_NOBODY");
    expect(judge?.calls()).toBe(0);
  });

  it("ends within its time where each call takes nearly all of it", async () => {
    judge = await startTestJudge({ takesMs: () => 250 });
    const beganMs = performance.now();
    const { fault, times } = await measureJudge({ model: "our-judge", url: judge.url }, { signal, callLimitMs: 900, limitMs: 1_000 });
    expect(performance.now() - beganMs).toBeLessThan(2_000);
    expect(fault).toBeNull();
    expect(times?.calls).toBeGreaterThan(0);
    expect(times?.meanSeconds).toBeGreaterThan(0.2);
  });
});
