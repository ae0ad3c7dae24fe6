import { expect, it } from "vitest";
import { type PlottedBaseline, prepareFrontier } from "@/components/charts/prepareFrontier";
import { parsePin } from "../address/routingKey";
import type { FrontierPlan } from "./frontierPlans";
import { prepareFrontierTable } from "./prepareFrontierTable";

const limits = { qualityFloor: null, latencyBudgetSeconds: null };

function plan(key: string, quality: number, latency: number, cost = 0.001): FrontierPlan {
  return {
    key,
    standAloneModel: key.includes("~") ? null : 0,
    figures: { quality, latency, cost, gpus: 1 },
    policy: { kind: "routing", routing: parsePin(key)!.routing },
    candidate: {
      gpus: [1],
      gpusTotal: 1,
      latencySeconds: latency,
      costUsdPerRequest: cost,
      quality: quality + 1,
      qualityLow: quality,
    },
  };
}

const plans = [
  plan("small", 70, 4),
  plan("small@40~large", 81, 3),
  plan("small@60~large", 80, 4),
  plan("large", 87, Number.POSITIVE_INFINITY),
];

function tableOf(more: Partial<Parameters<typeof prepareFrontierTable>[0]> & { readonly chosen?: string } = {}) {
  const { chosen = "small@40~large", ...rest } = more;
  const of = { plans, brush: null, pins: [], own: null, dispatch: null, running: null, baselines: [], ...rest };
  const picture = prepareFrontier({
    plans: of.plans,
    axes: { x: "quality", y: "latency" },
    limits,
    chosen,
    own: null,
    running: null,
    baselines: of.baselines,
  });
  return prepareFrontierTable({ ...of, picture });
}

it("lists pinned plans first, then the frontier, then models alone, and none that cannot keep up", () => {
  const { rows } = tableOf({ pins: ["small@60~large"] });
  expect(rows.map((row) => [row.key, row.role])).toEqual([
    ["small@60~large", "other"],
    ["small@40~large", "chosen"],
    ["small", "alone"],
  ]);
});

it("lists the cascade that the operator chose though it is not on the frontier, and says which it is", () => {
  const { rows } = tableOf({ own: "small@60~large" });
  expect(rows.map((row) => [row.key, row.own])).toEqual([
    ["small@40~large", false],
    ["small@60~large", true],
    ["small", false],
  ]);
});

it("lists slack dispatch along its curve, only its frontier points at first, and marks what is not asked for", () => {
  const dispatch = (tau: number, quality: number, latency: number, asked: boolean): FrontierPlan => ({
    ...plan("small", quality, latency),
    key: `slack*0*${tau}`,
    standAloneModel: null,
    policy: { kind: "slack", models: ["small", "large"], tau },
    dispatch: { tau, onCurve: true },
    asked,
  });
  const rowsOf = (asked: boolean) =>
    tableOf({ plans: [...plans, dispatch(0, 75, 2, asked), dispatch(1, 78, 3.5, asked)] }).rows.filter(
      ({ policy }) => policy.kind === "slack",
    );
  expect(rowsOf(true).map((row) => [row.key, row.role, row.brief, row.asked])).toEqual([
    ["slack*0*0", "frontier", true, true],
    ["slack*0*1", "dispatch", false, true],
  ]);
  expect(rowsOf(false).map((row) => [row.key, row.role, row.asked])).toEqual([
    ["slack*0*0", "dispatch", false],
    ["slack*0*1", "dispatch", false],
  ]);
});

it("compares each plan with what runs, in signed words", () => {
  const { rows } = tableOf({ running: { key: "gone", figures: { quality: 80, p95Seconds: 5 } } });
  expect(rows[0]?.delta).toEqual({ quality: "+2.0", p95Seconds: "−2.0" });
  expect(tableOf({ running: { key: "gone", figures: null } }).rows[0]?.delta).toBeNull();
});

it("marks the plan that runs, also off the frontier", () => {
  const { rows } = tableOf({ running: { key: "small@60~large", figures: null } });
  expect(rows.filter((row) => row.runs).map((row) => [row.key, row.role, row.brief])).toEqual([["small@60~large", "other", true]]);
});

it("shows few of a frontier of near-duplicates at first: both ends, what lies evenly between, and the recommended one", () => {
  const dense = Array.from({ length: 101 }, (_, threshold) =>
    plan(`small@${threshold}~large`, threshold < 90 ? 70 + threshold / 90 : 71 + (threshold - 90), 1 + threshold / 10),
  );
  const { rows } = tableOf({ plans: dense, chosen: "small@50~large" });
  const brief = rows.filter((row) => row.brief).map((row) => Number(/@(\d+)/.exec(row.key)?.[1]));
  expect(rows).toHaveLength(101);
  expect(brief.length).toBeLessThanOrEqual(7);
  expect(brief).toEqual(expect.arrayContaining([0, 50, 100]));
  // By quality, not by position: nine tenths of the frontier are within one point of quality.
  expect(brief.filter((threshold) => threshold > 90).length).toBeGreaterThanOrEqual(4);
});

it("lists in a brushed range all plans that lie in it, off the frontier too, and no other, nor baselines outside", () => {
  const baseline = (number: number, latency: number): PlottedBaseline => ({
    key: `baseline ${number}`,
    number,
    figures: { quality: 80, latency, cost: 1, gpus: 1 },
  });
  const table = tableOf({ brush: { x: [79, 82], y: [3.5, 4.5] }, pins: ["small"], baselines: [baseline(1, 4), baseline(2, 40)] });
  expect(table.rows.map((row) => row.key)).toEqual(["small@60~large"]);
  expect(table.baselines.map((each) => each.number)).toEqual([1]);
});

it("says how many plans of a wide range it leaves out", () => {
  const many = Array.from({ length: 500 }, (_, index) => plan(`small@${index % 101}~large*${index + 1}`, 80, 4 + index));
  const table = tableOf({ plans: many, brush: { x: [0, 100], y: [0, 1000] } });
  expect(table.rows.length + table.cut).toBe(500);
  expect(table.cut).toBeGreaterThan(0);
});

it("shows costs only where they tell plans apart", () => {
  const table = (costs: readonly number[]) =>
    tableOf({ plans: costs.map((cost, index) => plan(`small@${index}~large`, 80 + index, 2 + index, cost)) });
  expect(table([0.001, 0.001]).costsDiffer).toBe(false);
  expect(table([0.001, 0.002]).costsDiffer).toBe(true);
});

it("shows the best slack dispatch before the whole frontier is asked for, though a cascade is recommended and better", () => {
  const slack = (tau: number, quality: number, latency: number): FrontierPlan => ({
    ...plan("small", quality, latency),
    key: `slack*0*${tau}`,
    standAloneModel: null,
    dispatch: { tau, onCurve: true },
    policy: { kind: "slack", models: ["small", "large"], tau },
  });
  const { rows } = tableOf({ plans: [...plans, slack(0, 78, 6), slack(1, 79, 7)], dispatch: "slack*0*1" });
  expect(rows.flatMap(({ key, role, brief }) => (role === "dispatch" ? [[key, brief]] : []))).toEqual([
    ["slack*0*0", false],
    ["slack*0*1", true],
  ]);
});
