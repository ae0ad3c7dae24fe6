import { expect, it } from "vitest";
import { jobRefreshMs, leftText, prepareJob, shareText, suggestedCap, wayOut } from "./prepareJob";
import { testJob } from "./testProfile";

const pause = (kind: NonNullable<ReturnType<typeof testJob>["pause"]>["kind"]) => ({ kind, reason: "Why.", since: "2026-01-01T00:00:00Z" });

it("tells how far a job is by model and by measure, and what gave no score", () => {
  const { says, share, models, measures, word } = prepareJob(testJob());
  expect([word, says]).toEqual(["running", "600 of 3,000 calls, 20\u00a0%"]);
  expect(share).toBeCloseTo(0.2);
  expect(models[0]).toMatchObject({ done: 0.2, failed: 0, says: "100 of 500", details: ["200 tokens a mean answer", "2.00\u00a0s each"] });
  expect(measures[0]).toMatchObject({ done: 0.2, failed: 0, says: "200 of 1,000" });
  expect(measures[1]).toMatchObject({ done: 0.1, failed: 0.1, says: "200 of 1,000, 100 answers scored" });
  expect(measures[1]?.details).toEqual(["mean score 60.0", "no calls", "100 have no reference answer"]);
});

it("counts failures among what is over, and says them", () => {
  const job = testJob({ models: [{ planned: 10, done: 4, failed: 1, model: "m", meanOutputTokens: null, cut: 0, meanSeconds: null }] });
  expect(prepareJob(job).models[0]).toMatchObject({ done: 0.4, failed: 0.1, says: "4 of 10, 1 failed", details: [] });
});

it("is never at 100 % while a call is left", () => {
  expect(shareText({ total: { planned: 1000, done: 999, failed: 0, inFlight: 1 } })).toBe("99\u00a0%");
  expect(shareText({ total: { planned: 1000, done: 999, failed: 1, inFlight: 0 } })).toBe("100\u00a0%");
  expect(shareText({ total: { planned: 0, done: 0, failed: 0, inFlight: 0 } })).toBe("0\u00a0%");
});

it("tells a pause of somebody from one of its own, each with a way out", () => {
  expect(wayOut(testJob())).toBeNull();
  for (const kind of ["operator", "cap", "model-down", "problem"] as const) {
    const job = testJob({ state: "paused", pause: pause(kind) });
    expect(wayOut(job)?.kind).toBe(kind === "cap" ? "cap" : "resume");
    expect(prepareJob(job).tone).toBe(kind === "operator" || kind === "cap" ? "warn" : "bad");
  }
});

it("suggests a cap that holds the rest of each model and each measure by its own cost", () => {
  const { request, measures } = testJob();
  const priced = { ...request, models: request.models.map((each, at) => (at === 0 ? { ...each, usdPerMillionOutputTokens: 10 } : each)) };
  // 400 answers of 200 tokens at $10 a million are $0.80; a fifth more, plus the amount spent, is $1.96.
  expect(suggestedCap(testJob({ spentUsd: 1, request: priced }))).toBe(2);
  // 800 readings are left of a judge whose first 200 cost $1.
  const judged = measures.map((each, at) => (at === 0 ? { ...each, usd: 1 } : each));
  expect(suggestedCap(testJob({ spentUsd: 1, measures: judged }))).toBe(5.8);
  expect(suggestedCap(testJob({ spentUsd: 0.4, request: { ...request, capUsd: 5 } }))).toBe(5);
  expect(suggestedCap(testJob({ spentUsd: 0 }))).toBe(0.01);
});

it("promises no time while nothing moves", () => {
  expect(leftText(testJob())).toBe("about 10\u00a0min left");
  expect(leftText(testJob({ etaSeconds: null }))).toBeNull();
  expect(leftText(testJob({ state: "paused" }))).toBeNull();
});

it("looks at a running job every second, and at one that is over no more", () => {
  expect(jobRefreshMs("running")).toBe(1000);
  expect(jobRefreshMs("paused")).toBe(5000);
  expect(jobRefreshMs("done")).toBe(false);
});
