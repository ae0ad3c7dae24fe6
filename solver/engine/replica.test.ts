import fc from "fast-check";
import { expect, test } from "vitest";
import { createReplica } from "./createReplica";
import type { EngineRequest, ReplicaEventKind, StepRun } from "./replica";
import type { ReplicaModel, StepTime } from "./replicaModel";
import { simulateClosedLoop } from "./simulateClosedLoop";
import { simulateReplica } from "./simulateReplica";
import { type SeenEvent, stepByStep } from "./testing/stepByStep";

/**
 * Step times in multiples of 1/1024 s, so that sums of them are exact in binary in any order: a jump over many steps and the
 * steps one by one give exactly the same times, and arrivals can fall on step boundaries.
 */
const unitStep: StepTime = {
  decodeBaseSeconds: (sequences) => 1 + sequences / 64,
  secondsPerKvToken: 1 / 1024,
  mixedStepSeconds: (load) => 1 + load.sequences / 64 + load.tokens / 32 + load.prefillPairs / 1024 + load.kvTokensRead / 1024,
  provenance: [],
};
const unevenStep: StepTime = {
  decodeBaseSeconds: (sequences) => 1 + 0.01 * sequences,
  secondsPerKvToken: 0.001,
  mixedStepSeconds: (load) => 1 + 0.01 * load.sequences + 0.02 * load.tokens + 0.0001 * load.prefillPairs + 0.001 * load.kvTokensRead,
  provenance: [],
};
const slowed = (step: StepTime, factor: number): StepTime => ({
  ...step,
  decodeBaseSeconds: (sequences) => factor * step.decodeBaseSeconds(sequences),
  secondsPerKvToken: factor * step.secondsPerKvToken,
  mixedStepSeconds: (load) => factor * step.mixedStepSeconds(load),
});

const anyModel = fc.record({
  stepTime: fc.constant(unitStep),
  kvTokens: fc.integer({ min: 40, max: 200 }),
  maxSequences: fc.integer({ min: 1, max: 6 }),
  maxBatchedTokens: fc.integer({ min: 7, max: 30 }),
  requestSeconds: fc.constantFrom(
    () => 0,
    (inputTokens: number) => inputTokens / 4,
  ),
});
const anyAging = fc.record({ starvedSteps: fc.integer({ min: 1, max: 12 }), quantumSteps: fc.integer({ min: 1, max: 8 }) });
const anyFeedback = fc.record({ quantaSteps: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }) });
const agingOrNot: fc.Arbitrary<ReplicaModel> = fc
  .tuple(anyModel, fc.option(anyAging, { nil: undefined }), fc.option(anyFeedback, { nil: undefined }))
  .map(([model, aging, feedback]) => ({ ...model, ...(aging && { aging }), ...(feedback && { feedback }) }));
const anyMoment = (max: number) => fc.integer({ min: 0, max: max * 64 }).map((ticks) => ticks / 64);
/** Arrivals and work on requests off the grid of the steps, and no two at once, so that rounding cannot move one across a boundary. */
const offTheGrid = (requests: readonly EngineRequest[]): readonly EngineRequest[] =>
  requests.map((request) => ({ ...request, atSeconds: request.atSeconds * 1.0123456789 + 0.00012345 }));
const workOffTheGrid =
  ({ requestSeconds }: Pick<ReplicaModel, "requestSeconds">) =>
  (inputTokens: number): number =>
    1.0123456789 * requestSeconds(inputTokens) + 0.000987654;
/** Requests in the order of their arrivals. `classes` of priority, 1 for none. */
const anyRequests = (classes: number) =>
  fc
    .array(
      fc.record({
        gap: fc.oneof(fc.constant(0), anyMoment(8)),
        inputTokens: fc.integer({ min: 1, max: 25 }),
        outputTokens: fc.integer({ min: 1, max: 14 }),
        priority: fc.nat(classes - 1),
        cachedTokens: fc.oneof(fc.constant(0), fc.nat(30)),
      }),
      { minLength: 1, maxLength: 25 },
    )
    .map((items) => {
      let atSeconds = 0;
      return items.map(({ gap, ...request }): EngineRequest => {
        atSeconds += gap;
        return { ...request, atSeconds };
      });
    });
const fcfsRequests = anyRequests(1);
const prioritised = anyRequests(3);

/** All events when all requests are enqueued first and time advances in one call. */
function run(model: ReplicaModel, requests: readonly EngineRequest[]): SeenEvent[] {
  const replica = createReplica(model);
  const seen: SeenEvent[] = [];
  requests.forEach((request, handle) => {
    expect(replica.enqueue(handle, request)).toBe(true);
  });
  replica.advanceTo(Number.POSITIVE_INFINITY, (kind, handle, seconds) => seen.push({ kind, handle, seconds }));
  expect([replica.running, replica.waiting, replica.kvTokensUsed]).toEqual([0, 0, 0]);
  return seen;
}

test("jumping over decode steps in closed form gives the very events and steps of a step-by-step simulation", () => {
  const anyAborts = fc.array(fc.record({ handle: fc.nat(24), atSeconds: anyMoment(60) }), { maxLength: 15 });
  fc.assert(
    fc.property(agingOrNot, prioritised, anyAborts, (model, requests, given) => {
      // Each at most once, also before it arrives.
      const aborts = [...new Map(given.map((abort) => [abort.handle, abort])).values()]
        .filter(({ handle }) => handle < requests.length)
        .sort((a, b) => a.atSeconds - b.atSeconds);
      const expected = stepByStep(model, { requests, aborts });

      const seen: SeenEvent[] = [];
      const runs: StepRun[] = [];
      const replica = createReplica(model, (one) => runs.push(one));
      const onEvent = (kind: ReplicaEventKind, handle: number, seconds: number) => {
        seen.push({ kind, handle, seconds });
      };
      requests.forEach((request, handle) => {
        expect(replica.enqueue(handle, request)).toBe(true);
      });
      for (const { handle, atSeconds } of aborts) {
        replica.advanceTo(atSeconds, onEvent);
        if (!seen.some((event) => event.handle === handle && event.kind === "finished")) replica.abort(handle, atSeconds);
      }
      replica.advanceTo(Number.POSITIVE_INFINITY, onEvent);

      expect(seen).toEqual(expected.events);
      expect(replica.preemptions).toBe(expected.preemptions);
      expect(replica.promotions).toBe(expected.promotions);
      expect(replica.busySeconds).toBe(expected.steps.reduce((sum, step) => sum + step.toSeconds - step.fromSeconds, 0));
      expect(replica.peakKvTokens).toBe(Math.max(0, ...expected.steps.map((step) => step.kvTokens)));
      const rejoined = runs.map(({ fromSeconds, toSeconds }): StepRun => {
        const inside = expected.steps.filter((step) => step.fromSeconds >= fromSeconds && step.toSeconds <= toSeconds);
        const [first, last] = [inside[0]!, inside.at(-1)!];
        const seconds = inside.map((step) => step.toSeconds - step.fromSeconds);
        return {
          fromSeconds: first.fromSeconds,
          toSeconds: last.toSeconds,
          steps: inside.length,
          firstSeconds: seconds[0]!,
          growthSeconds: (seconds[1] ?? seconds[0]!) - seconds[0]!,
          decoding: first.decoding,
          firstKvTokens: first.kvTokens,
          lastKvTokens: last.kvTokens,
        };
      });
      // The growth of a single step shows nowhere.
      expect(runs.map((one) => ({ ...one, growthSeconds: one.steps === 1 ? 0 : one.growthSeconds }))).toEqual(rejoined);
    }),
    { numRuns: 1000 },
  );
});

test("with step times that round, events keep their order and their times to 1e-9", () => {
  fc.assert(
    fc.property(agingOrNot, prioritised, (model, requests) => {
      const shifted = offTheGrid(requests);
      const uneven = { ...model, stepTime: unevenStep, requestSeconds: workOffTheGrid(model) };
      const expected = stepByStep(uneven, { requests: shifted }).events;
      const seen = run(uneven, shifted);
      expect(seen.map(({ kind, handle }) => `${kind} ${handle}`)).toEqual(expected.map(({ kind, handle }) => `${kind} ${handle}`));
      seen.forEach((event, index) => {
        expect(Math.abs(event.seconds - expected[index]!.seconds)).toBeLessThan(1e-9 * (1 + event.seconds));
      });
    }),
    { numRuns: 300 },
  );
});

test("a closed loop sends and serves as the step-by-step simulation of it does", () => {
  fc.assert(
    fc.property(agingOrNot, prioritised, fc.integer({ min: 1, max: 8 }), (model, requests, concurrency) => {
      const expected = stepByStep(model, { requests, concurrency });
      const outcome = simulateClosedLoop(model, columns(requests), { concurrency });
      expect(Array.from(outcome.arrivalSeconds)).toEqual(expected.arrivalSeconds);
      const at = (kind: ReplicaEventKind) =>
        requests.map((_, handle) => expected.events.find((event) => event.kind === kind && event.handle === handle)!.seconds);
      const since = (seconds: readonly number[]) => seconds.map((value, handle) => value - expected.arrivalSeconds[handle]!);
      const waited = since(at("admitted")).map((seconds, handle) => seconds - model.requestSeconds(requests[handle]!.inputTokens));
      expect(Array.from(outcome.queueSeconds)).toEqual(waited);
      expect(Array.from(outcome.ttftSeconds)).toEqual(since(at("first-token")));
      expect(Array.from(outcome.endToEndSeconds)).toEqual(since(at("finished")));
      expect(outcome.preemptions).toBe(expected.preemptions);
    }),
    { numRuns: 500 },
  );
});

test("tokens come one by one and none twice, preempted or not: at any time as many as the step-by-step simulation has made", () => {
  const anyTimes = fc.array(anyMoment(120), { minLength: 5, maxLength: 20 });
  fc.assert(
    fc.property(agingOrNot, prioritised, anyTimes, (model, requests, times) => {
      const { tokenSeconds } = stepByStep(model, { requests });
      const replica = createReplica(model);
      const left = new Set(requests.keys());
      requests.forEach((request, handle) => {
        replica.enqueue(handle, request);
      });
      for (const seconds of times.sort((a, b) => a - b)) {
        replica.advanceTo(seconds, (kind, handle) => kind === "finished" && left.delete(handle));
        for (const [handle, { outputTokens }] of requests.entries()) {
          const tokens = left.has(handle) ? replica.generatedTokens(handle, seconds) : outputTokens;
          expect(tokens).toBe(tokenSeconds[handle]!.filter((at) => at <= seconds).length);
        }
        const soFar = replica.stepsSoFar;
        if (soFar === null) continue;
        expect(soFar.toSeconds).toBeLessThanOrEqual(seconds);
        const done = tokenSeconds.flat().filter((at) => at > soFar.fromSeconds && at <= seconds);
        expect(done.length).toBe(soFar.steps * soFar.decoding);
      }
    }),
    { numRuns: 300 },
  );
});

test("every request finishes once, after one first token, and never before it was admitted", () => {
  fc.assert(
    fc.property(agingOrNot, prioritised, (model, requests) => {
      const seen = run(model, requests);
      requests.forEach((request, handle) => {
        const own = seen.filter((event) => event.handle === handle);
        const kinds = own.map((event) => event.kind);
        expect(kinds.filter((kind) => kind === "finished")).toHaveLength(1);
        expect(kinds.filter((kind) => kind === "first-token")).toHaveLength(1);
        expect(kinds.filter((kind) => kind === "admitted")).toHaveLength(1 + kinds.filter((kind) => kind === "preempted").length);
        expect(kinds[0]).toBe("admitted");
        expect(kinds.at(-1)).toBe("finished");
        expect(own[0]!.seconds).toBeGreaterThanOrEqual(request.atSeconds);
      });
    }),
  );
});

test("without priorities requests are first admitted in the order in which they arrived", () => {
  fc.assert(
    fc.property(anyModel, fcfsRequests, (model, requests) => {
      const admitted = run(model, requests).filter((event) => event.kind === "admitted");
      const firsts = [...new Set(admitted.map((event) => event.handle))];
      expect(firsts).toEqual(requests.map((_, handle) => handle));
    }),
  );
});

test("a replica slowed by a factor of two, its arrivals stretched alike, has every latency doubled exactly", () => {
  fc.assert(
    fc.property(agingOrNot, prioritised, (model, requests) => {
      const stretched = requests.map((request) => ({ ...request, atSeconds: request.atSeconds * 2 }));
      const base = simulateReplica(model, columns(requests)).endToEndSeconds;
      // Doubling is exact in binary, so no rounding moves an arrival across a step boundary.
      const slow = { ...model, stepTime: slowed(unitStep, 2), requestSeconds: (tokens: number) => 2 * model.requestSeconds(tokens) };
      expect(simulateReplica(slow, columns(stretched)).endToEndSeconds).toEqual(base.map((seconds) => 2 * seconds));
    }),
  );
});

test("at fixed arrivals a uniformly slower replica has no lower mean latency", () => {
  const roomy = anyModel.map((model) => ({ ...model, kvTokens: 10_000, maxSequences: 6, maxBatchedTokens: 1000 }));
  fc.assert(
    fc.property(roomy, fcfsRequests, fc.double({ min: 1.5, max: 4, noNaN: true }), (model, requests, factor) => {
      const total = (stepTime: StepTime) =>
        simulateReplica({ ...model, stepTime }, columns(requests)).endToEndSeconds.reduce((a, b) => a + b, 0);
      expect(total(slowed(unitStep, factor))).toBeGreaterThan(total(unitStep));
    }),
  );
});

test("advancing in any slices, and enqueueing only when a request arrives, changes nothing", () => {
  const cuts = fc.array(anyMoment(120), { maxLength: 30 });
  const anyTokenWork = fc.constantFrom(0, 1 / 64, 1 / 4, 2);
  fc.assert(
    fc.property(agingOrNot, anyTokenWork, prioritised, cuts, (own, tokenSeconds, requests, slices) => {
      const model = { ...own, tokenSeconds };
      const replica = createReplica(model);
      const seen: SeenEvent[] = [];
      const times = [...new Set([...slices, ...requests.map((request) => request.atSeconds)])].sort((a, b) => a - b);
      for (const seconds of [...times, Number.POSITIVE_INFINITY]) {
        requests.forEach((request, handle) => {
          if (request.atSeconds === seconds) replica.enqueue(handle, request);
        });
        replica.advanceTo(seconds, (kind, handle, at) => seen.push({ kind, handle, seconds: at }));
        expect(replica.nextEventSeconds()).toBeGreaterThan(seconds === Number.POSITIVE_INFINITY ? 0 : seconds);
        expect(replica.kvTokensUsed).toBeLessThanOrEqual(model.kvTokens);
      }
      expect(seen).toEqual(run(model, requests));
    }),
    { numRuns: 300 },
  );
});

test("a front end that works on tokens too is never busier than time allows, and hands over all that it does", () => {
  fc.assert(
    fc.property(anyModel, fc.constantFrom(1 / 64, 1 / 4, 2), fcfsRequests, (own, tokenSeconds, requests) => {
      const model = { ...own, tokenSeconds };
      const { endToEndSeconds, ttftSeconds } = simulateReplica(model, columns(requests));
      const { preemptions, endToEndSeconds: without } = simulateReplica(own, columns(requests));
      fc.pre(preemptions === 0);
      const first = requests[0]!.atSeconds;
      let work = 0;
      let lastEnd = 0;
      requests.forEach(({ atSeconds, inputTokens, outputTokens }, index) => {
        work += model.requestSeconds(inputTokens) + tokenSeconds * outputTokens;
        lastEnd = Math.max(lastEnd, atSeconds + endToEndSeconds[index]!);
        expect(endToEndSeconds[index]).toBeGreaterThanOrEqual(ttftSeconds[index]!);
        // At least its own tokens of the first and the last step.
        expect(ttftSeconds[index]).toBeGreaterThanOrEqual(model.requestSeconds(inputTokens) + tokenSeconds);
      });
      expect(lastEnd - first).toBeGreaterThanOrEqual(
        work - requests.reduce((sum, { outputTokens }) => sum + outputTokens, 0) * tokenSeconds * 0.5,
      );
      expect(Math.max(...endToEndSeconds)).toBeGreaterThan(Math.min(...without));
    }),
    { numRuns: 300 },
  );
});

test("next to no work on tokens leaves every time next to where it is without any", () => {
  fc.assert(
    fc.property(anyModel, fcfsRequests, (own, requests) => {
      const shifted = offTheGrid(requests);
      const model = { ...own, stepTime: unevenStep, requestSeconds: workOffTheGrid(own) };
      const without = simulateReplica(model, columns(shifted)).endToEndSeconds;
      simulateReplica({ ...model, tokenSeconds: 1e-10 }, columns(shifted)).endToEndSeconds.forEach((seconds, index) => {
        expect(Math.abs(seconds - without[index]!)).toBeLessThan(1e-6);
      });
    }),
    { numRuns: 200 },
  );
});

test("tokens generated so far count up to the answer's length, one a step", () => {
  const replica = createReplica({ stepTime: unitStep, kvTokens: 1000, maxSequences: 4, maxBatchedTokens: 100, requestSeconds: () => 0 });
  replica.enqueue(7, { atSeconds: 0, inputTokens: 10, outputTokens: 5 });
  replica.advanceTo(0, () => {});
  const counts: number[] = [];
  let finishedAt = Number.NaN;
  for (let seconds = 0; Number.isNaN(finishedAt); seconds += 0.25) {
    replica.advanceTo(seconds, (kind, _handle, at) => {
      if (kind === "finished") finishedAt = at;
    });
    if (Number.isNaN(finishedAt)) counts.push(replica.generatedTokens(7, seconds));
  }
  expect([...new Set(counts)]).toEqual([0, 1, 2, 3, 4]);
  // One prefill step and four decode steps, each reading one token more.
  const prefill = unitStep.mixedStepSeconds({ tokens: 10, prefillTokens: 10, prefillPairs: 55, kvTokensRead: 0, sequences: 1 });
  expect(finishedAt).toBe(prefill + 4 * (1 + 1 / 64) + (11 + 12 + 13 + 14) / 1024);
});

test("a request too long for the cache is refused and leaves no trace", () => {
  const replica = createReplica({ stepTime: unitStep, kvTokens: 100, maxSequences: 4, maxBatchedTokens: 50, requestSeconds: () => 0 });
  expect(replica.enqueue(1, { atSeconds: 0, inputTokens: 95, outputTokens: 6 })).toBe(false);
  expect(replica.nextEventSeconds()).toBe(Number.POSITIVE_INFINITY);
  expect(replica.waiting).toBe(0);
});

test("aborted requests free their place at a step boundary and are never heard of again, and the others finish", () => {
  fc.assert(
    fc.property(agingOrNot, prioritised, fc.double({ min: 0, max: 60, noNaN: true }), fc.nat(), (model, requests, abortAt, pick) => {
      const victim = pick % requests.length;
      const replica = createReplica(model);
      const finished: number[] = [];
      const afterAbort: ReplicaEventKind[] = [];
      requests.forEach((request, handle) => {
        replica.enqueue(handle, request);
      });
      replica.advanceTo(abortAt, (kind, handle) => {
        if (kind === "finished") finished.push(handle);
      });
      const aborted = !finished.includes(victim);
      if (aborted) replica.abort(victim, abortAt);
      replica.advanceTo(Number.POSITIVE_INFINITY, (kind, handle) => {
        if (handle === victim) afterAbort.push(kind);
        if (kind === "finished") finished.push(handle);
      });
      expect(afterAbort).toEqual([]);
      expect(finished.sort((a, b) => a - b)).toEqual(
        requests.map((_, handle) => handle).filter((handle) => !(aborted && handle === victim)),
      );
      expect([replica.running, replica.waiting, replica.kvTokensUsed]).toEqual([0, 0, 0]);
    }),
    { numRuns: 300 },
  );
});

test("when the head that blocked the queue is given up, the one behind it enters at the next step boundary", () => {
  const stepTime = { decodeBaseSeconds: () => 1, secondsPerKvToken: 0, mixedStepSeconds: () => 1, provenance: [] };
  const replica = createReplica({ stepTime, kvTokens: 100, maxSequences: 4, maxBatchedTokens: 100, requestSeconds: () => 0 });
  [60, 50, 5].forEach((inputTokens, handle) => {
    replica.enqueue(handle, { atSeconds: 0, inputTokens, outputTokens: 30 });
  });
  replica.advanceTo(10.5, () => {});
  expect([replica.running, replica.waiting]).toEqual([1, 2]);
  replica.abort(1, 10.5);
  const admitted: SeenEvent[] = [];
  replica.advanceTo(20, (kind, handle, seconds) => admitted.push({ kind, handle, seconds }));
  expect(admitted).toEqual([
    { kind: "admitted", handle: 2, seconds: 11 },
    { kind: "first-token", handle: 2, seconds: 12 },
  ]);
});

test("misuse is told with the offending values", () => {
  const model = { stepTime: unitStep, kvTokens: 100, maxSequences: 4, maxBatchedTokens: 50, requestSeconds: () => 0 };
  const replica = createReplica(model);
  replica.enqueue(1, { atSeconds: 5, inputTokens: 1, outputTokens: 1 });
  expect(() => replica.enqueue(2, { atSeconds: 4, inputTokens: 1, outputTokens: 1 })).toThrow("4 s comes before 5 s");
  expect(() => replica.enqueue(1, { atSeconds: 6, inputTokens: 1, outputTokens: 1 })).toThrow("Handle 1 is taken");
  expect(() => replica.enqueue(3, { atSeconds: 6, inputTokens: Number.NaN, outputTokens: 1 })).toThrow("found NaN in");
  expect(() => createReplica({ ...model, maxBatchedTokens: 4 })).toThrow("maxBatchedTokens > maxSequences");
});

function columns(requests: readonly EngineRequest[]) {
  return {
    arrivalSeconds: requests.map((request) => request.atSeconds),
    inputTokens: requests.map((request) => request.inputTokens),
    outputTokens: requests.map((request) => request.outputTokens),
    priorities: requests.map((request) => request.priority ?? 0),
    cachedTokens: requests.map((request) => request.cachedTokens ?? 0),
  };
}
