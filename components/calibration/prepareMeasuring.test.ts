import { expect, test } from "vitest";
import type { MeasuredPoint, MeasuringAnnouncement } from "@/server/contracts/studio";
import { announcementTexts, errorSentence, errorTexts, progressText, scatterOf, usedShare } from "./prepareMeasuring";

const announced: MeasuringAnnouncement = {
  engine: "vllm",
  version: "0.32.0",
  served: "small",
  model: "small",
  gpu: "cpu-core",
  shape: { tp: 1, pp: 1 },
  attachedShape: null,
  mostConcurrency: 64,
  contextTokens: 2048,
  showsOthers: true,
  seconds: 360,
  tokens: 2_000_000,
};

const point = (error: number | null): MeasuredPoint => ({
  run: {
    ...{ inputTokens: 16, outputTokens: 1, concurrency: 1, requests: 8, seconds: 1 },
    ...{ ttftSeconds: 0.02, tpotSeconds: null, endToEndSeconds: 0.1, p50Seconds: 0.1, p95Seconds: 0.12 },
  },
  errors: error === null ? null : { ttft: error, tpot: null, endToEnd: 2 * error, p95: 3 * error },
});

const alone = { servingOthers: false, inUse: "vLLM, July" };

test("the announcement names engine, cards, shape, most load, what happens to an engine that serves others, and the profile in use", () => {
  expect(announcementTexts(announced, alone)).toEqual([
    "vllm 0.32.0 serves small. The profile is filed under the cards small and cpu-core, and holds for tp 1, pp 1.",
    "It gets 1 to 64 requests in flight, of up to 2,048 tokens each: at most 2,000,000 tokens in at most 6 minutes.",
    "If it serves others, nothing is sent.",
    'Plans use the new profile when you click "Plan with it". The profile in use, "vLLM, July", is set aside for every cluster; Calibration can put it back in use.',
  ]);
  expect(announcementTexts(announced, { ...alone, servingOthers: true })[2]).toMatch(/their load is part of the figures/);
  const blind = { ...announced, showsOthers: false };
  expect(announcementTexts(blind, alone)).toContain("It has no metrics that show whether it serves others.");
});

test("the announcement names the budget and the most requests in flight that were ordered", () => {
  const small = { ...announced, mostConcurrency: 16, tokens: 50_000, seconds: 60 };
  expect(announcementTexts(small, alone)[1]).toBe(
    "It gets 1 to 16 requests in flight, of up to 2,048 tokens each: at most 50,000 tokens in at most 60 s.",
  );
});

test("an engine that is attached in another shape than the one ordered is announced with both", () => {
  const other = { ...announced, attachedShape: { tp: 4, pp: 1 } };
  expect(announcementTexts(other, alone)[1]).toBe(
    "The engine is attached with tp 4, pp 1: measured as tp 1, pp 1 it counts as an engine of that shape.",
  );
  const same = { ...other, shape: { tp: 4, pp: 1 } };
  expect(announcementTexts(same, alone).join(" ")).not.toContain("is attached with");
});

test("progress counts runs, tokens and time, and the bar follows what is used up first", () => {
  const left = { seconds: 270, tokens: 500_000 };
  expect(progressText({ doing: "Run 3", left, points: [point(null), point(null)], announced })).toBe(
    "Run 3. 2 runs so far, 1,500,000 of 2,000,000 tokens sent, 5 minutes left.",
  );
  expect(usedShare({ left, announced })).toBe(0.75);
});

test("runs without a prediction or a figure are left out of chart and errors", () => {
  const points = [point(null), point(0.1), point(-0.2)];
  expect(scatterOf(points, "ttft").map(({ key }) => key)).toEqual([1, 2]);
  expect(scatterOf(points, "tpot")).toEqual([]);
  expect(errorTexts(points)).toEqual({ ttft: "15.0 %", tpot: "–", endToEnd: "30.0 %", p95: "45.0 %" });
});

test("errors on runs that a fit has seen are never called errors on runs kept aside", () => {
  const points = [point(0.1)];
  expect(errorSentence(points, "kept-aside")).toBe(
    "Median error on runs kept aside by their lengths: TTFT 10.0 %, TPOT –, end to end 20.0 %, p95 30.0 %.",
  );
  expect(errorSentence(points, "fit")).toMatch(/^Median error on the runs of the fit itself: .*error at other lengths is not known\.$/);
});
