import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import { testCall } from "../testing/testCall";
import { drawKnownProgram } from "../testing/testProgramGraphs";
import { reports, serve } from "../testing/testReports";
import type { LearnerBounds } from "./learnerBounds";
import { WorkflowLearner } from "./workflowLearner";

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

describe("what is learnt of calls that nobody declared:", () => {
  test("the application's graph, with how often each way is taken and what leads back", () => {
    const learner = new WorkflowLearner();
    reports(learner, 40);
    const [application, ...others] = learner.view(500).applications;
    expect(others).toEqual([]);
    expect(application).toMatchObject({ name: "report", programs: 40 });
    expect(application?.meanSeconds).toBeCloseTo(4 + 5 / 4, 9);
    expect(application?.nodes).toEqual([
      expect.objectContaining({ key: "report/planner", name: "planner", calls: 50, programs: 40, begins: 40, ends: 0, depth: 0 }),
      expect.objectContaining({ key: "report/writer", name: "writer", calls: 50, programs: 40, begins: 0, ends: 40, depth: 1 }),
    ]);
    expect(application?.edges).toEqual([
      { from: "report/writer", to: "report/planner", calls: 10, programs: 10, parallel: 0, joins: 0, loop: true },
      { from: "report/planner", to: "report/writer", calls: 50, programs: 40, parallel: 0, joins: 0, loop: false },
    ]);
  });

  test("latencies of requests at once, and of what remains once programs have ended", () => {
    const learner = new WorkflowLearner();
    expect(learner.forecast("report/planner", "model")).toBeUndefined();
    reports(learner, 40);
    learner.refreshLine();
    const [planner, writer] = ["planner", "writer"].map((agent) => learner.forecast(`report/${agent}`, "model"));
    expect(planner).toMatchObject({ agent: "report/planner", requestSeconds: 1 });
    expect(writer).toMatchObject({ agent: "report/writer", requestSeconds: 3 });
    expect(planner?.remainingCalls).toBeCloseTo((30 * 2 + 10 * (4 + 2)) / 50, 9);
    expect(writer?.remainingCalls).toBeCloseTo((30 * 1 + 10 * (3 + 1)) / 50, 9);
    // 10 tokens in 1 s, or in 2 or 3.
    expect(writer?.tokensPerSecond).toBeGreaterThan(3);
    expect(planner?.tokensPerSecond).toBeLessThan(10.1);
    expect(planner?.distanceSeconds).toBeGreaterThan(writer?.distanceSeconds ?? Number.NaN);
  });

  test("nothing that orders calls before a distribution has converged, however clear its few observations look", () => {
    const learner = new WorkflowLearner();
    reports(learner, 5);
    learner.refreshLine();
    expect(learner.lineAgents()).toEqual([]);
    expect(learner.forecast("report/planner", "model")).toMatchObject({ distanceSeconds: 0 });
    expect(learner.forecast("report/planner", "model")?.remainingCalls).toBeGreaterThan(2);
    reports(learner, 40, { from: 1000 });
    expect(learner.lineAgents().map(({ key }) => key)).toEqual(["report/planner", "report/writer"]);
  });

  test("of an agent or a model that was hardly met, what all agents taught", () => {
    const learner = new WorkflowLearner();
    reports(learner, 40);
    learner.refreshLine();
    const known = [learner.forecast("report/planner", "model"), learner.forecast("report/writer", "model")];
    const unknown = learner.forecast("other/agent", "other-model");
    const distances = known.map((forecast) => forecast?.distanceSeconds ?? Number.NaN);
    expect(unknown?.distanceSeconds).toBeGreaterThan(Math.min(...distances));
    expect(unknown?.distanceSeconds).toBeLessThan(Math.max(...distances));
    expect([1, 3]).toContain(unknown?.requestSeconds);
    expect(unknown?.tokensPerSecond).toBe(30);
  });

  test("a new agent has its place on the line before the line is computed anew", () => {
    const learner = new WorkflowLearner();
    reports(learner, 40);
    learner.refreshLine();
    reports(learner, 40, { application: "slow-report", from: 1000, slower: 5 });
    const placed = learner.forecast("slow-report/planner", "model")?.distanceSeconds ?? Number.NaN;
    expect(placed).toBeGreaterThan(2 * (learner.forecast("report/planner", "model")?.distanceSeconds ?? Number.NaN));
    learner.refreshLine();
    expect(learner.forecast("slow-report/planner", "model")?.distanceSeconds).toBeCloseTo(placed, 0);
  });

  test("when behaviour changes, what was before fades", () => {
    const learner = new WorkflowLearner();
    reports(learner, 600);
    reports(learner, 600, { from: 10_000, slower: 4 });
    const view = learner.view(20_000).agents.find(({ key }) => key === "report/writer");
    expect(view?.request[0]?.modeSeconds).toBe(12);
    expect(view?.remaining.quantilesSeconds[0]).toBe(12);
  });
});

test("names that are used once do not push out an application in use", () => {
  const learner = new WorkflowLearner();
  reports(learner, 5);
  for (let at = 0; at < 200; at += 1) {
    learner.finishAlone(testCall({ agent: `probe-${at}`, application: "", arrivedSeconds: 100 + at, finishedSeconds: 101 + at }));
  }
  const { applications, counts } = learner.view(400);
  expect(applications[0]).toMatchObject({ name: "report", programs: 5 });
  expect(applications).toHaveLength(64);
  expect(counts.forgotten).toBe(200 - 63);
});

describe("programs end", () => {
  test("at once where a call is all of its program, which teaches the same as a program of one call", () => {
    const [alone, told] = [new WorkflowLearner(), new WorkflowLearner()];
    for (let at = 0; at < 100; at += 1) {
      const call = testCall({
        agent: at % 3 === 0 ? "" : "writer",
        arrivedSeconds: at,
        finishedSeconds: at + 1 + (at % 7),
        failed: at % 11 === 0,
      });
      const own = { ...call, id: `call ${at}`, programId: `program ${at}`, application: at % 2 === 0 ? "" : "report" };
      const known = alone.comeAlone({ ...own, nowSeconds: at });
      alone.finishAlone(own);
      expect(known).toEqual(told.start({ ...own, nowSeconds: at }));
      told.finish(own);
      told.end(own.programId, own.finishedSeconds);
    }
    expect(alone.keep(200)).toEqual(told.keep(200));
    expect(alone.counts.openPrograms).toBe(0);
  });

  const call = (id: string, arrivedSeconds: number, finishedSeconds: number) =>
    testCall({ id, agent: id, arrivedSeconds, finishedSeconds });

  test("after silence, not while a call is under way, and calls that come then are late: they teach their own latency only", () => {
    const learner = new WorkflowLearner();
    serve(learner, call("a", 0, 10));
    learner.start({ ...call("b", 0, 0), nowSeconds: 20 });
    learner.advance(200);
    expect(learner.counts).toMatchObject({ programs: 0, openPrograms: 1 });
    learner.finish(call("b", 20, 210));
    learner.advance(239);
    expect(learner.counts.programs).toBe(0);
    learner.advance(240);
    expect(learner.counts).toMatchObject({ programs: 1, openPrograms: 0 });
    serve(learner, call("c", 300, 301));
    learner.advance(1000);
    expect(learner.counts).toMatchObject({ programs: 1, calls: 3, lateCalls: 1 });
    expect(learner.view(1000).applications[0]?.nodes.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(learner.view(1000).agents.find(({ name }) => name === "c")).toMatchObject({
      remaining: { observations: 0 },
      request: [{ observations: 1 }],
    });
  });

  test("a few at a time where asked to, and all of them in the end", () => {
    const learner = new WorkflowLearner();
    for (let at = 0; at < 10; at += 1) serve(learner, { ...call("a", at, at + 1), programId: `program ${at}` });
    expect(learner.advance(1000, 4)).toBe(true);
    expect(learner.counts).toMatchObject({ programs: 4, openPrograms: 6 });
    expect(learner.advance(1000, 6)).toBe(false);
    expect(learner.counts).toMatchObject({ programs: 10, openPrograms: 0 });
  });

  test("an application whose programs went on after a pause is waited for twice as long", () => {
    const learner = new WorkflowLearner();
    serve(learner, call("a", 0, 10));
    learner.advance(50);
    serve(learner, call("b", 60, 61));
    const later = (id: string, at: number) => serve(learner, { ...call(id, at, at + 1), programId: "later" });
    later("a", 2000);
    learner.advance(2060);
    later("b", 2061);
    learner.advance(2161);
    expect(learner.counts).toMatchObject({ programs: 1, lateCalls: 1 });
    learner.advance(2162);
    expect(learner.counts).toMatchObject({ programs: 2, lateCalls: 1 });
  });

  test("a name that comes again after the longest wait is another program", () => {
    const learner = new WorkflowLearner();
    serve(learner, call("a", 0, 10));
    learner.advance(100);
    serve(learner, call("b", 611, 612));
    learner.advance(700);
    expect(learner.counts).toMatchObject({ programs: 2, lateCalls: 0 });
  });

  test("when it is said, once what is under way has ended", () => {
    const learner = new WorkflowLearner();
    serve(learner, call("a", 0, 1));
    learner.start({ ...call("b", 0, 0), nowSeconds: 1 });
    learner.end("program", 2);
    expect(learner.counts.programs).toBe(0);
    learner.finish(call("b", 1, 3));
    expect(learner.counts).toMatchObject({ programs: 1, openPrograms: 0 });
  });

  test("although an end was never told, after an hour", () => {
    const learner = new WorkflowLearner();
    serve(learner, call("a", 0, 1));
    learner.start({ ...call("b", 0, 0), nowSeconds: 1 });
    learner.advance(3600);
    expect(learner.counts.programs).toBe(0);
    learner.advance(3601);
    expect(learner.counts).toMatchObject({ programs: 1, calls: 1, openPrograms: 0 });
  });

  test("and leave nothing where no call of theirs ever reached an engine", () => {
    const learner = new WorkflowLearner();
    learner.start({ ...call("a", 0, 0), nowSeconds: 0 });
    learner.leave("a", "program");
    learner.leave("a", "program");
    learner.advance(100);
    expect(learner.counts).toMatchObject({ programs: 0, calls: 0, openPrograms: 0 });
  });
});

test("a failed call stands in the graph and teaches no latency, its program no remaining latency", () => {
  const learner = new WorkflowLearner();
  serve(learner, testCall({ agent: "a", arrivedSeconds: 0, finishedSeconds: 1 }));
  serve(learner, testCall({ agent: "b", arrivedSeconds: 1, finishedSeconds: 2, failed: true }));
  learner.end("program", 2);
  const { agents, applications } = learner.view(2);
  expect(applications[0]?.nodes.map(({ calls }) => calls)).toEqual([1, 1]);
  expect(agents.map(({ request, remaining }) => [request.length, remaining.observations])).toEqual([
    [1, 0],
    [0, 0],
  ]);
});

test("an application without a name has that of its first agent, calls without one are unnamed, and names of prototypes are names", () => {
  const learner = new WorkflowLearner();
  const come = (programId: string, application: string, agent: string) =>
    learner.start({ id: "1", programId, application, agent, upstream: [], nowSeconds: 5, startedSeconds: 2 });
  expect(come("p", "", "router")).toEqual({ agentKey: "router/router", programStartSeconds: 2 });
  expect(come("p", "other", "writer").agentKey).toBe("router/writer");
  expect(come("q", "", "").agentKey).toBe("unnamed/");
  expect(come("r", "a/b", "c/d").agentKey).toBe("a-b/c/d");
  for (const name of ["__proto__", "constructor", "toString"]) {
    serve(learner, testCall({ programId: name, application: name, agent: name, arrivedSeconds: 5, finishedSeconds: 6 }));
    learner.end(name, 6);
    expect(learner.forecast(`${name}/${name}`, "model")).toMatchObject({ agent: `${name}/${name}`, remainingCalls: 1 });
  }
  serve(learner, testCall({ programId: "q", id: "2", application: "", agent: "", arrivedSeconds: 5, finishedSeconds: 6 }));
  expect(learner.counts.unnamedCalls).toBe(1);
  serve(learner, testCall({ programId: "s", application: "unnamed", agent: "unnamed", arrivedSeconds: 5, finishedSeconds: 6 }));
  expect(learner.counts.unnamedCalls).toBe(1);
  const names = learner.view(6).agents.filter(({ application }) => application === "unnamed");
  expect(names.map(({ key, name }) => [key, name])).toEqual([
    ["unnamed/", ""],
    ["unnamed/unnamed", "unnamed"],
  ]);
});

test("a program of more calls than are kept teaches how long its first ones had yet to go", () => {
  const learner = new WorkflowLearner({ callsOfProgram: 4 });
  for (let at = 0; at < 10; at += 1) serve(learner, testCall({ agent: "a", arrivedSeconds: at, finishedSeconds: at + 1 }));
  learner.end("program", 10);
  const { applications, agents, counts } = learner.view(10);
  expect(counts).toMatchObject({ calls: 10, programs: 1, openPrograms: 0 });
  expect(applications[0]?.nodes[0]?.calls).toBe(4);
  expect(agents[0]?.remaining.quantilesSeconds.at(-1)).toBe(10);
});

test("a program that goes on for long beyond the calls that are kept is ended, and what comes is another, so that something is learnt of it", () => {
  const learner = new WorkflowLearner({ callsOfProgram: 10, longestQuietSeconds: 60 });
  // A call always arrives before the previous one has ended.
  const calls = Array.from({ length: 1000 }, (_, at) => testCall({ agent: "a", arrivedSeconds: 2 * at, finishedSeconds: 2 * at + 3 }));
  let programStartSeconds = 0;
  for (const [at, call] of calls.entries()) {
    ({ programStartSeconds } = learner.start({ ...call, nowSeconds: call.arrivedSeconds }));
    if (at > 0) learner.finish(calls[at - 1] ?? call);
  }
  // Ten calls and all within 60 s of the first without room; from the second program on the first of them was already in flight.
  expect(learner.counts).toMatchObject({ programs: 24, calls: 999, openPrograms: 1, lateCalls: 0 });
  expect(programStartSeconds).toBe(2 * (41 + 23 * 40));
});

test("calls of all programs under way together are bounded, and the program heard of longest ago goes", () => {
  const learner = new WorkflowLearner({ calls: 20, callsOfProgram: 8 });
  const call = (programId: string, at: number) =>
    testCall({ agent: programId.split(" ")[0] ?? "", programId, arrivedSeconds: at, finishedSeconds: at + 1 });
  // Ended and cancelled programs take no room.
  for (let at = 0; at < 100; at += 1) {
    serve(learner, call(`ended ${at}`, at));
    learner.end(`ended ${at}`, at + 1);
    learner.start({ ...call(`left ${at}`, at), nowSeconds: at });
    learner.leave(call(`left ${at}`, at).id, `left ${at}`);
  }
  for (let at = 0; at < 5; at += 1) for (const program of ["first", "second", "third", "fourth"]) serve(learner, call(program, 200 + at));
  expect(learner.counts).toMatchObject({ openPrograms: 4, forgotten: 0 });
  serve(learner, call("third", 210));
  expect(learner.counts).toMatchObject({ openPrograms: 3, forgotten: 1 });
  for (let at = 0; at < 10; at += 1) serve(learner, call("third", 211 + at));
  expect(learner.counts).toMatchObject({ openPrograms: 3, forgotten: 1 });
  for (let at = 0; at < 8; at += 1) serve(learner, call("fifth", 230 + at));
  expect(learner.counts).toMatchObject({ openPrograms: 2, forgotten: 3 });
  learner.advance(1000);
  const nodes = learner.view(1000).applications.flatMap((application) => application.nodes);
  expect(nodes.map(({ name, calls }) => [name, calls])).toEqual([
    ["ended", 100],
    ["third", 8],
    ["fifth", 8],
  ]);
});

/** Possible reports of calls: in disorder, twice, or not at all. */
const told = fc.record({ order: fc.nat(), lost: fc.nat(4), twice: fc.boolean(), early: fc.boolean() });

describe("whatever is told late, twice, in disorder or never,", () => {
  const bounds: Partial<LearnerBounds> = {
    applications: 3,
    agents: 5,
    edges: 7,
    callsOfProgram: 20,
    openPrograms: 6,
    endedPrograms: 5,
    models: 2,
    modelsOfAgent: 1,
  };

  test("nothing throws, counts add up, and what is held is bounded", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5000), { minLength: 1, maxLength: 12 }), told, (seeds, { order, lost, twice, early }) => {
        const learner = new WorkflowLearner(bounds);
        const random = seededRandom(order);
        const calls = seeds.flatMap((seed, program) =>
          drawKnownProgram(seed).calls.map((call, index) => ({
            ...call,
            ...{ programId: `${program}`, application: `app-${program % 5}`, model: `model-${index % 3}`, failed: index % 11 === 10 },
          })),
        );
        const events = calls.flatMap((call) => {
          const comes = () => learner.start({ ...call, nowSeconds: call.arrivedSeconds });
          const ends = () => (random.next() < 0.1 ? learner.leave(call.id, call.programId) : learner.finish(call));
          const both = early ? [ends, comes] : [comes, ends];
          const kept = both.filter(() => random.int(10) >= lost);
          return twice ? [...kept, ...kept] : kept;
        });
        for (const index of shuffled(events.length, random)) {
          events[index]?.();
          if (random.next() < 0.05) learner.advance(100 * random.next());
          if (random.next() < 0.02) learner.end(`${random.int(12)}`, 50);
        }
        learner.advance(1e6);
        learner.refreshLine();
        const { applications, agents, counts } = learner.view(1e6);
        expect(applications.length).toBeLessThanOrEqual(3);
        expect(agents.length).toBeLessThanOrEqual(15);
        for (const { nodes, edges } of applications) {
          expect(nodes.length).toBeLessThanOrEqual(5);
          expect(edges.length).toBeLessThanOrEqual(7);
          const keys = nodes.map(({ key }) => key);
          for (const edge of edges) {
            expect(keys).toContain(edge.from);
            expect(keys).toContain(edge.to);
            expect(edge.programs).toBeLessThanOrEqual(edge.calls);
            expect(edge.parallel).toBeLessThanOrEqual(edge.calls);
            expect(edge.joins).toBeLessThanOrEqual(edge.calls);
          }
        }
        expect(counts.openPrograms).toBe(0);
        expect(counts.calls).toBeLessThanOrEqual(calls.length * (twice ? 2 : 1));
        expect(total(applications.flatMap(({ nodes }) => nodes.map((node) => node.calls)))).toBeLessThanOrEqual(counts.calls);
        for (const { request, remaining } of agents) {
          expect(request.length).toBeLessThanOrEqual(1);
          for (const { quantilesSeconds } of [...request, remaining]) {
            for (const quantile of quantilesSeconds) expect(quantile).toBeGreaterThanOrEqual(0);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test("calls told of in any order within their programs give the same graphs", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5000), { minLength: 1, maxLength: 6 }), fc.nat(), (seeds, order) => {
        const calls = seeds.flatMap((seed, program) => drawKnownProgram(seed).calls.map((call) => ({ ...call, programId: `${program}` })));
        const random = seededRandom(order);
        const [inOrder, inDisorder] = [calls, [...shuffled(calls.length, random)].flatMap((at) => calls[at] ?? [])].map((told) => {
          const learner = new WorkflowLearner({ agents: 1000, edges: 10_000 });
          for (const call of told) learner.start({ ...call, nowSeconds: call.arrivedSeconds });
          for (const call of told) learner.finish(call);
          for (const program of seeds.keys()) learner.end(`${program}`, 1000);
          const { applications, counts } = learner.view(1000);
          const byKey = (a: { key: string }, b: { key: string }): number => (a.key < b.key ? -1 : 1);
          return {
            counts,
            nodes: applications[0]?.nodes
              .map(({ key, calls, begins, ends, depth }) => ({ key, calls, begins, ends, depth: depth.toFixed(9) }))
              .sort(byKey),
            edges: applications[0]?.edges.map((edge) => ({ key: `${edge.from}>${edge.to}`, ...edge })).sort(byKey),
          };
        });
        expect(inDisorder).toEqual(inOrder);
      }),
      { numRuns: 40 },
    );
  });

  test("times that are no numbers or run backwards corrupt nothing", () => {
    const learner = new WorkflowLearner();
    const times = [Number.NaN, Number.POSITIVE_INFINITY, -5, 0, 7];
    let id = 0;
    for (const arrivedSeconds of times) {
      for (const dispatchedSeconds of times) {
        for (const finishedSeconds of times) {
          id += 1;
          const call = testCall({ id: `${id}`, agent: "a", arrivedSeconds, dispatchedSeconds, finishedSeconds, outputTokens: Number.NaN });
          learner.start({ ...call, nowSeconds: 3 });
          learner.finish(call);
        }
      }
    }
    learner.end("program", 10);
    learner.refreshLine();
    const { agents, counts } = learner.view(10);
    expect(counts).toMatchObject({ programs: 1, openPrograms: 0, calls: 27 });
    for (const quantile of agents[0]?.remaining.quantilesSeconds ?? []) expect(quantile).toBeGreaterThanOrEqual(0);
    expect(agents[0]?.remaining.quantilesSeconds.at(-1)).toBe(12);
  });
});
