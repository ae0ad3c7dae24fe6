import fc from "fast-check";
import { expect, test } from "vitest";
import { mean } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import { arrivals } from "./arrivals";
import { createReplica } from "./createReplica";
import type { ReplicaModel, StepTime } from "./replicaModel";
import { saturationRate } from "./saturation";
import { simulateClosedLoop } from "./simulateClosedLoop";
import { simulateReplica } from "./simulateReplica";

/** Approximate step times of an 8B model on one large GPU. */
const stepTime: StepTime = {
  decodeBaseSeconds: (sequences) => 0.007 + 2e-5 * sequences,
  secondsPerKvToken: 5e-8,
  mixedStepSeconds: (load) => 0.007 + 2e-5 * load.sequences + 2.5e-5 * load.tokens + 1e-9 * load.prefillPairs + 5e-8 * load.kvTokensRead,
  provenance: [],
};
const roomy: ReplicaModel = { stepTime, kvTokens: 500_000, maxSequences: 256, maxBatchedTokens: 8192, requestSeconds: () => 0 };

const anyModel = fc.record({
  stepTime: fc.constant(stepTime),
  kvTokens: fc.integer({ min: 300, max: 4000 }),
  maxSequences: fc.integer({ min: 1, max: 30 }),
  maxBatchedTokens: fc.integer({ min: 40, max: 500 }),
  requestSeconds: fc.constant((inputTokens: number) => 0.002 + 1e-6 * inputTokens),
});
const anyWork = fc
  .array(
    fc.record({
      gap: fc.double({ min: 0, max: 0.2, noNaN: true }),
      input: fc.integer({ min: 1, max: 200 }),
      output: fc.integer({ min: 1, max: 99 }),
      priority: fc.nat(2),
      hit: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((items) => {
    let now = 0;
    return {
      arrivalSeconds: items.map(({ gap }) => {
        now += gap;
        return now;
      }),
      inputTokens: items.map(({ input }) => input),
      outputTokens: items.map(({ output }) => output),
      priorities: items.map(({ priority }) => priority),
      cachedTokens: items.map(({ input, hit }) => Math.floor(input * hit)),
    };
  });

/** Poisson arrivals with lognormal lengths. */
function randomWork(seed: number, { requests, requestsPerSecond }: { requests: number; requestsPerSecond: number }) {
  const random = seededRandom(seed);
  const lengths = (mu: number, sigma: number) =>
    Int32Array.from({ length: requests }, () => 1 + Math.min(3000, random.lognormal(mu, sigma)));
  return {
    arrivalSeconds: arrivals({ law: { kind: "poisson" }, requests, requestsPerSecond, seed }),
    inputTokens: lengths(6, 1),
    outputTokens: lengths(5, 0.8),
  };
}

test("Little's law: from first arrival to empty, the mean number in the system is the rate times the mean time", () => {
  fc.assert(
    fc.property(anyModel, anyWork, (model, work) => {
      // The number in the system is the replica's own count, the times are those of its events.
      const replica = createReplica(model);
      const endToEndSeconds: number[] = [];
      let requestSeconds = 0;
      const first = work.arrivalSeconds[0]!;
      let last = first;
      const passTo = (seconds: number) => {
        requestSeconds += (replica.running + replica.waiting) * (seconds - last);
        last = seconds;
        replica.advanceTo(seconds, (kind, index, at) => {
          if (kind === "finished") endToEndSeconds.push(at - work.arrivalSeconds[index]!);
        });
      };
      for (const [index, atSeconds] of work.arrivalSeconds.entries()) {
        for (let next = replica.nextEventSeconds(); next <= atSeconds; next = replica.nextEventSeconds()) passTo(next);
        passTo(atSeconds);
        const [inputTokens, outputTokens] = [work.inputTokens[index]!, work.outputTokens[index]!];
        const [priority, cachedTokens] = [work.priorities[index]!, work.cachedTokens[index]!];
        replica.enqueue(index, { atSeconds, inputTokens, outputTokens, priority, cachedTokens });
      }
      for (let next = replica.nextEventSeconds(); next !== Number.POSITIVE_INFINITY; next = replica.nextEventSeconds()) passTo(next);
      const horizonSeconds = last - first;
      const meanInSystem = requestSeconds / horizonSeconds;
      const rate = work.arrivalSeconds.length / horizonSeconds;
      expect(Math.abs(meanInSystem / (rate * mean(endToEndSeconds)) - 1)).toBeLessThan(1e-9);
    }),
    { numRuns: 200 },
  );
});

test("work is conserved: a step is always under way while a request is behind the front end, and the KV cache is never overdrawn", () => {
  fc.assert(
    fc.property(anyModel, anyWork, (model, work) => {
      const runs: { readonly from: number; readonly to: number }[] = [];
      const replica = createReplica(model, ({ fromSeconds: from, toSeconds: to, firstKvTokens, lastKvTokens }) => {
        runs.push({ from, to });
        expect(Math.max(firstKvTokens, lastKvTokens)).toBeLessThanOrEqual(model.kvTokens);
      });
      const inside: { from: number; to: number }[] = work.arrivalSeconds.map((from) => ({ from, to: Number.NaN }));
      work.arrivalSeconds.forEach((atSeconds, index) => {
        replica.enqueue(index, { atSeconds, inputTokens: work.inputTokens[index]!, outputTokens: work.outputTokens[index]! });
        inside[index]!.from = replica.enteredSeconds(index);
      });
      replica.advanceTo(Number.POSITIVE_INFINITY, (kind, index, seconds) => {
        if (kind === "finished") inside[index]!.to = seconds;
      });
      expect(joined(runs)).toEqual(joined(inside));
      const busySeconds = runs.reduce((sum, { from, to }) => sum + (to - from), 0);
      expect(replica.busySeconds).toBe(busySeconds);
      expect(replica.kvTokensUsed).toBe(0);
    }),
    { numRuns: 200 },
  );
});

test("while the cache lasts, every token is computed once, save those found in the prefix cache", () => {
  fc.assert(
    fc.property(anyModel, anyWork, (model, work) => {
      let computed = 0;
      let decoding = 0;
      const watched: StepTime = {
        ...stepTime,
        decodeBaseSeconds(sequences) {
          decoding = sequences;
          return stepTime.decodeBaseSeconds(sequences);
        },
        mixedStepSeconds(load) {
          decoding = 0;
          computed += load.tokens;
          return stepTime.mixedStepSeconds(load);
        },
      };
      const replica = createReplica({ ...model, stepTime: watched, kvTokens: 100_000 }, ({ firstKvTokens, lastKvTokens }) => {
        // Decodes compute one token each in the first step, and the growth of the held tokens up to the last.
        computed += decoding + lastKvTokens - firstKvTokens;
      });
      let owed = 0;
      work.arrivalSeconds.forEach((atSeconds, index) => {
        const [inputTokens, outputTokens] = [work.inputTokens[index]!, work.outputTokens[index]!];
        const [priority, cachedTokens] = [work.priorities[index]!, work.cachedTokens[index]!];
        replica.enqueue(index, { atSeconds, inputTokens, outputTokens, priority, cachedTokens });
        // The prefill yields the first token, each decode another.
        owed += inputTokens - Math.min(cachedTokens, inputTokens - 1) + outputTokens - 1;
      });
      replica.advanceTo(Number.POSITIVE_INFINITY, () => {});
      expect(replica.preemptions).toBe(0);
      expect(computed).toBe(owed);
    }),
  );
});

test("a request alone takes what the step times add up to in closed form, its cached tokens left out of the prefill", () => {
  const anyRequest = fc.record({ input: fc.integer({ min: 1, max: 8000 }), output: fc.integer({ min: 1, max: 3000 }), hit: fc.nat(8000) });
  fc.assert(
    fc.property(fc.array(anyRequest, { minLength: 1, maxLength: 6 }), (requests) => {
      const { ttftSeconds, endToEndSeconds, queueSeconds } = simulateReplica(roomy, {
        arrivalSeconds: requests.map((_, index) => index * 1000),
        inputTokens: requests.map(({ input }) => input),
        outputTokens: requests.map(({ output }) => output),
        cachedTokens: requests.map(({ hit }) => hit),
      });
      requests.forEach(({ input, output, hit }, index) => {
        const cached = Math.min(hit, input - 1);
        const tokens = input - cached;
        const prefillPairs = (input * (input + 1) - cached * (cached + 1)) / 2;
        const prefill = stepTime.mixedStepSeconds({ tokens, prefillTokens: tokens, prefillPairs, kvTokensRead: 0, sequences: 1 });
        const steps = output - 1;
        const kvTokensRead = steps * (input + 1) + (steps * (steps - 1)) / 2;
        const decode = steps * stepTime.decodeBaseSeconds(1) + stepTime.secondsPerKvToken * kvTokensRead;
        expect(queueSeconds[index]).toBe(0);
        expect(ttftSeconds[index]).toBeCloseTo(prefill, 9);
        expect(endToEndSeconds[index]).toBeCloseTo(prefill + decode, 9);
      });
    }),
  );
});

test("with one sequence at a time, arrivals drawn closer together shorten no request's time", () => {
  const single = anyModel.map((model) => ({ ...model, maxSequences: 1 }));
  fc.assert(
    fc.property(single, anyWork, fc.double({ min: 0.1, max: 1, noNaN: true }), (model, { priorities: _, ...work }, factor) => {
      const closer = work.arrivalSeconds.map((seconds) => seconds * factor);
      const base = simulateReplica(model, work).endToEndSeconds;
      simulateReplica(model, { ...work, arrivalSeconds: closer }).endToEndSeconds.forEach((seconds, index) => {
        expect(seconds).toBeGreaterThanOrEqual(base[index]! - 1e-9);
      });
    }),
  );
});

// Continuous batching has no such law for each single run: an arrival that comes earlier may join a step it would have missed.
test("the same requests at a higher load have a higher mean latency, on average over seeds", () => {
  const seeds = Array.from({ length: 12 }, (_, seed) => seed);
  const saturation = saturationRate(roomy, randomWork(1, { requests: 1500, requestsPerSecond: 1 }), 1500)!;
  const latencies = [0.1, 0.3, 0.5, 0.7, 0.85, 0.95].map((share) =>
    mean(
      seeds.map((seed) =>
        mean(simulateReplica(roomy, randomWork(seed, { requests: 2000, requestsPerSecond: share * saturation })).endToEndSeconds),
      ),
    ),
  );
  for (const [index, latency] of latencies.slice(1).entries()) expect(latency).toBeGreaterThan(latencies[index]!);
});

test("with one sequence, one token and a constant step, waiting is that of the M/D/1 queue within 2 %", () => {
  const serviceSeconds = 0.05;
  const model: ReplicaModel = {
    stepTime: { decodeBaseSeconds: () => serviceSeconds, secondsPerKvToken: 0, mixedStepSeconds: () => serviceSeconds, provenance: [] },
    kvTokens: 1000,
    maxSequences: 1,
    maxBatchedTokens: 100,
    requestSeconds: () => 0,
  };
  const requests = 600_000;
  const ones = new Int32Array(requests).fill(1);
  for (const load of [0.3, 0.6, 0.8]) {
    const { queueSeconds } = simulateReplica(model, {
      arrivalSeconds: arrivals({ law: { kind: "poisson" }, requests, requestsPerSecond: load / serviceSeconds, seed: 11 }),
      inputTokens: ones,
      outputTokens: ones,
    });
    // Pollaczek and Khinchine with constant service.
    const theory = (load * serviceSeconds) / (2 * (1 - load));
    expect(Math.abs(mean(queueSeconds) / theory - 1)).toBeLessThan(0.02);
  }
});

test("behind a front end of constant service, waiting is that of the M/D/1 queue within 2 %", () => {
  const serviceSeconds = 0.005;
  const stepSeconds = 1e-7;
  const model: ReplicaModel = {
    stepTime: { decodeBaseSeconds: () => stepSeconds, secondsPerKvToken: 0, mixedStepSeconds: () => stepSeconds, provenance: [] },
    kvTokens: 10_000,
    maxSequences: 64,
    maxBatchedTokens: 100,
    requestSeconds: () => serviceSeconds,
  };
  const requests = 600_000;
  const ones = new Int32Array(requests).fill(1);
  for (const load of [0.3, 0.6, 0.8]) {
    const { endToEndSeconds, queueSeconds } = simulateReplica(model, {
      arrivalSeconds: arrivals({ law: { kind: "poisson" }, requests, requestsPerSecond: load / serviceSeconds, seed: 11 }),
      inputTokens: ones,
      outputTokens: ones,
    });
    const theory = (load * serviceSeconds) / (2 * (1 - load));
    expect(Math.abs((mean(endToEndSeconds) - serviceSeconds) / theory - 1)).toBeLessThan(0.02);
    expect(Math.abs(mean(queueSeconds) / theory - 1)).toBeLessThan(0.02);
  }
});

test("in a closed loop the number in flight is the concurrency until the last is sent", () => {
  fc.assert(
    fc.property(anyModel, anyWork, fc.integer({ min: 1, max: 20 }), (model, work, concurrency) => {
      const { arrivalSeconds, endToEndSeconds } = simulateClosedLoop(model, work, { concurrency });
      const ends = Array.from(endToEndSeconds, (seconds, index) => arrivalSeconds[index]! + seconds).sort((a, b) => a - b);
      Array.from(arrivalSeconds).forEach((sentAt, index) => {
        // The request in place k is sent when all but `concurrency` of those before it have ended.
        if (index < concurrency) expect(sentAt).toBe(0);
        else expect(Math.abs(sentAt - ends[index - concurrency]!)).toBeLessThan(1e-9);
      });
    }),
  );
});

test("the same seed gives the same result", () => {
  const run = (seed: number) => simulateReplica(roomy, randomWork(seed, { requests: 500, requestsPerSecond: 20 }));
  expect(run(3)).toEqual(run(3));
  expect(run(3)).not.toEqual(run(4));
});

/** Overlapping and touching time intervals merged, in order. */
function joined(stretches: readonly { readonly from: number; readonly to: number }[]) {
  const whole: { from: number; to: number }[] = [];
  for (const { from, to } of [...stretches].sort((a, b) => a.from - b.from)) {
    const last = whole.at(-1);
    if (last === undefined || from > last.to) whole.push({ from, to });
    else last.to = Math.max(last.to, to);
  }
  return whole;
}
