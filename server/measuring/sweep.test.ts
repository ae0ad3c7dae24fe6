import { expect, test } from "vitest";
import { contextOf, Sweep, type SweepRequest } from "./sweep";

const nothing = { engine: "vllm", running: null, waiting: null, answered: null, promptTokens: null, kvTokens: null };
const inspected: SweepRequest["inspected"] = {
  ...{ engine: "vllm", emulated: false, version: "0.32.0", served: "small", root: null },
  ...{ contextTokens: 256, maxSequences: null, maxBatchedTokens: null, counters: nothing },
};
const request: SweepRequest = {
  ...{ target: { url: "http://127.0.0.1:8000" }, inspected, model: "small", gpu: "l40s", shape: { tp: 4, pp: 2 } },
  ...{ budget: { seconds: 60, tokens: 10_000 }, mostConcurrency: 8 },
};
const point = { inputTokens: 16, outputTokens: 12, concurrency: 8 };
const run = {
  ...{ ...point, requests: 8, seconds: 1, ttftSeconds: 0.02, tpotSeconds: 0.01, endToEndSeconds: 0.1 },
  ...{ p50Seconds: 0.1, p95Seconds: 0.12 },
};
const fresh = (change: Partial<SweepRequest> = {}): Sweep => new Sweep({ ...request, ...change }, performance.now());

test("a fit is filed under the cards and in the shape of the request", () => {
  expect(fresh().options()).toMatchObject({ model: "small", gpu: "l40s", shape: { tp: 4, pp: 2 } });
});

test("limits are those that the engine reports, else those that runs show, else assumed", () => {
  const sweep = fresh({ inspected: { ...inspected, maxBatchedTokens: 512 } });
  for (let runs = 0; runs < 2; runs += 1) sweep.add(point, run, { ...nothing, running: 4, waiting: 4 });
  expect(sweep.options().limits).toEqual({
    contextTokens: { value: 256, origin: "reported" },
    maxBatchedTokens: { value: 512, origin: "reported" },
    maxSequences: { value: 4, origin: "observed" },
    kvTokens: { value: 1024, origin: "assumed" },
  });
  expect(contextOf({ contextTokens: null })).toBe(2048);
});

test("no run is left once the tokens are spent, and none has more requests in flight than were asked for", () => {
  const sweep = fresh({ mostConcurrency: 2 });
  expect(sweep.next()?.concurrency).toBeLessThanOrEqual(2);
  sweep.spend(10_000);
  expect(sweep.left().tokens).toBe(0);
  expect(sweep.next()).toBeNull();
});
