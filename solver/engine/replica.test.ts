import fc from "fast-check";
import { expect, test } from "vitest";
import { createReplica, type ReplicaEventKind } from "./replica";
import type { ReplicaModel, StepTime } from "./replicaModel";
import { simulateReplica } from "./simulateReplica";

interface Request {
  readonly atSeconds: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}
interface Seen {
  readonly kind: ReplicaEventKind;
  readonly handle: number;
  readonly seconds: number;
}

/** Step times of round size, so that tests read in seconds: 1 s base, more for work. */
const unitStep: StepTime = {
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
});
const anyRequests = fc
  .array(
    fc.record({
      gap: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 8, noNaN: true })),
      inputTokens: fc.integer({ min: 1, max: 25 }),
      outputTokens: fc.integer({ min: 1, max: 14 }),
    }),
    { minLength: 1, maxLength: 25 },
  )
  .map((items) => {
    let atSeconds = 0;
    return items.map(({ gap, ...tokens }): Request => {
      atSeconds += gap;
      return { ...tokens, atSeconds };
    });
  });

/** All events when everything is enqueued first and time passes at once. */
function run(model: ReplicaModel, requests: readonly Request[]): Seen[] {
  const replica = createReplica(model);
  const seen: Seen[] = [];
  requests.forEach((request, handle) => {
    expect(replica.enqueue(handle, request)).toBe(true);
  });
  replica.advanceTo(Number.POSITIVE_INFINITY, (kind, handle, seconds) => seen.push({ kind, handle, seconds }));
  expect([replica.running, replica.waiting, replica.kvTokensUsed]).toEqual([0, 0, 0]);
  return seen;
}

/** The same scheduler written plainly: one step at a time, one object per sequence, no jumps, no aggregates. */
function runStepByStep(model: ReplicaModel, requests: readonly Request[]): { seen: Seen[]; peakKvTokens: number } {
  interface Sequence extends Request {
    readonly handle: number;
    generated: number;
    prefilled: number;
    decoding: boolean;
  }
  const seen: Seen[] = [];
  const waiting = requests.map((request, handle): Sequence => ({ ...request, handle, generated: 0, prefilled: 0, decoding: false }));
  const running: Sequence[] = [];
  const target = (one: Sequence) => one.inputTokens + one.generated;
  const held = () => running.reduce((sum, one) => sum + target(one), 0);
  let peakKvTokens = 0;
  let now = 0;
  while (running.length > 0 || waiting.length > 0) {
    if (running.length === 0) now = Math.max(now, waiting[0]!.atSeconds);
    let preempted = false;
    while (held() > model.kvTokens) {
      const victim = running.pop()!;
      Object.assign(victim, { prefilled: 0, decoding: false });
      waiting.unshift(victim);
      preempted = true;
      seen.push({ kind: "preempted", handle: victim.handle, seconds: now });
    }
    const decoders = running.filter((one) => one.decoding);
    let budget = model.maxBatchedTokens - decoders.length;
    const chunks: { one: Sequence; tokens: number }[] = [];
    const take = (one: Sequence) => {
      const tokens = Math.min(budget, target(one) - one.prefilled);
      if (tokens > 0) chunks.push({ one, tokens });
      budget -= tokens;
    };
    for (const one of running) if (!one.decoding) take(one);
    while (!preempted && budget > 0 && running.length < model.maxSequences) {
      const head = waiting[0];
      if (head === undefined || head.atSeconds > now || held() + target(head) >= model.kvTokens) break;
      waiting.shift();
      running.push(head);
      seen.push({ kind: "admitted", handle: head.handle, seconds: now });
      take(head);
    }
    peakKvTokens = Math.max(peakKvTokens, held());
    const load = {
      tokens: decoders.length + chunks.reduce((sum, { tokens }) => sum + tokens, 0),
      prefillPairs: chunks.reduce((sum, { one, tokens }) => sum + tokens * one.prefilled + (tokens * (tokens + 1)) / 2, 0),
      kvTokensRead: decoders.reduce((sum, one) => sum + target(one), 0),
      sequences: decoders.length + chunks.length,
    };
    now +=
      chunks.length > 0
        ? model.stepTime.mixedStepSeconds(load)
        : model.stepTime.decodeBaseSeconds(decoders.length) + model.stepTime.secondsPerKvToken * load.kvTokensRead;
    for (const one of decoders) one.generated++;
    const finished: Sequence[] = decoders.filter((one) => one.generated === one.outputTokens);
    finished.sort((a, b) => a.handle - b.handle);
    for (const one of finished) seen.push({ kind: "finished", handle: one.handle, seconds: now });
    for (const { one, tokens } of chunks) {
      one.prefilled += tokens;
      if (one.prefilled < target(one)) continue;
      one.generated++;
      one.decoding = true;
      if (one.generated === 1) seen.push({ kind: "first-token", handle: one.handle, seconds: now });
      if (one.generated < one.outputTokens) continue;
      finished.push(one);
      seen.push({ kind: "finished", handle: one.handle, seconds: now });
    }
    for (const one of finished) running.splice(running.indexOf(one), 1);
  }
  return { seen, peakKvTokens };
}

test("jumping over decode steps in closed form gives the events of a step-by-step simulation", () => {
  fc.assert(
    fc.property(anyModel, anyRequests, (model, requests) => {
      const expected = runStepByStep(model, requests).seen;
      const seen = run(model, requests);
      expect(seen.map(({ kind, handle }) => `${kind} ${handle}`)).toEqual(expected.map(({ kind, handle }) => `${kind} ${handle}`));
      seen.forEach((event, index) => {
        expect(Math.abs(event.seconds - expected[index]!.seconds)).toBeLessThan(1e-9 * (1 + event.seconds));
      });
    }),
    { numRuns: 300 },
  );
});

test("every request finishes once, after one first token, and never before it was admitted", () => {
  fc.assert(
    fc.property(anyModel, anyRequests, (model, requests) => {
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

test("requests are first admitted in the order in which they arrived", () => {
  fc.assert(
    fc.property(anyModel, anyRequests, (model, requests) => {
      const admitted = run(model, requests).filter((event) => event.kind === "admitted");
      const firsts = [...new Set(admitted.map((event) => event.handle))];
      expect(firsts).toEqual(requests.map((_, handle) => handle));
    }),
  );
});

test("the KV cache is never overdrawn, and the reported peak is that of the step-by-step simulation", () => {
  fc.assert(
    fc.property(anyModel, anyRequests, (model, requests) => {
      const { peakKvTokens } = simulateReplica(model, columns(requests));
      expect(peakKvTokens).toBeLessThanOrEqual(model.kvTokens);
      expect(peakKvTokens).toBe(runStepByStep(model, requests).peakKvTokens);
    }),
  );
});

test("a replica slowed by a factor of two, its arrivals stretched alike, has every latency doubled exactly", () => {
  fc.assert(
    fc.property(anyModel, anyRequests, (model, requests) => {
      const stretched = requests.map((request) => ({ ...request, atSeconds: request.atSeconds * 2 }));
      const base = simulateReplica(model, columns(requests)).endToEndSeconds;
      // Doubling is exact in binary, so no rounding moves an arrival across a step boundary.
      expect(simulateReplica({ ...model, stepTime: slowed(unitStep, 2) }, columns(stretched)).endToEndSeconds).toEqual(
        base.map((seconds) => 2 * seconds),
      );
    }),
  );
});

test("at fixed arrivals a uniformly slower replica has no lower mean latency", () => {
  const roomy = anyModel.map((model) => ({ ...model, kvTokens: 10_000, maxSequences: 6, maxBatchedTokens: 1000 }));
  fc.assert(
    fc.property(roomy, anyRequests, fc.double({ min: 1.5, max: 4, noNaN: true }), (model, requests, factor) => {
      const total = (stepTime: StepTime) =>
        simulateReplica({ ...model, stepTime }, columns(requests)).endToEndSeconds.reduce((a, b) => a + b, 0);
      expect(total(slowed(unitStep, factor))).toBeGreaterThan(total(unitStep));
    }),
  );
});

test("advancing in any slices, and enqueueing only when a request arrives, changes nothing", () => {
  const cuts = fc.array(fc.double({ min: 0, max: 120, noNaN: true }), { maxLength: 30 });
  fc.assert(
    fc.property(anyModel, anyRequests, cuts, (model, requests, slices) => {
      const replica = createReplica(model);
      const seen: Seen[] = [];
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

test("tokens generated so far count up to the answer's length, one a step", () => {
  const replica = createReplica({ stepTime: unitStep, kvTokens: 1000, maxSequences: 4, maxBatchedTokens: 100 });
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
  const prefill = unitStep.mixedStepSeconds({ tokens: 10, prefillPairs: 55, kvTokensRead: 0, sequences: 1 });
  expect(finishedAt).toBeCloseTo(prefill + 4 * 1.01 + 0.001 * (11 + 12 + 13 + 14), 9);
});

test("a request too long for the cache is refused and leaves no trace", () => {
  const replica = createReplica({ stepTime: unitStep, kvTokens: 100, maxSequences: 4, maxBatchedTokens: 50 });
  expect(replica.enqueue(1, { atSeconds: 0, inputTokens: 95, outputTokens: 6 })).toBe(false);
  expect(replica.nextEventSeconds()).toBe(Number.POSITIVE_INFINITY);
  expect(replica.waiting).toBe(0);
});

test("aborted requests free their place at a step boundary and are never heard of again, and the others finish", () => {
  fc.assert(
    fc.property(anyModel, anyRequests, fc.double({ min: 0, max: 60, noNaN: true }), fc.nat(), (model, requests, abortAt, pick) => {
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

test("misuse is told with the offending values", () => {
  const model = { stepTime: unitStep, kvTokens: 100, maxSequences: 4, maxBatchedTokens: 50 };
  const replica = createReplica(model);
  replica.enqueue(1, { atSeconds: 5, inputTokens: 1, outputTokens: 1 });
  expect(() => replica.enqueue(2, { atSeconds: 4, inputTokens: 1, outputTokens: 1 })).toThrow("4 s comes before 5 s");
  expect(() => replica.enqueue(1, { atSeconds: 6, inputTokens: 1, outputTokens: 1 })).toThrow("Handle 1 is taken");
  expect(() => replica.enqueue(3, { atSeconds: 6, inputTokens: Number.NaN, outputTokens: 1 })).toThrow("found NaN in");
  expect(() => createReplica({ ...model, maxBatchedTokens: 4 })).toThrow("maxBatchedTokens > maxSequences");
});

function columns(requests: readonly Request[]) {
  return {
    arrivalSeconds: requests.map((request) => request.atSeconds),
    inputTokens: requests.map((request) => request.inputTokens),
    outputTokens: requests.map((request) => request.outputTokens),
  };
}
