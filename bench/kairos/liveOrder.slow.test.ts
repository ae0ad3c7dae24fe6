import { expect, it } from "vitest";
import { runSession } from "../gateway/session";
import { figuresOf, learntEdges, trueEdges } from "./liveRun";
import { firstComeFirstServed, livePolicy, liveSetup } from "./liveSetup";

const options = { programs: 20, engines: 2, maxInFlight: 4, queueShare: 0.5, seed: 1 };
const setup = liveSetup(options);

it("seeks the rate at which programs queue as much as is asked for", () => {
  expect(setup.queueShare).toBeGreaterThan(0.4);
  expect(setup.queueShare).toBeLessThan(0.6);
  const { sample, programsPerSecond } = liveSetup(options);
  expect({ sample, programsPerSecond }).toEqual({ sample: setup.sample, programsPerSecond: setup.programsPerSecond });
});

it("serves three applications under one order and another, learns their graphs call by call, and forecasts for the order that reads it", {
  timeout: 120_000,
}, async () => {
  const policies = [firstComeFirstServed, livePolicy("workflow", "time-slots"), livePolicy("depth", "round-robin")];
  // Slowly enough that a stall of client or gateway does not look like the end of a program.
  const { runs, learnt } = await runSession({ setup, policies, timeScale: 6, modelPerturbation: "kairos" });
  for (const { report, decisions } of runs) {
    expect(report).toMatchObject({ failures: [], unserved: 0 });
    expect(decisions).toHaveLength(setup.sample.program.length);
    // A client names the calling agent, whatever order is active.
    expect(decisions.every(({ agent }) => agent !== undefined)).toBe(true);
  }
  const edges = trueEdges(setup.sample, runs.length);
  expect(Object.keys(edges)).toContain("code-with-feedback/qa-engineer -> code-with-feedback/revising-engineer");
  expect(learntEdges(learnt)).toEqual(edges);
  expect(learnt.learnt.counts).toMatchObject({
    programs: runs.length * setup.sample.arrivalSeconds.length,
    calls: runs.length * setup.sample.program.length,
    ...{ openPrograms: 0, unnamedCalls: 0, lateCalls: 0, missingUpstream: 0 },
  });
  expect(learnt.used).toBe(true);
  expect(runs.map((run) => figuresOf(run).forecastShare)).toEqual([0, 1, 1]);
});
