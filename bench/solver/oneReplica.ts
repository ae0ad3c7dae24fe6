import { existsSync, readFileSync } from "node:fs";
import { arrivals } from "@/solver/engine/arrivals";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { saturationRate } from "@/solver/engine/saturation";
import { simulateClosedLoop } from "@/solver/engine/simulateClosedLoop";
import { simulateReplica } from "@/solver/engine/simulateReplica";
import { seededRandom } from "@/solver/numeric/random";
import { atLeast, type Benchmark } from "../lib/benchmark";
import { shippedReplica } from "../lib/replica";

const REQUESTS = 1_000_000;
const RUNS = 5;

/** A load that one H100 with Llama-3.1-8B sustains with about eighty sequences in its batch. */
const REQUESTS_PER_SECOND = 20;

const TRACE = "../shared/data/traces/AzureLLMInferenceTrace_conv.csv";

/** Runs of 1000 requests each that make one measurement. */
const SHORT_RUNS = 200;
const SHORT_REQUESTS = 1000;

/** Share of its saturation rate at which the replica is loaded with the trace's lengths. */
const TRACE_LOAD = 0.7;

const CONCURRENCY = 32;

interface Lengths {
  readonly inputTokens: Int32Array;
  readonly outputTokens: Int32Array;
}

/** Lognormal lengths: medians of 403 tokens in and 148 out, means of 648 and 204. */
function drawnLengths(requests: number): Lengths {
  const random = seededRandom(1);
  const lengths = (mu: number, sigma: number) =>
    Int32Array.from({ length: requests }, () => 1 + Math.min(4000, random.lognormal(mu, sigma)));
  return { inputTokens: lengths(6, 1), outputTokens: lengths(5, 0.8) };
}

/** The first lengths of Azure's conversation trace. */
function traceLengths(requests: number): Lengths {
  const rows = readFileSync(TRACE, "utf8")
    .split("\n", requests + 1)
    .slice(1);
  const column = (at: number) => Int32Array.from(rows, (row) => Number(row.split(",")[at]));
  return { inputTokens: column(1), outputTokens: column(2) };
}

const oneH100 = (): ReplicaModel => shippedReplica("llama-3.1-8b", "h100-sxm");

/** Simulated requests a second, the best of a few measurements, the first of which warms the code up. */
function best(requests: number, simulate: () => void): number {
  let seconds = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const from = performance.now();
    simulate();
    seconds = Math.min(seconds, (performance.now() - from) / 1000);
  }
  return requests / seconds;
}

function times(count: number, run: () => void): () => void {
  return () => {
    for (let at = 0; at < count; at++) run();
  };
}

const longRun: Benchmark = {
  name: "one-replica simulation",
  budget: atLeast(1_000_000, "a request costs more than a microsecond, as with an allocation for each event"),
  run() {
    const model = oneH100();
    const arrivalSeconds = arrivals({ law: { kind: "poisson" }, requests: REQUESTS, requestsPerSecond: REQUESTS_PER_SECOND, seed: 1 });
    const work = { ...drawnLengths(REQUESTS), arrivalSeconds };
    return {
      figure: best(REQUESTS, () => simulateReplica(model, work)),
      unit: "requests/s",
      detail: `${REQUESTS.toLocaleString("en")} requests, ${REQUESTS_PER_SECOND} a second, llama-3.1-8b on one h100-sxm, best of ${RUNS}`,
    };
  },
};

const shortRuns: Benchmark = {
  name: "one-replica simulation, short runs",
  budget: atLeast(1_000_000, "starting a run costs more than its requests, as when tables are built for every run"),
  run() {
    const model = oneH100();
    const lengths = traceLengths(SHORT_REQUESTS);
    const saturation = saturationRate(model, lengths, SHORT_REQUESTS) ?? 0;
    const arrivalSeconds = arrivals({
      law: { kind: "poisson" },
      requests: SHORT_REQUESTS,
      requestsPerSecond: TRACE_LOAD * saturation,
      seed: 1,
    });
    const work = { ...lengths, arrivalSeconds };
    return {
      figure: best(
        SHORT_RUNS * SHORT_REQUESTS,
        times(SHORT_RUNS, () => simulateReplica(model, work)),
      ),
      unit: "requests/s",
      detail: `${SHORT_REQUESTS} requests with the lengths of Azure's conversation trace at ${TRACE_LOAD} of saturation (${saturation.toFixed(1)} requests/s), llama-3.1-8b on one h100-sxm, ${SHORT_RUNS} runs, best of ${RUNS}`,
    };
  },
};

const closedLoop: Benchmark = {
  name: "one-replica simulation, closed loop",
  budget: null,
  run() {
    const model = oneH100();
    const requests = 10 * CONCURRENCY;
    const lengths = drawnLengths(requests);
    return {
      figure: best(
        SHORT_RUNS * requests,
        times(SHORT_RUNS, () => simulateClosedLoop(model, lengths, { concurrency: CONCURRENCY })),
      ),
      unit: "requests/s",
      detail: `${requests} requests, ${CONCURRENCY} in flight, llama-3.1-8b on one h100-sxm, ${SHORT_RUNS} runs, best of ${RUNS}`,
    };
  },
};

/** The trace is not part of the repository. */
export const oneReplicaBenchmarks: readonly Benchmark[] = [longRun, ...(existsSync(TRACE) ? [shortRuns] : []), closedLoop];
