import { expect, test } from "vitest";
import type { ProgramOutcome } from "../cluster/programOutcome";
import type { ProgramSample } from "../workflow/programSample";
import { cellFigures } from "./cellFigures";

/** Programs of one request each, by their outcome. */
interface Became {
  readonly arrival: number;
  /** Infinity: not served. */
  readonly latency: number;
  readonly tokens?: number;
  readonly queue?: number;
  readonly quality?: number;
  readonly model?: number;
  /** 0: chat, 1: agents. */
  readonly workflow?: number;
}

function figuresOf(programs: readonly Became[], usdPerHour = 3600) {
  const of = (read: (program: Became) => number) => Float64Array.from(programs, read);
  const sample = {
    models: ["small", "large"],
    arrivalSeconds: of(({ arrival }) => arrival),
    program: Int32Array.from(programs.keys()),
    workflows: [{ name: "chat" }, { name: "agents" }],
    workflow: Uint16Array.from(programs, ({ workflow = 0 }) => workflow),
  } as unknown as ProgramSample;
  const outcome = {
    endToEndSeconds: of(({ latency }) => latency),
    outputTokens: Int32Array.from(programs, ({ tokens = 10 }) => tokens),
    queueSeconds: of(({ queue = 0 }) => queue),
    quality: of(({ quality = Number.NaN }) => quality),
    model: Int8Array.from(programs, ({ model = 0 }) => model),
    waitSeconds: of(({ queue = Number.NaN }) => queue),
    unserved: programs.filter(({ latency }) => latency === Number.POSITIVE_INFINITY).length,
    ...{ preemptions: 3, preemptedRequests: 1, promotions: 2, busyShare: [0.9, 0.4], fullShare: [0.2, 0.1] },
  } as unknown as ProgramOutcome;
  return cellFigures(outcome, sample, usdPerHour);
}

/** One a second, each of five seconds. */
const steady = Array.from({ length: 101 }, (_, at): Became => ({ arrival: at, latency: 5 }));

test("throughput is of the middle of the finishes, whatever filling and draining take, and a program costs the engines' price over it", () => {
  expect(figuresOf(steady)).toMatchObject({ programsPerSecond: 1, usdPerProgram: 1 });
  const stragglers = steady.map((one, at) => (at < 5 ? { ...one, latency: 5 - at } : at > 95 ? { ...one, latency: 500 } : one));
  expect(figuresOf(stragglers)).toMatchObject({ programsPerSecond: 1 });
  expect(figuresOf(steady.map(({ latency, arrival }) => ({ latency, arrival: arrival / 4 })))).toMatchObject({
    ...{ programsPerSecond: 4, usdPerProgram: 0.25 },
  });
  expect(figuresOf(steady, 7200)?.usdPerProgram).toBe(2);
});

test("programs that end all at once are timed over the whole run", () => {
  const once = Array.from({ length: 10 }, (): Became => ({ arrival: 0, latency: 20 }));
  expect(figuresOf(once)).toMatchObject({ programsPerSecond: 0.5, usdPerProgram: 2 });
});

test("means and quantiles are over the programs that were served, and quality over those of which it is known", () => {
  const figures = figuresOf([
    { arrival: 0, latency: 10, tokens: 100, queue: 1, quality: 100 },
    { arrival: 1, latency: Number.POSITIVE_INFINITY, tokens: 7, queue: 40, quality: 0, model: -1 },
    { arrival: 2, latency: 30, tokens: 0, queue: 3, quality: 50, model: 1 },
    { arrival: 3, latency: 20, tokens: 40, queue: 2, model: 1 },
  ]);
  expect(figures).toMatchObject({
    ...{ programs: 4, requests: 4, unserved: 1, meanSeconds: 20, meanQueueSeconds: 2, preemptions: 3, promotions: 2 },
    // An answer without a token counts as one token.
    meanSecondsPerToken: (10 / 100 + 30 + 20 / 40) / 3,
    longestWaitSeconds: 40,
    queueShare: (1 / 10 + 3 / 30 + 2 / 20) / 3,
    preemptedShare: 1 / 3,
  });
  expect(figures?.latencyQuantiles).toHaveLength(101);
  expect([0, 50, 100].map((at) => figures?.latencyQuantiles[at])).toEqual([10, 20, 30]);
  expect(figures?.quality).toBe(75);
  expect(figures?.models).toEqual([
    { model: "small", share: 1 / 3, busyShare: 0.9, fullShare: 0.2 },
    { model: "large", share: 2 / 3, busyShare: 0.4, fullShare: 0.1 },
  ]);
});

test("quantiles of latency per token are over programs, each by what it wrote itself", () => {
  const programs = Array.from(
    { length: 101 },
    (_, at): Became => ({ arrival: at, latency: at % 2 === 0 ? at : 2 * at, tokens: at % 2 === 0 ? 100 : 200 }),
  );
  expect(figuresOf(programs)?.secondsPerTokenQuantiles).toEqual({ p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 });
});

test("tenths are of programs by what they wrote, fewest first, each with its own queue time", () => {
  const programs = Array.from({ length: 20 }, (_, at): Became => ({ arrival: at, latency: 5, tokens: 1000 - 10 * at, queue: at }));
  const tenths = figuresOf(programs)?.queueByLength ?? [];
  expect(tenths.map((tenth) => tenth.programs)).toEqual(Array.from({ length: 10 }, () => 2));
  expect(tenths.map((tenth) => tenth.meanQueueSeconds)).toEqual([18.5, 16.5, 14.5, 12.5, 10.5, 8.5, 6.5, 4.5, 2.5, 0.5]);
  expect([tenths[0]?.mostTokens, tenths[9]?.mostTokens]).toEqual([820, 1000]);
  // With fewer programs than tenths some are empty, and not reported.
  expect(figuresOf(programs.slice(0, 3))?.queueByLength.map((tenth) => tenth.mostTokens)).toEqual([980, 990, 1000]);
});

test("where nothing was served there is nothing to take a mean of, and of unknown quality none is told", () => {
  expect(figuresOf([{ arrival: 0, latency: Number.POSITIVE_INFINITY }])).toBeNull();
  expect(figuresOf(steady)?.quality).toBeNull();
});

test("each workflow has the figures of its own programs, and one of which nothing was served has none", () => {
  const chat = { arrival: 0, latency: 10, tokens: 100, quality: 40 };
  const agents = { arrival: 0, latency: 30, tokens: 60, quality: 90, workflow: 1 };
  const lost = { arrival: 0, latency: Number.POSITIVE_INFINITY, workflow: 1 };
  const { workflows } = figuresOf([chat, agents, { ...chat, latency: 20, quality: 60 }, lost]) ?? {};
  expect(workflows).toMatchObject([
    { workflow: "chat", programs: 2, meanSeconds: 15, meanSecondsPerToken: expect.closeTo(0.15, 9), quality: 50 },
    { workflow: "agents", programs: 1, meanSeconds: 30, meanSecondsPerToken: 0.5, quality: 90 },
  ]);
  expect(workflows?.map(({ latencyQuantiles }) => [latencyQuantiles[0], latencyQuantiles[95], latencyQuantiles.length])).toEqual([
    [10, 19.5, 101],
    [30, 30, 101],
  ]);
  expect(figuresOf([chat, lost])?.workflows).toMatchObject([{ workflow: "chat" }]);
});
