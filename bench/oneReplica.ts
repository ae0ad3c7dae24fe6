import { simulateReplica } from "@/solver/engine/simulateReplica";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { seededRandom } from "@/solver/numeric/random";
import type { Benchmark } from "./benchmark";

const REQUESTS = 1_000_000;
const RUNS = 5;

/** A load that one H100 with Llama-3.1-8B sustains with about eighty sequences in its batch. */
const REQUESTS_PER_SECOND = 20;

/** Requests with Poisson arrivals and lognormal lengths: medians of 403 tokens in and 148 out, means of 648 and 204. */
function work(requestsPerSecond: number) {
  const random = seededRandom(1);
  let now = 0;
  const arrivalSeconds = Float64Array.from({ length: REQUESTS }, () => {
    now += random.exponential(requestsPerSecond);
    return now;
  });
  const lengths = (mu: number, sigma: number) =>
    Int32Array.from({ length: REQUESTS }, () => 1 + Math.min(4000, random.lognormal(mu, sigma)));
  return { arrivalSeconds, inputTokens: lengths(6, 1), outputTokens: lengths(5, 0.8) };
}

export const oneReplicaBenchmarks: readonly Benchmark[] = [
  {
    name: "one-replica simulation",
    budget: { figure: 1_000_000, keep: "at least" },
    run: async () => {
      const model = modelCards["llama-3.1-8b"];
      const gpu = gpuCards["h100-sxm"];
      const fit = model && gpu ? replicaModel(model, gpu, { tp: 1, pp: 1 }) : undefined;
      if (!fit?.fits) throw new Error("Llama-3.1-8B fits one H100");
      const requests = work(REQUESTS_PER_SECOND);
      let best = Number.POSITIVE_INFINITY;
      for (let run = 0; run < RUNS; run++) {
        const from = performance.now();
        simulateReplica(fit.replica, requests);
        best = Math.min(best, performance.now() - from);
      }
      return {
        figure: REQUESTS / (best / 1000),
        unit: "requests/s",
        detail: `${REQUESTS.toLocaleString("en")} requests, ${REQUESTS_PER_SECOND} a second, llama-3.1-8b on one h100-sxm, best of ${RUNS}`,
      };
    },
  },
];
