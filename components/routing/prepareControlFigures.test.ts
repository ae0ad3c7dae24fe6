import { expect, it } from "vitest";
import type { ControlFigures, ControlsForecast } from "@/server/contracts/studio";
import { prepareControlFigures } from "./prepareControlFigures";

const estimate = { quality: 72, qualityLow: 70.55, p95Seconds: 2, share: [1, 0.4] };
const figures = (change: Partial<ControlFigures> = {}): ControlFigures => ({
  ...{ capacityPerSecond: 123.4, quality: 86.1, qualityLow: 84.9, p95Seconds: 11.2, p95Band: { low: 10, high: 12 }, share: [1, 0.52] },
  ...change,
});
const models = ["small", "large"];
const cascade = { models, isCascade: true, inForce: estimate, chosen: { ...estimate, share: [1, 0.5] } };
const forecast = (changed: ControlFigures): ControlsForecast => ({
  ...{ requestsPerSecond: 96, basis: "At 96 requests/s, as measured.", models, inForce: figures({ share: [1, 0.4] }), changed },
});
const plain = (text: string) => text.replaceAll("\u00a0", " ");

it("shows the plan's estimate, called so, until the forecast is there", () => {
  const view = prepareControlFigures({ ...cascade, forecast: null })!;
  expect(view.rows.map(({ name, inForce, chosen }) => [name, inForce, chosen].map(plain))).toEqual([
    ["quality", "72.0 (at least 70.5)", "72.0 (at least 70.5)"],
    ["p95 end to end", "2.00 s", "2.00 s"],
    ["share reaching large", "40 %", "50 %"],
  ]);
  expect(view.says).toBe("Estimate by the plan's tables, at its own rate.");
});

it("shows the simulated figures of both with the band of the p95, and the rate that they are for", () => {
  const view = prepareControlFigures({ ...cascade, forecast: forecast(figures()) })!;
  expect(view.rows.map(({ chosen }) => plain(chosen))).toEqual(["86.1 (at least 84.9)", "11.2 s (10.0 s to 12.0 s)", "52 %"]);
  expect(view.says).toBe("Simulated on the engines that serve now. At 96 requests/s, as measured.");
});

it("says where the engines do not sustain the load, and invents no figure", () => {
  const overloaded = figures({ quality: null, qualityLow: null, p95Seconds: null, p95Band: null, share: [] });
  const rows = prepareControlFigures({ ...cascade, forecast: forecast(overloaded) })!.rows;
  expect(rows.map(({ chosen }) => chosen)).toEqual(["–", "overloaded: the engines sustain 120 requests/s", "–"]);
});

it("has a share of each model where requests go to one of them", () => {
  const rows = prepareControlFigures({ ...cascade, isCascade: false, forecast: null })!.rows;
  expect(rows.slice(2).map(({ name }) => name)).toEqual(["share answered by small", "share answered by large"]);
});

it("has nothing to show of values that no table and no forecast knows", () => {
  expect(prepareControlFigures({ ...cascade, chosen: null, forecast: null })).toBeNull();
});
