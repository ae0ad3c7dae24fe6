import { describe, expect, it } from "vitest";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { feasibleReplicas, type ShapedReplica } from "@/solver/hardware/replicaShapes";
import { seededRandom } from "@/solver/numeric/random";
import { testSample } from "../testing/testSample";
import { latencyByGpus } from "./capacityTable";
import { createLatencyTables, type MixTables } from "./latencyTables";

const MAX_GPUS = 16;
const sample = { ...testSample({ prompts: 500, skills: [0.5, 0.8], seed: 8 }), models: ["llama-3.1-8b", "llama-3.1-70b"] };
const shapes = sample.models.map((id) => feasibleReplicas(modelCard(id)!, gpuCard("h100-sxm")!, { gpusPerNode: 8, maxGpus: MAX_GPUS }));
const random = seededRandom(1);
let clock = 0;
const arrivalSeconds = Float64Array.from({ length: 4000 }, () => {
  clock += random.exponential(5);
  return clock;
});
const newTables = () =>
  createLatencyTables({ sample, shapes, arrivalSeconds, requestsPerSecond: 60, maxGpus: MAX_GPUS, quantile: 0.95, seed: 2 });

const everything = { prompts: Int32Array.from({ length: 500 }, (_, prompt) => prompt), share: 1 };
const byLength = [...everything.prompts].sort((a, b) => sample.outputTokens[1]![a]! - sample.outputTokens[1]![b]!);
const shortest = { prompts: Int32Array.from(byLength.slice(0, 150)), share: 0.3 };
const longest = { prompts: Int32Array.from(byLength.slice(-150)), share: 0.3 };

function seconds({ capacity }: MixTables, requestsPerSecond: number, gpus: number = MAX_GPUS): Float64Array {
  const table = new Float64Array(gpus);
  latencyByGpus(capacity, requestsPerSecond, table);
  return table;
}

const light = { requestsPerSecond: 0.5, arrivals: arrivalSeconds };

/** A replica on `tp` GPUs whose step takes 2 ms on one GPU and is faster by the factor `speedUp` each time their number doubles. */
function steadyReplica(tp: number, speedUp: number): ShapedReplica {
  const stepSeconds = 0.002 / speedUp ** Math.log2(tp);
  const stepTime = { decodeBaseSeconds: () => stepSeconds, secondsPerKvToken: 0, mixedStepSeconds: () => stepSeconds, provenance: [] };
  const replica = { stepTime, kvTokens: 1e6, maxSequences: 256, maxBatchedTokens: 8192, requestSeconds: () => 0 };
  return { gpu: "steady", shape: { tp, pp: 1 }, replica };
}

/** Seconds by GPUs, up to four, of one model at a rate far below 5 % of what any of the replicas sustains. */
function lightSeconds(
  replicas: readonly ShapedReplica[],
  { requestsPerSecond, arrivals }: { readonly requestsPerSecond: number; readonly arrivals: Float64Array } = light,
): Float64Array {
  const alone = { ...sample, models: sample.models.slice(0, 1) };
  const rate = { requestsPerSecond, maxGpus: 4 };
  const tables = createLatencyTables({ sample: alone, shapes: [replicas], arrivalSeconds: arrivals, ...rate, quantile: 0.95, seed: 2 });
  return seconds(tables.near(0, everything).tables, rate.requestsPerSecond, rate.maxGpus);
}

describe("createLatencyTables", () => {
  const tables = newTables();

  it("gives the larger model more GPUs before it serves at all, and longer latencies", () => {
    const small = seconds(tables.exact(0, everything), 20);
    const large = seconds(tables.exact(1, everything), 20);
    expect(small[0]).toBeLessThan(Number.POSITIVE_INFINITY);
    expect(large[0]).toBe(Number.POSITIVE_INFINITY);
    for (let f = 0; f < MAX_GPUS; f += 1) expect(large[f]!).toBeGreaterThan(small[f]!);
  });

  it("sees that requests with long answers are slower to serve", () => {
    const short = seconds(tables.exact(1, shortest), 18);
    const long = seconds(tables.exact(1, longest), 18);
    expect(long[7]! / short[7]!).toBeGreaterThan(1.5);
  });

  it("comes near the exact tables from the shared ones", () => {
    for (const mix of [everything, longest]) {
      const rate = 30 * mix.share;
      const exact = seconds(tables.exact(1, mix), rate);
      const { tables: shared, lengthFactor } = tables.near(1, mix);
      const near = seconds(shared, rate * lengthFactor).map((value) => value * lengthFactor);
      for (const f of [7, 11, 15]) expect(Math.abs(near[f]! / exact[f]! - 1)).toBeLessThan(0.2);
    }
  });

  it("simulates no mix twice", () => {
    tables.near(1, everything);
    const before = tables.simulations();
    tables.near(1, everything);
    expect(tables.simulations()).toBe(before);
  });

  it("is the same for the same seed", () => {
    expect(seconds(newTables().near(0, everything).tables, 60)).toEqual(seconds(newTables().near(0, everything).tables, 60));
  });

  it.each([1, 1.01, 1.1, 2])(
    "leaves out no shape that a GPU count needs at rates far below saturation, with replicas %s times as fast on twice the GPUs",
    (speedUp) => {
      const replicas = [1, 2, 4].map((tp) => steadyReplica(tp, speedUp));
      const table = lightSeconds(replicas);
      for (const [at, found] of table.entries()) {
        const largest = replicas.findLast(({ shape }) => shape.tp <= at + 1)!;
        expect(found, `on ${at + 1} GPUs`).toBeLessThanOrEqual(1.031 * lightSeconds([largest])[at]!);
      }
    },
  );

  it("tells that more replicas shorten the waits of bursts at rates far below saturation", () => {
    const { replica, ...shaped } = steadyReplica(1, 1);
    const oneByOne = { ...shaped, replica: { ...replica, maxSequences: 1 } };
    const inFives = Float64Array.from({ length: 1000 }, (_, request) => 10 * Math.floor(request / 5));
    const table = lightSeconds([oneByOne], { requestsPerSecond: 0.1, arrivals: inFives });
    expect(table[3]!).toBeLessThan(0.7 * table[0]!);
  });

  it("needs arrivals", () => {
    const none = { sample, shapes, arrivalSeconds: new Float64Array(), requestsPerSecond: 60, maxGpus: MAX_GPUS, quantile: 0.95, seed: 2 };
    expect(() => createLatencyTables(none)).toThrow("found none");
  });
});
