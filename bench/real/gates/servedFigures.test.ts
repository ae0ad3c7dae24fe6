import { expect, test } from "vitest";
import { repeatNoise, servedFigures } from "./servedFigures";
import { LARGE_ALONE, SMALL_ALONE } from "./servedGates";
import type { ServedSlice } from "./servedRuns";

const request = (seconds: number, isRight: boolean, isSentOn: boolean) => ({ seconds, isRight, isSentOn });

const slice = (name: string, threshold: number | null, requests: ServedSlice["requests"], own: Partial<ServedSlice> = {}): ServedSlice => ({
  ...{ name, threshold, repeat: 0, requests, failed: 0, lateSeconds: 0, served: requests.length },
  ...{ use: { small: 0, large: 0, judge: 0, gateway: 0 }, judgeSeconds: [], gateSeconds: [], unscored: 0, withoutRoom: 0 },
  ...own,
});

const four = (right: number, sentOn: number, seconds = 1) =>
  Array.from({ length: 4 }, (_, at) => request(seconds, at < right, at < sentOn));

const alone = [slice(SMALL_ALONE, null, four(1, 0)), slice(LARGE_ALONE, null, four(4, 4))];

const figuresOf = (slices: readonly ServedSlice[]) => {
  const [figures] = servedFigures([...alone, ...slices], [{ name: "judge", threshold: 60 }]);
  if (figures === undefined) throw new Error("no figures");
  return figures;
};

test("points over random escalation count from both models alone at the share that was sent on", () => {
  // Random: 25 % right of the small model, 75 points more of the large one for half of the requests.
  expect(figuresOf([slice("judge", 60, four(3, 2))]).overRandom).toBeCloseTo(75 - 62.5, 9);
  expect(figuresOf([slice("judge", 60, four(1, 0))]).overRandom).toBeCloseTo(0, 9);
});

test("the processor time of all roles is divided by all requests that used it, those that open connections included", () => {
  const use = { small: 1, large: 3, judge: 0.5, gateway: 1.5 };
  const { engines, small, judge, gateway } = figuresOf([slice("judge", 60, four(3, 2), { use, served: 8 })]);
  expect({ engines, small, judge, gateway }).toEqual({ engines: 0.5625, small: 0.125, judge: 0.0625, gateway: 0.1875 });
});

test("a repeat pools its slices, and its noise is the deviation of repeats around their mean", () => {
  const figures = figuresOf([
    slice("judge", 60, four(3, 2, 1)),
    slice("judge", 60, four(3, 2, 1)),
    slice("judge", 60, four(3, 2, 3), { repeat: 1 }),
  ]);
  expect(figures.repeats.map(({ requests, p95 }) => [requests, p95])).toEqual([
    [8, 1],
    [4, 3],
  ]);
  expect(repeatNoise(figures, "p95")).toBeCloseTo(Math.SQRT2 / 2, 9);
  expect(repeatNoise(figuresOf([slice("judge", 60, four(3, 2))]), "p95")).toBeNull();
});

test("slices of another threshold or gate do not count", () => {
  const figures = figuresOf([slice("judge", 60, four(4, 1)), slice("judge", 90, four(0, 4)), slice("scorer", 60, four(0, 4))]);
  expect([figures.requests, figures.right, figures.sentOn]).toEqual([4, 1, 0.25]);
});
