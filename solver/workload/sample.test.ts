import fc from "fast-check";
import { expect, test } from "vitest";
import { drawSample } from "./sample";
import { splitPrompts } from "./split";

const workload = (arrivals: readonly number[]) => ({
  outcomes: {
    promptIds: Array.from({ length: 40 }, (_, at) => `p${at}`),
    categories: Array.from({ length: 40 }, () => "any"),
    inputTokens: new Int32Array(40).fill(10),
    models: [],
  },
  arrivalSeconds: Float64Array.from(arrivals),
  seed: 3,
});

test("the mean rate of a sample is the asked one, however many requests and whatever the trace", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.001, max: 50, noNaN: true }), { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 2, max: 200 }),
      fc.double({ min: 0.1, max: 500, noNaN: true }),
      (gaps, requests, requestsPerSecond) => {
        let at = 0;
        const arrivals = [0, ...gaps.map((gap) => (at += gap))];
        const sample = drawSample(workload(arrivals), { part: "planning", requestsPerSecond, requests, seed: 1 });
        const last = sample.arrivalSeconds[requests - 1] ?? 0;
        expect((requests - 1) / last / requestsPerSecond).toBeCloseTo(1, 6);
        expect(sample.arrivalSeconds).toEqual(sample.arrivalSeconds.slice().sort());
      },
    ),
  );
});

test("the rhythm of the trace is kept: gaps keep their proportions, and the trace starts over one mean gap after its end", () => {
  const { arrivalSeconds } = drawSample(workload([0, 1, 4]), { part: "planning", requestsPerSecond: 5 / 11, requests: 6, seed: 1 });
  // Recorded span 4 s, mean gap 2 s: the second lap starts at 6 s, and 5 gaps in 10 s become 5 in 11 s.
  expect([...arrivalSeconds].map((seconds) => Number((seconds / 1.1).toFixed(6)))).toEqual([0, 1, 4, 6, 7, 10]);
});

test("prompts come from the asked part only, and both parts are disjoint", () => {
  const { planning, heldOut } = splitPrompts(40, 3);
  const drawn = (part: "planning" | "heldOut") =>
    new Set(drawSample(workload([0, 1]), { part, requestsPerSecond: 1, requests: 2000, seed: 9 }).prompt);
  expect(drawn("planning")).toEqual(new Set(planning));
  expect(drawn("heldOut")).toEqual(new Set(heldOut));
});

test("a seed names a draw of prompts and leaves the arrivals alone", () => {
  const draw = (seed: number) => drawSample(workload([0, 1, 3]), { part: "planning", requestsPerSecond: 2, requests: 50, seed });
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1).prompt).not.toEqual(draw(2).prompt);
  expect(draw(1).arrivalSeconds).toEqual(draw(2).arrivalSeconds);
});

test("a rate of zero, no requests and a trace without duration are refused", () => {
  const options = { part: "planning", requestsPerSecond: 1, requests: 5, seed: 1 } as const;
  expect(() => drawSample(workload([0, 1]), { ...options, requestsPerSecond: 0 })).toThrow("found 0");
  expect(() => drawSample(workload([0, 1]), { ...options, requests: 0 })).toThrow("at least 1 request");
  expect(() => drawSample(workload([0, 0]), options)).toThrow("must span some time");
});
