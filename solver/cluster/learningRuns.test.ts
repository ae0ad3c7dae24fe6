import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mean } from "@/solver/numeric/quantile";
import type { OrderDocument, PlaceDocument, PolicyDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Policy, WaitingWork } from "@/solver/policies/core/policy";
import type { Place } from "@/solver/policies/core/policyParts";
import { jointPolicy } from "@/solver/policies/jointPolicy";
import { fcfsOrder } from "@/solver/policies/orders/fcfsOrder";
import { fixedRoute } from "@/solver/policies/routes/fixedRoute";
import { type ComingCall, type KnownCall, WorkflowLearner } from "@/solver/workflow/learning/workflowLearner";
import { oraclePredictions } from "@/solver/workflow/oraclePredictions";
import { workflows } from "@/solver/workflow/templates";
import type { Workflow } from "@/solver/workflow/workflow";
import type { ProgramOutcome } from "./programOutcome";
import { simulatePrograms } from "./simulatePrograms";
import { chain, fan, programsOf, single, testReplicas, workflowOf } from "./testing/testPrograms";

const fcfs: OrderDocument = { kind: "fcfs" };
const workflow: OrderDocument = { kind: "workflow", agingThreshold: 10_000 };
const depth: OrderDocument = { kind: "depth", agingThreshold: 10_000 };
const inTurn: PlaceDocument = { kind: "round-robin" };
const timeSlots: PlaceDocument = { kind: "time-slots" };
const small = (order: OrderDocument, place: PlaceDocument): PolicyDocument => ({ kind: "fixed", model: "small", order, place });

/** The workflow with a unique name for each of its agents. */
const named = (name: string, { stages, ...rest }: Workflow): Workflow => ({
  ...{ ...rest, name },
  stages: stages.map((stage, at) => ({ ...stage, role: `${name}-${at}` })),
});

/** The same policy, which fails the test where it sends work that does not wait, or more to a replica than its limit. */
function guarded(policy: Policy, most: number, works: WaitingWork[] = []): Policy {
  const inFlight = new Map<string, number>();
  const waits = new Set<string>();
  return {
    ...policy,
    observe(event) {
      policy.observe(event);
      if (event.kind === "queued") {
        works.push(event.work);
        waits.add(event.work.id);
      }
      if (event.kind === "dispatched") {
        expect(waits.delete(event.workId)).toBe(true);
        const held = (inFlight.get(event.replicaId) ?? 0) + 1;
        expect(held).toBeLessThanOrEqual(most);
        inFlight.set(event.replicaId, held);
      }
      if (event.kind === "finished") inFlight.set(event.replicaId, (inFlight.get(event.replicaId) ?? 0) - 1);
    },
  };
}

const anyRun = fc.record({
  workflows: fc.constantFrom([chain], [named("short", single), named("long", chain)], [named("wide", fan), named("short", single)]),
  programsPerSecond: fc.constantFrom(0.5, 5, 100),
  seed: fc.nat(1000),
});
const anyPolicy = fc
  .tuple(fc.constantFrom(fcfs, workflow, depth), fc.constantFrom(inTurn, timeSlots))
  .map(([order, place]) => small(order, place));
/** A cache that holds every program of a run alone, and few of them together. */
const anyMemory = fc.constantFrom(9000, 15_000, 60_000);

describe("a simulation in which workflows are learnt", () => {
  it("serves every request of every program once, whatever is held back for want of memory", () => {
    fc.assert(
      fc.property(anyRun, anyPolicy, anyMemory, fc.constantFrom(0, 1, 16), (drawn, document, kvTokens, telemetrySeconds) => {
        const sample = programsOf({ ...drawn, programs: 40 });
        const policy = guarded(buildPolicy(document), 16);
        const outcome = simulatePrograms({ policy, sample, replicas: testReplicas(2, { maxInFlight: 16, kvTokens }), telemetrySeconds });
        expect(outcome.unserved).toBe(0);
        expect(outcome.waitSeconds.every((seconds) => seconds >= 0)).toBe(true);
        expect(outcome.preemptedRequests).toBeLessThanOrEqual(outcome.preemptions);
        expect(outcome.preemptedRequests > 0).toBe(outcome.preemptions > 0);
      }),
      { numRuns: 40 },
    );
  });

  it("gives the very same figures for the same sample, policy and engines", () => {
    fc.assert(
      fc.property(anyRun, anyPolicy, anyMemory, (drawn, document, kvTokens) => {
        const sample = programsOf({ ...drawn, programs: 60 });
        const replicas = testReplicas(2, { kvTokens });
        const run = () => simulatePrograms({ policy: buildPolicy(document), sample, replicas, telemetrySeconds: 1 });
        expect(run()).toEqual(run());
      }),
      { numRuns: 15 },
    );
  });

  it("knows nothing of the first programs, and of later ones each agent's own figures", () => {
    const sample = programsOf({ workflows: [named("long", chain), named("short", single)], programs: 800, programsPerSecond: 2, seed: 3 });
    const works: WaitingWork[] = [];
    const policy = guarded(buildPolicy(small(workflow, inTurn)), 32, works);
    simulatePrograms({ policy, sample, replicas: testReplicas(2) });
    expect(works[0]?.forecast).toBeUndefined();
    const last = (agent: string) => works.filter(({ forecast }) => forecast?.agent === agent).at(-1)?.forecast;
    const along = [0, 1, 2, 3].map((stage) => last(`long/long-${stage}`));
    expect(along.map((forecast) => forecast?.remainingCalls)).toEqual([4, 3, 2, 1]);
    const distances = along.map((forecast) => forecast?.distanceSeconds ?? Number.NaN);
    expect(distances).toEqual([...distances].sort((a, b) => b - a));
    expect(new Set(distances).size).toBe(4);
    expect(last("short/short-0")?.remainingCalls).toBe(1);
    expect(last("short/short-0")?.tokensPerSecond).toBeGreaterThan(0);
  });

  it("shows a learner of one's own the workflows as they are", () => {
    const sample = programsOf({ workflows: [named("wide", fan)], programs: 60, programsPerSecond: 1, seed: 3 });
    const learner = new WorkflowLearner();
    const { horizonSeconds } = simulatePrograms({ policy: buildPolicy(small(fcfs, inTurn)), sample, replicas: testReplicas(2), learner });
    const { applications, counts } = learner.view(horizonSeconds);
    expect(counts).toMatchObject({ programs: 60, calls: 300, openPrograms: 0, unnamedCalls: 0, lateCalls: 0, missingUpstream: 0 });
    const [wide] = applications;
    expect(wide).toMatchObject({ name: "wide", programs: 60 });
    const edges = wide?.edges.map(({ from, to, calls, parallel, joins, loop }) => [from, to, calls, parallel, joins, loop]);
    const agent = (stage: number): string => `wide/wide-${stage}`;
    expect(new Set(edges)).toEqual(
      new Set([
        ...[1, 2, 3].map((stage) => [agent(0), agent(stage), 60, 60, 0, false]),
        ...[1, 2, 3].map((stage) => [agent(stage), agent(4), 60, 0, 60, false]),
      ]),
    );
  });

  it.each([
    ["voting", [["voter", "aggregator", 4]], { voter: 2, aggregator: 1 }],
    [
      "decomposition",
      [
        ["decomposer", "part-solver", 3],
        ["part-solver", "joiner", 3],
      ],
      { decomposer: 3, "part-solver": 2, joiner: 1 },
    ],
  ] as const)("shows every call that a call of %s follows, although several are of one agent", (name, follows, remainingCalls) => {
    const shipped = workflows.filter((own) => own.name === name);
    const sample = programsOf({ workflows: shipped, programs: 60, programsPerSecond: 1, seed: 3 });
    const learner = new WorkflowLearner();
    const { horizonSeconds } = simulatePrograms({ policy: buildPolicy(small(fcfs, inTurn)), sample, replicas: testReplicas(2), learner });
    const { applications, agents, counts } = learner.view(horizonSeconds);
    expect(counts).toMatchObject({ programs: 60, missingUpstream: 0 });
    const key = (agent: string): string => `${name}/${agent}`;
    expect(applications[0]?.edges.map(({ from, to, calls, joins }) => [from, to, calls, joins])).toEqual(
      follows.map(([from, to, answers], at) => [key(from), key(to), 60 * answers, at === follows.length - 1 ? 60 * answers : 0]),
    );
    expect(Object.fromEntries(agents.map((agent) => [agent.name, agent.remainingCalls]))).toEqual(remainingCalls);
  });

  it("tells a learner that a call came when its client could send it, however long its length takes to predict", () => {
    class Watched extends WorkflowLearner {
      readonly cameSeconds: number[] = [];
      override start(call: ComingCall): KnownCall {
        this.cameSeconds.push(call.nowSeconds);
        return super.start(call);
      }
    }
    const sample = programsOf({ workflows: [named("short", single)], programs: 50, programsPerSecond: 1, seed: 3 });
    const learner = new Watched();
    const { waitSeconds } = simulatePrograms({
      ...{ policy: buildPolicy(small({ kind: "sjf", agingThreshold: 10_000 }, inTurn)), sample, replicas: testReplicas(2), learner },
      ...{ predictions: oraclePredictions(sample), overhead: { routeSeconds: 0, predictSeconds: 3, decideSeconds: 0 } },
    });
    expect(Math.min(...waitSeconds)).toBeGreaterThan(2.9);
    expect(learner.cameSeconds).toEqual([...sample.arrivalSeconds]);
  });

  it("has fewer requests preempted where memory is tight and packed over time than where replicas go in turn, and ends programs no later", () => {
    const drawn = programsOf({ workflows: [named("long", chain), named("short", single)], programs: 1000, programsPerSecond: 5, seed: 5 });
    // Answers with about the length of the agent's others: packing by an agent's most frequent time depends on that.
    const outputTokens = drawn.outputTokens.map((tokens) => tokens.map((each, request) => (request % 5 < 2 ? 400 : 40) + (each % 20)));
    const run = (place: PlaceDocument) =>
      simulatePrograms({
        ...{ policy: buildPolicy(small(fcfs, place)), sample: { ...drawn, outputTokens } },
        replicas: testReplicas(3, { kvTokens: 9000 }),
      });
    const [turned, packed] = [run(inTurn), run(timeSlots)];
    expect(turned.preemptedRequests).toBeGreaterThan(400);
    expect(packed.preemptedRequests).toBeLessThan(0.5 * turned.preemptedRequests);
    expect(mean(packed.endToEndSeconds)).toBeLessThan(mean(turned.endToEndSeconds));
  });

  it("ends programs sooner in the mean by the agents' order than by arrival, and sooner yet by an oracle's", () => {
    const sample = programsOf({ workflows: [named("long", chain), named("short", single)], programs: 900, programsPerSecond: 7, seed: 4 });
    const run = (order: OrderDocument): ProgramOutcome =>
      simulatePrograms({
        ...{ policy: buildPolicy(small(order, inTurn)), sample, replicas: testReplicas(1, { maxInFlight: 16 }) },
        ...(order.kind === "stjf" && { predictions: oraclePredictions(sample) }),
      });
    const [arrival, agents, oracle] = [fcfs, workflow, { kind: "stjf", agingThreshold: 10_000 } as const].map((order) =>
      mean(run(order).endToEndSeconds),
    );
    expect(agents).toBeLessThan(0.8 * (arrival ?? 0));
    expect(oracle).toBeLessThan(0.9 * (agents ?? 0));
  });

  it("keeps no program of an agent waiting for those that began after it, while its figures change as more is learnt", () => {
    const sample = programsOf({ workflows: [named("long", workflowOf([], [0]))], programs: 1000, programsPerSecond: 4.4, seed: 4 });
    const longest = (order: OrderDocument) => {
      const replicas = testReplicas(1, { maxInFlight: 16 });
      const { waitSeconds } = simulatePrograms({ policy: buildPolicy(small(order, inTurn)), sample, replicas });
      return Math.max(...waitSeconds);
    };
    expect(longest(workflow)).toBeLessThan(1.2 * longest(depth));
  });
});

describe("a policy that holds work back", () => {
  /** A place that sends nothing to its only replica before a time, and from then on everything. */
  const heldUntil = (fromSeconds: number, askAgainSeconds: (now: number) => number): Policy => {
    const place: Place = {
      ...{ kind: "held", needs: [] },
      choose: (slots, _, now) => (now < fromSeconds ? -1 : slots.inFlight.findIndex((held, at) => held < (slots.capacity[at] ?? 0))),
      askAgainSeconds,
    };
    return jointPolicy({ route: fixedRoute({ model: "small" }), order: fcfsOrder, place });
  };
  const sample = programsOf({ workflows: [single], programs: 3, programsPerSecond: 100, seed: 1 });

  it("is asked again when it says, although nothing happens", () => {
    const { waitSeconds, readySeconds, unserved } = simulatePrograms({
      ...{ policy: heldUntil(25.25, (now) => Math.floor(now) + 1), sample },
      replicas: testReplicas(1, { requestSeconds: () => 0 }),
    });
    expect(unserved).toBe(0);
    for (const [request, wait] of waitSeconds.entries()) expect(wait + readySeconds[request]!).toBeCloseTo(26, 9);
  });

  it("sends everything at once when it may, however much that is", () => {
    const many = programsOf({ workflows: [single], programs: 1000, programsPerSecond: 100, seed: 1 });
    const sentAt: number[] = [];
    const policy = heldUntil(50, () => 50);
    const watched: Policy = {
      ...policy,
      observe(event) {
        if (event.kind === "dispatched") sentAt.push(event.nowSeconds);
        policy.observe(event);
      },
    };
    const replicas = testReplicas(1, { maxInFlight: 1_000_000 });
    expect(simulatePrograms({ policy: watched, sample: many, replicas }).unserved).toBe(0);
    expect(sentAt).toEqual(Array.from({ length: 1000 }, () => 50));
  });

  it("is not asked for ever when nothing else happens any more, and not at a time that has passed", () => {
    const run = (policy: Policy) => simulatePrograms({ policy, sample, replicas: testReplicas(1) });
    expect(run(heldUntil(Number.POSITIVE_INFINITY, (now) => now + 1)).unserved).toBe(3);
    expect(() => run(heldUntil(10, (now) => now))).toThrow("which is not later");
  });
});
