import { expect, it } from "vitest";
import { gatewayWorkflowsSchema } from "@/server/contracts/gateway/gatewayWorkflows";
import { testAgent, testApplication } from "../testing/testWorkflows";
import { type Learnt, learningText, prepareSummary } from "./prepareSummary";

const nowMs = 1_700_000_100_000;

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

it("says what a graph waits for while no program has ended, and counts applications of which calls came", () => {
  const change = learnt({}, { programs: 0, openPrograms: 6 });
  const { counts } = change.workflows.learnt;
  expect(learningText(counts)).toBe("6 programs are still open. A graph appears when the first has ended: 30\u00a0s after its last call.");
  expect(learningText({ ...counts, openPrograms: 1 })).toContain("1 program is still open.");
  expect(prepareSummary(change, nowMs).figures[0]).toMatchObject({
    value: "0",
    detail: "6 not ended yet (30\u00a0s without a call end one)",
  });
  const agents = ["one/a", "one/b", "two/a"].map((key) => testAgent(key));
  const known = gatewayWorkflowsSchema.parse({
    ...change.workflows,
    learnt: { ...change.workflows.learnt, agents, applications: [testApplication({ name: "one" })] },
  });
  expect(prepareSummary({ ...change, workflows: known }, nowMs).figures[1]).toEqual({
    name: "Calls",
    value: "10",
    detail: "of 2 applications",
  });
});

it("says whether the policy in force goes by what is learnt, by whose clock seconds are, and what is doubtful", () => {
  expect(prepareSummary(learnt(), nowMs)).toMatchObject({ use: "No policy in force uses it.", clock: null, doubts: null });
  const fcfs = { order: "fcfs", place: "least-load" } as const;
  expect(prepareSummary(learnt({ policy: fcfs, timeScale: 20, emulated: true }), nowMs)).toMatchObject({
    use: "The plan in force does not use it: first come, first served (FCFS), to the least loaded replica.",
    clock: "Seconds are engine seconds, 20 per second of wall time; engines are emulated.",
  });
  const memory = { nowSeconds: 0, slotSeconds: 0.5, replicas: [], next: [] };
  const inUse = (packs: boolean) => {
    const there = learnt({ policy: { order: "workflow", place: "least-load" } });
    return prepareSummary({ ...there, workflows: { ...there.workflows, used: true, memory: packs ? memory : null } }, nowMs).use;
  };
  expect([inUse(true).endsWith(", packing memory over time."), inUse(false).includes("packing")]).toEqual([true, false]);
  expect(prepareSummary(learnt({}, { missingUpstream: 2 }), nowMs).doubts).toContain("2 calls named earlier agents");
  expect(prepareSummary(learnt({}, { forgotten: 1 }), nowMs).doubts).toContain("1 record of applications, agents or programs was dropped");
  const told = prepareSummary(learnt({}, { unnamedCalls: 4, lateCalls: 1, ties: 2 }), nowMs);
  expect(told.figures.find(({ name }) => name === "Name their agent")).toMatchObject({ value: "60\u00a0%", detail: "4 do not" });
  expect(told.figures.find(({ name }) => name === "Learning for")?.value).toBe("60\u00a0s");
  expect(told.doubts).toContain("1 call arrived after");
  expect(prepareSummary(learnt({}, { calls: 0 }), null).figures.map(({ value }) => value)).toEqual(["4", "0", "–", "–"]);
});
