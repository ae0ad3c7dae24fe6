import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { testCall } from "../testing/testCall";
import { drawKnownProgram } from "../testing/testProgramGraphs";
import { reports, serve } from "../testing/testReports";
import { WorkflowLearner } from "./workflowLearner";

describe("what is kept", () => {
  test("gives, restored from JSON on another clock, the same view and forecasts", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5000), { maxLength: 20 }), fc.nat(2000), (seeds, laterSeconds) => {
        const learner = new WorkflowLearner();
        reports(learner, seeds.length * 3);
        for (const [program, seed] of seeds.entries()) {
          for (const call of drawKnownProgram(seed).calls)
            serve(learner, { ...call, programId: `${program}`, application: `app-${seed % 4}` });
          learner.end(`${program}`, 2000);
        }
        learner.refreshLine();
        const restored = WorkflowLearner.restore(JSON.parse(JSON.stringify(learner.keep(2000))), 2000 + laterSeconds);
        if (restored === null) throw new Error("what was kept is not read");
        const shifted = (view: ReturnType<WorkflowLearner["view"]>, seconds: number) => ({
          ...view,
          asOfSeconds: view.asOfSeconds + seconds,
          applications: view.applications.map((application) => ({
            ...application,
            lastSeenSeconds: Math.round(1000 * (application.lastSeenSeconds + seconds)),
          })),
        });
        if (seeds.length > 0) expect(restored.view(2000 + laterSeconds).agents.length).toBeGreaterThan(0);
        expect(shifted(restored.view(2000 + laterSeconds), 0)).toEqual(shifted(learner.view(2000), laterSeconds));
        for (const { key } of learner.view(2000).agents) {
          expect(restored.forecast(key, "model")).toEqual(learner.forecast(key, "model"));
        }
        expect(restored.forecast("none/met", "model")).toEqual(learner.forecast("none/met", "model"));
      }),
      { numRuns: 40 },
    );
  });

  test("is read again whatever times and counts calls were told with", () => {
    const number = fc.oneof(fc.double(), fc.constantFrom(0, 1e-310, 1e-5, 1e12, 1.7e308, -1.7e308, Number.MAX_SAFE_INTEGER));
    const told = fc.record({ arrivedSeconds: number, dispatchedSeconds: number, finishedSeconds: number, outputTokens: number });
    fc.assert(
      fc.property(fc.array(told, { maxLength: 40 }), (times) => {
        const learner = new WorkflowLearner();
        for (const [at, call] of times.entries()) {
          learner.finishAlone({ ...testCall({ agent: "agent", ...call }), id: `alone-${at}` });
          learner.finish({ ...testCall({ agent: "agent", ...call }), id: `${at}`, programId: `${at % 5}` });
        }
        for (let at = 0; at < 5; at += 1) learner.end(`${at}`, 0);
        learner.refreshLine();
        expect(WorkflowLearner.restore(JSON.parse(JSON.stringify(learner.keep(0))), 0)).not.toBeNull();
      }),
    );
  });

  test("is refused where it is something else, and never throws", () => {
    const learner = new WorkflowLearner();
    reports(learner, 5);
    const kept = JSON.parse(JSON.stringify(learner.keep(100)));
    const [application] = kept.applications;
    const [agent] = application.agents;
    const withAgent = (changed: object) => ({ ...kept, applications: [{ ...application, agents: [{ ...agent, ...changed }] }] });
    const others = [
      ...[null, undefined, 7, "text", [], {}, { ...kept, version: 2 }, { ...kept, applications: null }],
      withAgent({ remaining: { observations: 3, state: "learning", values: [1, 2, 3, 4] } }),
      withAgent({ remaining: { observations: 1, state: "learning", values: [Number.NaN] } }),
      withAgent({ remaining: { observations: 99, state: "learning", values: Array(34).fill(1) } }),
      withAgent({ remaining: { observations: 0, state: "converged", values: [] } }),
    ];
    for (const other of others) expect(WorkflowLearner.restore(other, 0)).toBeNull();
    expect(WorkflowLearner.restore(withAgent({}), 0)).not.toBeNull();
    fc.assert(
      fc.property(fc.anything(), (anything) => {
        expect(WorkflowLearner.restore(anything, 0)).toBeNull();
        WorkflowLearner.restore(withAgent({ remaining: anything }), 0);
      }),
    );
  });

  test("keeps within smaller bounds what was seen last", () => {
    const learner = new WorkflowLearner();
    for (const [at, application] of ["first", "second", "third"].entries()) reports(learner, 4, { application, from: 1000 * at });
    const restored = WorkflowLearner.restore(learner.keep(5000), 5000, { applications: 2, agents: 1 });
    expect(restored?.view(5000).applications.map(({ name, nodes, edges }) => [name, nodes.length, edges.length])).toEqual([
      ["second", 1, 0],
      ["third", 1, 0],
    ]);
  });
});
