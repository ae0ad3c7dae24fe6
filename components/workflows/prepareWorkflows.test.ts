import fc from "fast-check";
import { expect, it } from "vitest";
import { agentHeader, startHeader, upstreamHeader } from "@/server/contracts/gatewayWorkflows";
import type { ReplicaMemory } from "@/solver/policies/memoryForecast";
import type { AgentView } from "@/solver/workflow/workflowsView";
import { agentHeaders } from "./agentHeaders";
import { agentText, identifyAgents } from "./agentIdentity";
import { chosenAgent, chosenApplication } from "./prepareChoice";
import { prepareDistributions } from "./prepareDistributions";
import { MOST_ON_LINE, prepareLine } from "./prepareLine";
import { prepareMemory } from "./prepareMemory";
import { type Learnt, prepareSummary } from "./prepareSummary";
import { MOST_PAIRS, prepareWaited } from "./prepareWaited";
import { testAgent, testApplication, testDistribution, testNode } from "./testWorkflows";

const nowMs = 1_700_000_100_000;
const empty = testDistribution(0, 0, { observations: 0, state: "empty", quantilesSeconds: [], modeSeconds: null });

const line = (agents: readonly AgentView[], options: { readonly all: boolean; readonly chosen: string | null }) =>
  prepareLine(agents, { ...options, identities: identifyAgents(agents.map(({ key }) => key)) });

it("gives agents of one application hues of their own, whatever the order in which they come", () => {
  const keys = fc
    .uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 8 })
    .map((names) => names.map((name) => `app/${name}`));
  fc.assert(
    fc.property(keys, (of) => {
      const identities = identifyAgents(of);
      expect(new Set([...identities.values()].map(({ hue }) => hue)).size).toBe(of.length);
      expect(identifyAgents(of.toReversed())).toEqual(identities);
    }),
  );
  expect([agentText("report/writer"), agentText("report/"), agentText(null)]).toEqual(["writer of report", "unnamed of report", "unnamed"]);
});

it("names the headers by the names the gateway reads", () => {
  expect(agentHeaders.map(({ name }) => name)).toEqual(expect.arrayContaining([agentHeader, upstreamHeader, startHeader]));
});

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
  expect(left).toBe(0);
  const many = Array.from({ length: 64 }, (_, at) => testAgent(`a/n${at}`, { distanceSeconds: at }));
  expect(line(many, { all: false, chosen: null })).toMatchObject({ left: 64 - MOST_ON_LINE });
  expect(line(many, { all: false, chosen: "a/n60" }).rows.at(-1)).toMatchObject({ rank: 61 });
  expect(line(many, { all: true, chosen: null }).rows).toHaveLength(64);
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

it("tells each distribution's state in a word, and of one without observations that there is nothing", () => {
  const groups = prepareDistributions(
    testAgent("a/b", {
      remaining: testDistribution(1, 3, { state: "drifted" }),
      request: [
        { model: "small", ...testDistribution(1, 2, { state: "learning", observations: 1 }) },
        { model: "small > large", ...empty },
      ],
    }),
  );
  const rows = groups.flatMap((group) => group.rows);
  expect(groups.map(({ key }) => key)).toEqual(["remaining", "request"]);
  expect(rows.map(({ models, word, observations, median }) => [models, word, observations, median])).toEqual([
    [null, "drifted", "64 observations", "2.00\u00a0s"],
    [["small"], "learning", "1 observation", "1.50\u00a0s"],
    [["small", "large"], "empty", "0 observations", "–"],
  ]);
  expect(rows[2]?.box).toBeNull();
});

const replica = (change: Partial<ReplicaMemory> = {}): ReplicaMemory => ({
  ...{ replicaId: "r1", model: "m", capacityTokens: 1000, slotTokens: [500, 1200], suspended: null, requests: [] },
  ...change,
});

it("draws expected memory against what a replica holds, marks what is beyond it, and says where nobody knows", () => {
  const { replicas, left, next } = prepareMemory(
    {
      ...{ nowSeconds: 100, slotSeconds: 0.5 },
      replicas: [
        replica({
          requests: [
            { workId: "1", agent: "app/coder", untilSeconds: 99 },
            { workId: "2", agent: null, untilSeconds: 104 },
            { workId: "3", agent: null, untilSeconds: 102 },
            { workId: "4", agent: "app/qa", untilSeconds: null },
          ],
        }),
        replica({ replicaId: "r2", capacityTokens: null, suspended: "preempted a request 2 s ago", slotTokens: [] }),
      ],
      next: [
        { workId: "5", agent: "app/qa", queuedSinceSeconds: 98, replicaId: "r2", peakTokens: 600.4 },
        { workId: "6", agent: null, queuedSinceSeconds: 99, replicaId: null, peakTokens: null },
      ],
    },
    "r1",
  );
  const [known, unknown] = replicas;
  expect(known?.bars.map(({ over, height }) => [over, height])).toEqual([
    [false, 500 / 1200],
    [true, 1],
  ]);
  expect(known?.capacity).toBeCloseTo(1000 / 1200, 9);
  expect(known?.agents).toEqual([
    { agent: "unnamed", requests: "2 requests", until: "until 4.00\u00a0s from now, expected" },
    { agent: "coder of app", requests: "1 request", until: "runs late" },
    { agent: "qa of app", requests: "1 request", until: "end not known" },
  ]);
  expect(unknown).toMatchObject({ capacity: null, suspended: "preempted a request 2 s ago", bars: [] });
  expect(unknown?.says).toContain("not known");
  expect(next.map(({ waited, replica: to, peak }) => [waited, to, peak])).toEqual([
    ["2.00\u00a0s", "r2", "600 tokens"],
    ["1.00\u00a0s", null, "–"],
  ]);
  expect(left).toBe(0);
  const many = Array.from({ length: 40 }, (_, at) => replica({ replicaId: `r${at}` }));
  const drawn = prepareMemory({ nowSeconds: 0, slotSeconds: 0.5, replicas: many, next: [] }, "r39");
  expect(drawn.replicas.at(-1)).toMatchObject({ id: "r39", isChosen: true });
  expect(drawn.replicas.length + drawn.left).toBe(40);
});

it("tells shares of all waiting, and how many records do not say who or when", () => {
  const pairs = Array.from({ length: 20 }, (_, at) => ({ waiter: `a/w${at}`, ahead: null, passes: 2, seconds: 4 }));
  const told = prepareWaited(
    { records: 50, sinceMs: 1, waited: { pairs, waitedSeconds: 100, roomSeconds: 20, untimed: 3, unnamed: 7 } },
    false,
  );
  expect(told.rows).toHaveLength(MOST_PAIRS);
  expect(told.left).toBe(20 - MOST_PAIRS);
  expect(told.rows[0]).toMatchObject({ waiter: "w0 of a", ahead: "unnamed", share: "4\u00a0%", part: 0.04 });
  expect(told.says).toContain("20\u00a0% of it for room");
  const none = { pairs: [], waitedSeconds: 0.0002, roomSeconds: 0.0002, untimed: 0, unnamed: 0 };
  expect(prepareWaited({ records: 9, sinceMs: 1, waited: none }, false)).toMatchObject({
    says: "None of the newest 9 requests waited.",
    lacks: null,
  });
  expect(told.lacks).toBe("7 of 50 do not tell which agent asked, 3 do not tell when.");
});

const learnt = (change: Partial<Learnt> = {}, counts: Partial<Learnt["workflows"]["learnt"]["counts"]> = {}): Learnt => ({
  ...{ state: "there", timeScale: 1, emulated: false, policy: null },
  workflows: {
    ...{ memory: null, used: false, sinceMs: nowMs - 60_000 },
    learnt: {
      ...{ asOfSeconds: 0, applications: [], agents: [] },
      counts: {
        ...{ programs: 4, calls: 10, openPrograms: 1, unnamedCalls: 0, lateCalls: 0, missingUpstream: 0, ties: 0, forgotten: 0 },
        ...counts,
      },
    },
  },
  ...change,
});

it("says whether the policy in force goes by what is learnt, by whose clock seconds are, and what is doubtful", () => {
  expect(prepareSummary(learnt(), nowMs)).toMatchObject({ use: "No policy in force goes by it.", clock: null, doubts: null });
  const fcfs = { planId: "p", order: "fcfs", place: "least-load" } as const;
  expect(prepareSummary(learnt({ policy: fcfs, timeScale: 20, emulated: true }), nowMs)).toMatchObject({
    use: "The plan in force does not go by it: first come, first served (FCFS), to the least loaded replica.",
    clock: "Seconds are engine seconds, 20 to a second of the wall; engines are emulated.",
  });
  const told = prepareSummary(learnt({}, { unnamedCalls: 4, lateCalls: 1, ties: 2 }), nowMs);
  expect(told.figures.find(({ name }) => name === "Name their agent")).toMatchObject({ value: "60\u00a0%", detail: "4 do not" });
  expect(told.figures.find(({ name }) => name === "Learning for")?.value).toBe("60\u00a0s");
  expect(told.doubts).toContain("1 call came after");
  expect(prepareSummary(learnt({}, { calls: 0 }), null).figures.map(({ value }) => value)).toEqual(["4", "0", "–", "–"]);
});

it("opens with the first application and its most called agent, and follows the agent of the address to its application", () => {
  const one = testApplication({ name: "one", nodes: [testNode("one/a", { calls: 1 }), testNode("one/b", { calls: 5 })] });
  const two = testApplication({ name: "two", nodes: [testNode("two/c")] });
  const agents = ["one/a", "one/b", "two/c"].map((key) => testAgent(key));
  expect(chosenApplication([one, two], { app: null, agent: null })).toBe(one);
  expect(chosenAgent(agents, one, null)?.key).toBe("one/b");
  expect(chosenApplication([one, two], { app: null, agent: "two/c" })).toBe(two);
  expect(chosenApplication([one, two], { app: "gone", agent: "two/c" })).toBe(one);
  expect(chosenAgent(agents, one, "two/c")?.key).toBe("two/c");
  expect(chosenAgent(agents, one, "two/gone")?.key).toBe("one/b");
  expect(chosenApplication([], { app: null, agent: null })).toBeNull();
});
