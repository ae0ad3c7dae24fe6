import fc from "fast-check";
import { expect, it } from "vitest";
import type { AgentView } from "@/solver/workflow/learning/workflowsView";
import { identifyAgents } from "../graph/agentIdentity";
import { testAgent, testDistribution } from "../testing/testWorkflows";
import { prepareDistributions } from "./prepareDistributions";
import { MOST_ON_LINE, prepareLine } from "./prepareLine";

const empty = testDistribution(0, 0, { observations: 0, state: "empty", quantilesSeconds: [], modeSeconds: null });

const line = (agents: readonly AgentView[], options: { readonly all: boolean; readonly chosen: string | null }) =>
  prepareLine(agents, { ...options, identities: identifyAgents(agents.map(({ key }) => key)) });

it("puts agents on the line by their distance, those without a place last, and says how many are left out", () => {
  const agents = [
    testAgent("a/late", { distanceSeconds: 9 }),
    testAgent("b/new", { distanceSeconds: null, remaining: empty }),
    testAgent("b/soon", { distanceSeconds: 0.5 }),
  ];
  const { rows, left } = line(agents, { all: false, chosen: null });
  expect(rows.map(({ identity, rank }) => [identity.name, rank])).toEqual([
    ["soon", 1],
    ["late", 2],
    ["new", null],
  ]);
  expect(rows[2]).toMatchObject({ at: null, band: null, distance: "–" });
  expect(left).toBeNull();
  const many = Array.from({ length: 64 }, (_, at) => testAgent(`a/n${at}`, { distanceSeconds: at }));
  expect(line(many, { all: false, chosen: null })).toMatchObject({ left: "40 more, further from zero" });
  const leftWith = (placeless: number) => {
    const some = many.map((agent, at) => (at < 64 - placeless ? agent : { ...agent, distanceSeconds: null }));
    return line(some, { all: false, chosen: null }).left;
  };
  expect([leftWith(5), leftWith(64 - MOST_ON_LINE)]).toEqual(["40 more, 5 of them without a place yet", "40 more without a place yet"]);
  expect(line(many, { all: false, chosen: "a/n60" }).rows.at(-1)).toMatchObject({ rank: 61 });
  expect([0, 1, 49, 62].map((at) => line(many, { all: true, chosen: null }).rows[at]?.rank)).toEqual([1, 2, 50, 63]);
  const level = [1, 1, 2].map((distanceSeconds, at) => testAgent(`a/level${at}`, { distanceSeconds }));
  expect(line(level, { all: true, chosen: null }).rows.map(({ rank }) => rank)).toEqual([1, 1, 3]);
  expect(line(many, { all: true, chosen: null }).rows).toHaveLength(64);
});

it("draws no axis where no agent has a place", () => {
  const agent = testAgent("b/new", { distanceSeconds: null, remaining: empty });
  expect(line([agent], { all: false, chosen: null }).ticks).toEqual([]);
  expect(line([testAgent("a/b")], { all: false, chosen: null }).ticks[0]).toEqual({ at: 0, text: "0" });
});

it("keeps everything that it draws of the line and of distributions on the axis", () => {
  const seconds = fc.double({ min: 0, max: 1e4, noNaN: true });
  const agent = fc.tuple(seconds, seconds, fc.option(seconds)).map(([a, b, distanceSeconds]) => {
    const remaining = testDistribution(Math.min(a, b), Math.max(a, b));
    return testAgent("a/b", {
      distanceSeconds,
      remaining,
      request: [
        { model: "m", ...remaining },
        { model: "n", ...empty },
      ],
    });
  });
  fc.assert(
    fc.property(agent, (one) => {
      const onAxis = (value: number | null | undefined) => value === null || value === undefined || (value >= 0 && value <= 1);
      const [row] = line([one], { all: false, chosen: null }).rows;
      expect([row?.at, row?.band?.from, row?.band?.to].every(onAxis)).toBe(true);
      for (const { box } of prepareDistributions(one).flatMap(({ rows }) => rows)) {
        if (box === null) continue;
        expect([box.most.from, box.half.from, box.median, box.half.to, box.most.to, box.mode].every(onAxis)).toBe(true);
        expect(box.most.from <= box.half.from && box.half.from <= box.median && box.median <= box.half.to).toBe(true);
      }
    }),
  );
});
