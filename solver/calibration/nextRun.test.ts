import fc from "fast-check";
import { expect, test } from "vitest";
import { type MeasuredRun, spreadLengths } from "./measuredRun";
import { type NextRun, nextRun, type SweepBudget } from "./nextRun";

/** A made-up engine: how long a request takes. */
interface Speed {
  readonly perPromptToken: number;
  readonly perStep: number;
}

const endToEnd = (
  { perPromptToken, perStep }: Speed,
  { inputTokens, outputTokens, concurrency }: Omit<NextRun, "why" | "requests" | "seconds">,
) => perPromptToken * inputTokens * concurrency + perStep * (1 + concurrency / 16) * outputTokens;

const spread = 0.5;

/** Runs a sweep against a made-up engine until the planner ends it. */
function sweep(start: SweepBudget, speed: Speed, contextTokens: number, mostConcurrency: number) {
  const asked: NextRun[] = [];
  const done: MeasuredRun[] = [];
  let left = start;
  let next = nextRun({ contextTokens, spread, mostConcurrency, left, done, tried: asked, misfits: [] });
  while (next !== null && asked.length < 500) {
    asked.push(next);
    const seconds = endToEnd(speed, next);
    const rounds = Math.min(Math.ceil(next.requests / next.concurrency), Math.max(1, Math.ceil(next.seconds / seconds)));
    const requests = Math.min(next.requests, rounds * next.concurrency);
    left = { seconds: left.seconds - rounds * seconds, tokens: left.tokens - requests * (next.inputTokens + next.outputTokens) };
    const ttftSeconds = speed.perPromptToken * next.inputTokens * next.concurrency;
    const tpotSeconds = (seconds - ttftSeconds) / Math.max(1, next.outputTokens - 1);
    done.push({
      ...next,
      requests,
      seconds: rounds * seconds,
      ttftSeconds,
      tpotSeconds,
      endToEndSeconds: seconds,
      p50Seconds: seconds,
      p95Seconds: seconds,
    });
    next = nextRun({ contextTokens, spread, mostConcurrency, left, done, tried: asked, misfits: [] });
  }
  return { asked, left };
}

const speeds = fc.record({
  perPromptToken: fc.double({ min: 1e-6, max: 1e-3, noNaN: true }),
  perStep: fc.double({ min: 1e-4, max: 0.1, noNaN: true }),
});

test("a sweep ends by itself, never asks for more tokens than are left, and none of its requests is longer than the context", () => {
  fc.assert(
    fc.property(
      speeds,
      fc.record({ seconds: fc.double({ min: 1, max: 3600, noNaN: true }), tokens: fc.integer({ min: 0, max: 5_000_000 }) }),
      fc.integer({ min: 8, max: 131_072 }),
      fc.integer({ min: 1, max: 256 }),
      (speed, budget, contextTokens, mostConcurrency) => {
        const { asked, left } = sweep(budget, speed, contextTokens, mostConcurrency);
        expect(asked.length).toBeLessThan(500);
        expect(left.tokens).toBeGreaterThanOrEqual(0);
        for (const { inputTokens, outputTokens, concurrency, seconds, requests } of asked) {
          const drawn = spreadLengths({ inputTokens, outputTokens, spread }, 100);
          expect(Math.max(...drawn.inputTokens.map((input, at) => input + (drawn.outputTokens[at] ?? 0)))).toBeLessThanOrEqual(
            contextTokens,
          );
          expect(concurrency).toBeLessThanOrEqual(mostConcurrency);
          expect(seconds).toBeLessThanOrEqual(budget.seconds);
          expect(requests).toBeGreaterThanOrEqual(concurrency);
        }
      },
    ),
    { numRuns: 150 },
  );
});

test("a sweep with time enough covers 1 to the most requests in flight at four lengths or more, and repeats some runs", () => {
  const { asked } = sweep({ seconds: 3600, tokens: 1e8 }, { perPromptToken: 1e-4, perStep: 5e-3 }, 2048, 32);
  const rungs = new Set(asked.map(({ concurrency }) => concurrency));
  expect([...rungs].sort((a, b) => a - b)).toEqual([1, 2, 4, 8, 16, 32]);
  expect(new Set(asked.map(({ inputTokens, outputTokens }) => `${inputTokens} ${outputTokens}`)).size).toBeGreaterThanOrEqual(4);
  expect(asked.filter(({ why }) => why === "repeat").length).toBeGreaterThanOrEqual(3);
});

test("after the cover a sweep goes near the run that the fit misses most", () => {
  const { asked } = sweep({ seconds: 3600, tokens: 1e8 }, { perPromptToken: 1e-4, perStep: 5e-3 }, 2048, 8);
  const misfits = asked.map((run, index) => ({ run, error: index === 3 ? 0.5 : 0.01 }));
  const next = nextRun({
    contextTokens: 2048,
    spread,
    mostConcurrency: 8,
    left: { seconds: 100, tokens: 1e6 },
    done: [],
    tried: asked,
    misfits,
  });
  expect(next).toMatchObject({ why: "uncertain", concurrency: asked[3]?.concurrency });
  expect(asked.some((one) => one.inputTokens === next?.inputTokens && one.outputTokens === next.outputTokens)).toBe(false);
});

test("a sweep of an engine with a short context asks for no request that the engine refuses, and still covers several lengths", () => {
  for (const contextTokens of [64, 128, 170]) {
    const { asked } = sweep({ seconds: 3600, tokens: 1e8 }, { perPromptToken: 1e-4, perStep: 5e-3 }, contextTokens, 4);
    const longest = asked.map(({ inputTokens, outputTokens }) => Math.round(1.5 * inputTokens) + Math.round(1.5 * outputTokens));
    expect(Math.max(...longest)).toBeLessThanOrEqual(contextTokens);
    expect(new Set(asked.map(({ inputTokens, outputTokens }) => `${inputTokens} ${outputTokens}`)).size).toBeGreaterThanOrEqual(4);
  }
});

test("a sweep of an engine with a long context asks for the lengths that fit it whole, unchanged", () => {
  const { asked } = sweep({ seconds: 3600, tokens: 1e8 }, { perPromptToken: 1e-4, perStep: 5e-3 }, 8192, 4);
  expect(Math.max(...asked.map(({ inputTokens }) => inputTokens))).toBe(2048);
  expect(Math.max(...asked.map(({ outputTokens }) => outputTokens))).toBe(192);
});

test("a sweep that runs out of time has three lengths with every number of requests in flight", () => {
  const { asked } = sweep({ seconds: 240, tokens: 1e8 }, { perPromptToken: 6e-4, perStep: 2e-2 }, 2048, 32);
  const inFlight = new Map<string, Set<number>>();
  for (const { inputTokens, outputTokens, concurrency } of asked) {
    const key = `${inputTokens} ${outputTokens}`;
    inFlight.set(key, (inFlight.get(key) ?? new Set()).add(concurrency));
  }
  expect([...inFlight.values()].filter(({ size }) => size === 6).length).toBeGreaterThanOrEqual(3);
});
