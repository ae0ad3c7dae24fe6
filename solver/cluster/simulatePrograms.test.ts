import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mean } from "@/solver/numeric/quantile";
import type { JustInTimePolicy, OrderDocument, PlaceDocument, PolicyDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Policy, Reading } from "@/solver/policies/core/policy";
import { oraclePredictions } from "@/solver/workflow/oraclePredictions";
import type { Workflow } from "@/solver/workflow/workflow";
import { simulateCluster } from "./simulateCluster";
import { simulatePrograms } from "./simulatePrograms";
import { chain, fan, programsOf, single, testModels, testReplicas, workflowOf } from "./testing/testPrograms";

const fcfs: OrderDocument = { kind: "fcfs" };
const stjf: OrderDocument = { kind: "stjf", agingThreshold: 10_000 };
const leastLoad: PlaceDocument = { kind: "least-load" };
/** More than an engine ever gets: all waiting is inside it. */
const inEngines = 1_000_000;

const balanced = (order: OrderDocument = fcfs, place: PlaceDocument = leastLoad): PolicyDocument => ({
  ...{ kind: "balanced", order, place },
  models: testModels.map((model) => ({ model, maxBatchSize: 32 })),
});

const slack = (order: OrderDocument): PolicyDocument => ({
  ...{ kind: "slack", order, place: leastLoad, tau: 0.5, deltaScore: 0.05, floorSeconds: 2 },
  models: testModels.map((model, size) => ({ model, maxBatchSize: 32, decodeSecondsPerToken: 0.02, confidence: 0.4 + 0.3 * size })),
  approvedRanges: { tau: { min: 0, max: 10 }, deltaScore: { min: 0, max: 1 } },
});

const JUDGE_SECONDS = 0.2;

const cascade: NonNullable<JustInTimePolicy["singles"]> = {
  ...{ kind: "cascade", stages: testModels.map((model) => ({ model })), thresholds: [50] },
  judge: { model: "judge", secondsPerCall: JUDGE_SECONDS, usdPerCall: 0 },
  approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
};

const rounds = (selection: JustInTimePolicy["selection"]): PolicyDocument => ({
  ...{ kind: "just-in-time", workflows: [], selection, singles: cascade, order: fcfs, place: leastLoad },
  models: testModels.map((model, at) => ({
    ...{ model, cost: at + 1, saturationBatch: 8, meanOutputTokens: 100 },
    throughput: [
      { batch: 1, tokensPerSecond: 90 },
      { batch: 8, tokensPerSecond: 500 },
    ],
  })),
});

/** Workflows with stages that read any of the earlier ones. */
const anyWorkflow: fc.Arbitrary<Workflow> = fc
  .array(fc.nat(63), { minLength: 1, maxLength: 6 })
  .map((masks) =>
    workflowOf(...masks.map((mask, at) => Array.from({ length: at }, (_, read) => read).filter((read) => (mask >> read) & 1))),
  );

const anyRun = fc.record({
  workflows: fc.array(anyWorkflow, { minLength: 1, maxLength: 3 }),
  programsPerSecond: fc.constantFrom(0.5, 5, 100),
  seed: fc.nat(1000),
});
const anyPolicy = fc.constantFrom(
  balanced(),
  balanced(stjf),
  slack(fcfs),
  slack({ kind: "mlfq", quantaSeconds: [1, 4], agingThreshold: 20 }),
);

/** The same policy, which fails the test where a replica exceeds its limit, or has room that queued work could take. */
function guarded(policy: Policy, ended: string[]): Policy {
  const inFlight = new Map<string, number>();
  const queuedAt = new Map<string, string>();
  return {
    ...policy,
    decide(view) {
      const actions = policy.decide(view);
      for (const model of testModels) {
        const replicas = view.replicas.filter((replica) => replica.model === model);
        const room = replicas.reduce((sum, { maxInFlight, id }) => sum + maxInFlight - (inFlight.get(id) ?? 0), 0);
        const queued = [...queuedAt.values()].filter((at) => at === model).length;
        const sent = actions.filter(({ kind, workId }) => kind === "dispatch" && queuedAt.get(workId) === model).length;
        expect(sent).toBe(Math.min(room, queued));
      }
      return actions;
    },
    observe(event) {
      policy.observe(event);
      if (event.kind === "queued") queuedAt.set(event.work.id, policy.modelOfStage(event.work.stage));
      if (event.kind === "dispatched") {
        expect(queuedAt.delete(event.workId)).toBe(true);
        inFlight.set(event.replicaId, (inFlight.get(event.replicaId) ?? 0) + 1);
      }
      if (event.kind === "finished") inFlight.set(event.replicaId, (inFlight.get(event.replicaId) ?? 0) - 1);
      if (event.kind === "ended") ended.push(event.programId);
    },
  };
}

describe("simulatePrograms", () => {
  it("serves every request of every program once, after all that it reads, and leaves no room unused", () => {
    fc.assert(
      fc.property(anyRun, anyPolicy, fc.integer({ min: 1, max: 40 }), (drawn, document, maxInFlight) => {
        const sample = programsOf({ ...drawn, programs: 30 });
        const ended: string[] = [];
        const policy = guarded(buildPolicy(document), ended);
        const outcome = simulatePrograms({
          policy,
          sample,
          replicas: testReplicas(2, { maxInFlight }),
          predictions: oraclePredictions(sample),
        });
        expect(outcome.unserved).toBe(0);
        expect(new Set(ended).size).toBe(30);
        expect(ended).toHaveLength(30);
        const written = new Int32Array(30);
        const waited = new Float64Array(30);
        for (const [request, program] of sample.program.entries()) {
          written[program]! += sample.outputTokens[outcome.model[request]!]![request]!;
          waited[program]! += outcome.waitSeconds[request]!;
          expect(outcome.waitSeconds[request]).toBeGreaterThanOrEqual(0);
          const first = sample.firstRequest[program]!;
          const { reads } = sample.workflows[sample.workflow[program]!]!.stages[request - first]!;
          const ready = outcome.readySeconds[request]!;
          for (const read of reads) expect(ready).toBeGreaterThan(outcome.readySeconds[first + read]! + outcome.waitSeconds[first + read]!);
          if (reads.length === 0) expect(ready).toBe(sample.arrivalSeconds[program]);
          expect(ready - sample.arrivalSeconds[program]!).toBeLessThan(outcome.endToEndSeconds[program]!);
        }
        expect(outcome.outputTokens).toEqual(written);
        expect(outcome.queueSeconds).toEqual(waited);
        expect(outcome.quality.every((quality) => quality >= 0 && quality <= 100)).toBe(true);
        expect(outcome.busyShare.every((share) => share >= 0 && share <= 1)).toBe(true);
        // No engine holds any requests while it does not step.
        expect(outcome.fullShare.every((share, model) => share >= 0 && share <= (outcome.busyShare[model] ?? 0) + 1e-9)).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  it("gives the very same figures for the same sample, policy and engines", () => {
    fc.assert(
      fc.property(anyRun, anyPolicy, fc.constantFrom(3, inEngines), (drawn, document, maxInFlight) => {
        const sample = programsOf({ ...drawn, programs: 40 });
        const replicas = testReplicas(2, { maxInFlight, aging: { starvedSteps: 20, quantumSteps: 50 } });
        const overhead = { routeSeconds: 0.1, predictSeconds: 0.02, decideSeconds: 0.001 };
        const run = () =>
          simulatePrograms({
            policy: buildPolicy(document),
            sample,
            replicas,
            predictions: oraclePredictions(sample),
            overhead,
            telemetrySeconds: 1,
          });
        expect(run()).toEqual(run());
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ["balanced", balanced(), 8],
    ["slack", slack({ kind: "sjf", agingThreshold: 5 }), 8],
    ["slack, waiting in engines", slack(stjf), inEngines],
    ["balanced, by what is learnt", balanced({ kind: "workflow", agingThreshold: 5 }, { kind: "time-slots" }), 8],
    ["a judged cascade", { ...cascade, order: fcfs, place: leastLoad }, 8],
    ["rounds with a judged cascade", rounds({ kind: "beam", width: 4 }), 8],
    ["rounds by worth with a judged cascade", rounds({ kind: "worth", rightSeconds: 0, delayWeight: 1 }), 8],
  ] as const)("serves programs of one stage as the simulation of requests does: %s", (_, document, maxInFlight) => {
    const sample = programsOf({ workflows: [single], programs: 400, programsPerSecond: 30, seed: 3 });
    const replicas = testReplicas(1, { maxInFlight });
    const { requestTokens } = oraclePredictions(sample);
    const scoring = { scores: sample.label, seconds: JUDGE_SECONDS };
    const programs = simulatePrograms({ policy: buildPolicy(document), sample, replicas, predictions: { requestTokens }, scoring });
    const requests = simulateCluster({
      policy: buildPolicy(document),
      replicas,
      sample: { arrivalSeconds: sample.arrivalSeconds, prompt: sample.prompt },
      outcomes: {
        promptIds: Array.from(sample.prompt, String),
        categories: Array.from(sample.prompt, () => "all"),
        inputTokens: sample.givenTokens,
        models: testModels.map((model, at) => {
          const label = sample.label[at]!;
          return { model, tableName: model, outputTokens: sample.outputTokens[at]!, label, judged: label };
        }),
      },
      judgeSeconds: JUDGE_SECONDS,
      predictTokens: (request, stage) => requestTokens(request, stage)!,
    });
    expect(programs.endToEndSeconds).toEqual(requests.endToEndSeconds);
    expect(programs.model).toEqual(requests.finalStage);
    expect(programs.quality).toEqual(requests.quality);
    expect(programs.horizonSeconds).toBe(requests.horizonSeconds);
    expect(programs.busyShare).toEqual(requests.stages.map(({ busyShare }) => busyShare));
  });

  it("tells an engine that is always busy with one request from one that is full", () => {
    const alone = programsOf({ workflows: [chain], programs: 1, programsPerSecond: 1, seed: 5 });
    const run = (maxSequences: number) =>
      simulatePrograms({
        policy: buildPolicy({ kind: "fixed", model: testModels[0]!, order: fcfs, place: leastLoad }),
        ...{ sample: alone, replicas: testReplicas(1, { maxSequences, kvTokens: 10_000_000 }) },
      });
    const [few, one] = [run(4), run(1)];
    expect(few.busyShare[0]).toBeGreaterThan(0.9);
    expect(few.fullShare[0]).toBeCloseTo(few.busyShare[0]! / 4, 9);
    expect(one.fullShare[0]).toBeCloseTo(one.busyShare[0]!, 9);
    expect(few.fullShare[1]).toBe(0);
  });

  it("adds the answers it reads to a request's prompt, for predictors too, and serves a program no faster than its longest path", () => {
    const sample = programsOf({ workflows: [fan], programs: 1, programsPerSecond: 1, seed: 5 });
    const inputTokens: number[] = [];
    const policy = buildPolicy({ kind: "fixed", model: "small", order: fcfs, place: leastLoad });
    const watched: Policy = {
      ...policy,
      observe: (event) => {
        if (event.kind === "queued") inputTokens[Number(event.work.id)] = event.work.inputTokens;
        policy.observe(event);
      },
    };
    const asked: number[] = [];
    const requestTokens = (request: number, _model: number, tokens: number) => {
      asked[request] = tokens;
      return 1;
    };
    simulatePrograms({ policy: watched, sample, replicas: testReplicas(1), predictions: { requestTokens } });
    const [written, given] = [sample.outputTokens[0]!, sample.givenTokens];
    const read = [0, written[0]!, written[0]!, written[0]!, written[1]! + written[2]! + written[3]!];
    expect(inputTokens).toEqual(read.map((tokens, request) => tokens + given[request]!));
    expect(asked).toEqual(inputTokens);
  });

  it("takes the policy's own work for time in which requests wait, where the policy does that work", () => {
    // So far apart that no two programs overlap.
    const sample = programsOf({ workflows: [chain], programs: 5, programsPerSecond: 0.001, seed: 2 });
    const added = (document: PolicyDocument, predictions?: ReturnType<typeof oraclePredictions>) => {
      const run = (overhead: { routeSeconds: number; predictSeconds: number; decideSeconds: number }) =>
        simulatePrograms({
          policy: buildPolicy(document),
          sample,
          replicas: testReplicas(1),
          overhead,
          ...(predictions && { predictions }),
        });
      const [without, delayed] = [
        run({ routeSeconds: 0, predictSeconds: 0, decideSeconds: 0 }),
        run({ routeSeconds: 5, predictSeconds: 0.25, decideSeconds: 0.01 }),
      ];
      const each = delayed.endToEndSeconds.map((seconds, program) => seconds - without.endToEndSeconds[program]!);
      expect(Math.max(...each) - Math.min(...each)).toBeLessThan(1e-6);
      expect(mean(delayed.queueSeconds) - mean(without.queueSeconds)).toBeCloseTo(mean(each), 6);
      return mean(each);
    };
    expect(added(slack(stjf), oraclePredictions(sample))).toBeCloseTo(5 + 4 * (0.25 + 0.01), 6);
    expect(added(balanced(stjf), oraclePredictions(sample))).toBeCloseTo(4 * (0.25 + 0.01), 6);
    expect(added(balanced(), oraclePredictions(sample))).toBeCloseTo(4 * 0.01, 6);
    expect(added(slack(stjf))).toBeCloseTo(4 * 0.01, 6);
  });

  it("shows policies the caches as they were read last, stale and then unknown once that is long ago", () => {
    const sample = programsOf({ workflows: [chain], programs: 300, programsPerSecond: 3, seed: 8 });
    const seen = (telemetrySeconds: number) => {
      const readings: { readonly reading: Reading; readonly nowSeconds: number }[] = [];
      const policy = buildPolicy(balanced(fcfs, { kind: "lowest-kv" }));
      const watched: Policy = {
        ...policy,
        decide: (view) => {
          const [replica] = view.replicas;
          readings.push({ reading: replica!.kvUse, nowSeconds: view.nowSeconds });
          expect(replica).toMatchObject({ kvTokens: 60_000, preemptions: { state: replica!.kvUse.state } });
          return policy.decide(view);
        },
      };
      expect(simulatePrograms({ policy: watched, sample, replicas: testReplicas(2), telemetrySeconds }).unserved).toBe(0);
      return readings;
    };
    const values = new Map<number, number>();
    for (const { reading, nowSeconds } of seen(16)) {
      const age = nowSeconds % 16;
      expect(reading.state).toBe(age > 10 ? "unreachable" : age > 3 ? "stale" : "fresh");
      if (!("value" in reading)) continue;
      expect(reading.ageSeconds).toBeCloseTo(age, 9);
      const period = Math.floor(nowSeconds / 16);
      expect(reading.value).toBe(values.get(period) ?? reading.value);
      values.set(period, reading.value);
    }
    expect(new Set(values.values()).size).toBeGreaterThan(3);
    for (const { reading } of seen(0)) expect(reading).toMatchObject({ state: "fresh", ageSeconds: 0 });
  });

  it("orders what waits inside engines as the policy orders it: less waiting by shortest program first, more for the longest", () => {
    const sample = programsOf({ workflows: [chain, single], programs: 600, programsPerSecond: 8, seed: 4 });
    const wait = (order: OrderDocument) => {
      const replicas = testReplicas(1, { maxInFlight: inEngines });
      const { waitSeconds } = simulatePrograms({
        policy: buildPolicy(balanced(order)),
        sample,
        replicas,
        predictions: oraclePredictions(sample),
      });
      return { mean: mean(waitSeconds), worst: Math.max(...waitSeconds) };
    };
    const [inOrder, shortest] = [wait(fcfs), wait(stjf)];
    expect(shortest.mean).toBeLessThan(0.8 * inOrder.mean);
    expect(shortest.worst).toBeGreaterThan(inOrder.worst);
  });

  it("tells the policy how long each request was served, without its wait for a place in the engine's batch", () => {
    const sample = programsOf({ workflows: [chain, fan], programs: 120, programsPerSecond: 8, seed: 4 });
    const policy = buildPolicy(balanced());
    const ended: { readonly request: number; readonly nowSeconds: number; readonly servedSeconds: number }[] = [];
    const watched: Policy = {
      ...policy,
      observe: (event) => {
        policy.observe(event);
        if (event.kind !== "finished") return;
        ended.push({ request: Number(event.workId), nowSeconds: event.nowSeconds, servedSeconds: event.servedSeconds ?? Number.NaN });
      },
    };
    const { readySeconds, waitSeconds } = simulatePrograms({
      policy: watched,
      sample,
      replicas: testReplicas(1, { maxInFlight: inEngines }),
    });
    expect(Math.max(...waitSeconds)).toBeGreaterThan(5);
    expect(ended).toHaveLength(sample.program.length);
    for (const { request, nowSeconds, servedSeconds } of ended)
      expect(servedSeconds).toBeCloseTo(nowSeconds - readySeconds[request]! - waitSeconds[request]!, 9);
  });

  it("keeps long programs from starving where engines age, at some cost to the mean", () => {
    // A little above the engine's rate while they arrive.
    const sample = programsOf({ workflows: [single], programs: 2500, programsPerSecond: 10, seed: 6 });
    const run = (aging?: { starvedSteps: number; quantumSteps: number }) => {
      const replicas = testReplicas(1, { maxInFlight: inEngines, ...(aging && { aging }) });
      const policy = buildPolicy({ kind: "fixed", model: "small", order: stjf, place: leastLoad });
      return simulatePrograms({ policy, sample, replicas, predictions: oraclePredictions(sample) });
    };
    const [starving, aging, never] = [run(), run({ starvedSteps: 1500, quantumSteps: 100 }), run({ starvedSteps: 1e9, quantumSteps: 100 })];
    expect(starving.promotions).toBe(0);
    expect(aging.promotions).toBeGreaterThan(100);
    expect(Math.max(...aging.waitSeconds)).toBeLessThan(0.5 * Math.max(...starving.waitSeconds));
    expect(mean(aging.waitSeconds)).toBeGreaterThan(mean(starving.waitSeconds));
    expect(mean(never.endToEndSeconds)).toBeCloseTo(mean(starving.endToEndSeconds), 6);
  });

  it("counts a program as unserved that has a request no engine can hold, tells the policy that it ended, and serves the others", () => {
    const sample = programsOf({ workflows: [chain], programs: 20, programsPerSecond: 2, seed: 7 });
    const tooLong = sample.firstRequest[4]! + 2;
    const givenTokens = sample.givenTokens.map((tokens, request) => (request === tooLong ? 1_000_000 : tokens));
    const ended: string[] = [];
    const policy = guarded(buildPolicy(slack(stjf)), ended);
    const outcome = simulatePrograms({
      policy,
      sample: { ...sample, givenTokens },
      replicas: testReplicas(1),
      predictions: oraclePredictions(sample),
    });
    expect(outcome.unserved).toBe(1);
    expect(outcome.endToEndSeconds[4]).toBe(Number.POSITIVE_INFINITY);
    expect([outcome.quality[4], outcome.readySeconds[tooLong + 1], outcome.waitSeconds[tooLong]]).toEqual([
      Number.NaN,
      Number.NaN,
      Number.NaN,
    ]);
    expect(Array.from(outcome.model.slice(tooLong - 2, tooLong + 2), (model) => model >= 0)).toEqual([true, true, false, false]);
    expect(new Set(ended).size).toBe(20);
    expect(outcome.endToEndSeconds.filter(Number.isFinite)).toHaveLength(19);
  });

  it("refuses policies that have answers judged, and models that the programs have no answers of", () => {
    const sample = programsOf({ workflows: [chain], programs: 2, programsPerSecond: 1, seed: 1 });
    const cascade: PolicyDocument = {
      ...{ kind: "cascade", stages: [{ model: "small" }, { model: "large" }], thresholds: [50], order: fcfs, place: leastLoad },
      judge: { model: "judge", secondsPerCall: 1, usdPerCall: 0 },
      approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
    };
    const run = (document: PolicyDocument) => simulatePrograms({ policy: buildPolicy(document), sample, replicas: testReplicas(1) });
    expect(() => run(cascade)).toThrow("The cascade has answers judged");
    expect(() => run({ kind: "fixed", model: "huge", order: fcfs, place: leastLoad })).toThrow("no answers of huge");
  });
});
