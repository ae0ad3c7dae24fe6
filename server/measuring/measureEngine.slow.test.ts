import { afterEach, expect, test } from "vitest";
import { fitMeasured } from "@/solver/calibration/fitMeasured";
import { inspectEngine } from "./inspectEngine";
import { announce, type MeasureEvent, type MeasureRequest, measureEngine } from "./measureEngine";
import { type EngineManners, startTimedEngine } from "./testing/timedEngine";

let close = (): void => undefined;
afterEach(() => close());

async function engineWith(change: Partial<EngineManners> = {}) {
  const engine = await startTimedEngine(change);
  close = engine.close;
  const found = await inspectEngine({ url: engine.url }, undefined);
  if (found.kind === "refused") throw new Error(found.message);
  const request: MeasureRequest = {
    ...{ target: { url: engine.url }, inspected: found.inspected, model: "qwen2.5-7b", gpu: "cpu-core", shape: { tp: 1, pp: 1 } },
    ...{ budget: { seconds: 25, tokens: 200_000 }, mostConcurrency: 8, servingOthers: false },
  };
  return { engine, request };
}

function watching() {
  const events: MeasureEvent[] = [];
  const stop = new AbortController();
  const controls = { signal: stop.signal, fit: fitMeasured, onEvent: (event: MeasureEvent) => void events.push(event) };
  return { events, stop, controls };
}

test("an engine is measured within its budget, with exact lengths, its limits and the noise of repeats", async () => {
  const { request } = await engineWith();
  const { events, controls } = watching();
  const measured = await measureEngine(request, controls);
  if (measured.kind !== "measured") throw new Error(measured.message);
  expect(measured.stopped).toBe(false);
  expect(measured.used.tokens).toBeLessThanOrEqual(200_000);
  expect(measured.runs.length).toBeGreaterThanOrEqual(5);
  const asked = events.flatMap((event) => (event.kind === "running" ? [event.next] : []));
  for (const [at, run] of measured.runs.entries())
    expect(run).toMatchObject({ inputTokens: asked[at]?.inputTokens, outputTokens: asked[at]?.outputTokens });
  const { limits, measuredOn } = measured.fit.engine;
  expect(limits.kvTokens).toEqual({ value: 16_000, origin: "reported" });
  expect(limits.contextTokens).toEqual({ value: 256, origin: "reported" });
  expect(limits.maxSequences).toEqual({ value: 4, origin: "observed" });
  expect(measuredOn.source).toMatch(/^vllm 0.32.0 at 127.0.0.1:/);
}, 60_000);

test("an engine that answers others gets no load, and is measured when told that it may serve them", async () => {
  const { engine, request } = await engineWith({ othersPerSecond: 5 });
  const refused = await measureEngine(request, watching().controls);
  expect(refused).toMatchObject({ kind: "refused", reason: "serves-others" });
  expect(engine.received()).toBe(0);
  const told = await measureEngine({ ...request, servingOthers: true, budget: { seconds: 3, tokens: 50_000 } }, watching().controls);
  expect(told).not.toMatchObject({ reason: "serves-others" });
  expect(engine.received()).toBeGreaterThan(0);
}, 60_000);

test("an engine without metrics gets no load unless told that it may serve others, and the announcement says so", async () => {
  const { engine, request } = await engineWith({ hasMetrics: false });
  expect(announce(request)).toMatchObject({ showsOthers: false });
  const refused = await measureEngine(request, watching().controls);
  expect(refused).toMatchObject({ kind: "refused", reason: "unknown-load", message: expect.stringMatching(/does not show whether/) });
  expect(engine.received()).toBe(0);
  await measureEngine({ ...request, servingOthers: true, budget: { seconds: 3, tokens: 50_000 } }, watching().controls);
  expect(engine.received()).toBeGreaterThan(0);
}, 60_000);

test("an engine that takes no token ids is asked in so many words that its prompts have about the lengths of a run", async () => {
  const { request } = await engineWith({ takesIds: false });
  const { events, controls } = watching();
  const measured = await measureEngine({ ...request, budget: { seconds: 4, tokens: 100_000 } }, controls);
  const asked = events.flatMap((event) => (event.kind === "running" ? [event.next.inputTokens] : []));
  for (const [at, { inputTokens }] of measured.runs.entries()) expect(Math.abs(inputTokens - (asked[at] ?? 0))).toBeLessThanOrEqual(1);
  expect(measured.runs.length).toBeGreaterThan(0);
}, 60_000);

test("what was measured before a stop is kept and the load ends", async () => {
  const { engine, request } = await engineWith();
  const { controls, stop } = watching();
  let runs = 0;
  const measured = await measureEngine(
    { ...request, budget: { seconds: 60, tokens: 1_000_000 } },
    {
      ...controls,
      onEvent: (event) => {
        if (event.kind === "ran") runs += 1;
        if (runs === 6) stop.abort();
      },
    },
  );
  expect(measured.runs.length).toBe(6);
  expect(measured).toMatchObject({ kind: "measured", stopped: true });
  const sent = engine.received();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(engine.received()).toBe(sent);
}, 60_000);

test("an engine that answers no completion is refused with what it says", async () => {
  const { request } = await engineWith();
  close();
  const measured = await measureEngine({ ...request, servingOthers: true }, watching().controls);
  expect(measured).toMatchObject({ kind: "refused", reason: "no-completion", runs: [] });
}, 60_000);

test("a stop before the first run is no failure of the engine", async () => {
  const { request } = await engineWith({ stepMs: 400 });
  const { controls, stop } = watching();
  const onEvent = (event: MeasureEvent): void => {
    if (event.kind === "warming-up") setTimeout(() => stop.abort(), 100);
  };
  const measured = await measureEngine(request, { ...controls, onEvent });
  expect(measured).toEqual({ kind: "refused", reason: "stopped", message: "The measurement was stopped before its first run.", runs: [] });
}, 60_000);

test("the requests that find out how an engine is asked are spent from the budget", async () => {
  const { request } = await engineWith({ takesIds: false });
  const { events, controls } = watching();
  await measureEngine({ ...request, servingOthers: true, budget: { seconds: 3, tokens: 50_000 } }, controls);
  const first = events.find(({ kind }) => kind === "running");
  // Ids are refused; two prompts of 20 and 60 words have 43 and 123 tokens.
  expect(first).toMatchObject({ left: { tokens: 50_000 - (32 + 4) - (43 + 4) - (123 + 4) } });
}, 60_000);

test("an engine that does not count tokens is refused, since lengths are not known", async () => {
  const { request } = await engineWith({ countsTokens: false });
  const measured = await measureEngine({ ...request, servingOthers: true }, watching().controls);
  expect(measured).toMatchObject({ kind: "refused", reason: "no-usage", runs: [] });
}, 60_000);

test("runs whose answers have other lengths than asked for are left out, with the reason", async () => {
  const { request } = await engineWith({ keepsLengths: false });
  const { events, controls } = watching();
  const measured = await measureEngine({ ...request, servingOthers: true, budget: { seconds: 20, tokens: 200_000 } }, controls);
  const left = events.filter(({ kind }) => kind === "left-out");
  expect(left[0]).toMatchObject({ message: expect.stringMatching(/^answers had \d+ to \d+ % of the tokens that were asked for$/) });
  expect(measured).toMatchObject({ kind: "refused", reason: "failing", runs: [] });
}, 60_000);
