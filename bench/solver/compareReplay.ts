import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { groundOf } from "@/server/planning/compare/compareGround";
import { type Phase, type Replayed, type ReplayRequest, replayPhases } from "@/server/planning/compare/compareReplay";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { workloadHash } from "@/server/workloads/workloadCodec";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent, workloadOf } from "../lib/compareData";
import { once } from "../lib/once";
import { resultsFolder } from "../lib/results";

/**
 * Segments of 8, 16 and 10 minutes: fewer hard prompts (crux) and more requests from one to the next, as from trace 1 to 3 of the source.
 */
const PHASES = [
  { minutes: 8, hardShare: 0.6, relativeRate: 1 },
  { minutes: 16, hardShare: 0.35, relativeRate: 1.5 },
  { minutes: 10, hardShare: 0.1, relativeRate: 2 },
];

/** Rate of the first segment. */
const REQUESTS_PER_SECOND = 60;

const FLOOR = 70;
const SLO_SCALE = 5;

/** The source measured 2 to 20 s per replica. */
const RECONFIGURE_SECONDS = 10;

/** The seed of replays that have one. */
const SEED = 1;

/** The scene of all replays: two models on one node, and the three segments. @param seed of the split of prompts, the judge's noise and the traffic. */
export async function replayScene(seed = SEED): Promise<ReplayRequest> {
  const workload = await workloadOf({ family: "Llama-3.1-Instruct", tasks: ["gsm", "crux"], judgeAuc: 0.8, seed });
  const nodes = [{ name: "node1", gpus: 8 }];
  const situation = {
    workload,
    workloadId: workloadHash(workload),
    cluster: { id: "bench", name: "bench", kind: "described" as const, gpu: "h100-sxm", nodes, usdPerGpuHour: 2.67 },
    models: ["llama-3.1-8b", "llama-3.1-70b"],
  };
  const ground = groundOf({ situation, engine: await loadGlpkEngine() });
  const { categories } = workload.outcomes;
  const phases = PHASES.map(
    ({ minutes, hardShare, relativeRate }): Phase => ({
      seconds: 60 * minutes,
      requestsPerSecond: REQUESTS_PER_SECOND * relativeRate,
      planning: mixed(ground.planning, categories, hardShare),
      measuring: mixed(ground.measuring, categories, hardShare),
    }),
  );
  return {
    ground,
    phases,
    floor: FLOOR,
    sloScale: SLO_SCALE,
    reconfigureSeconds: RECONFIGURE_SECONDS,
    progress: (line) => process.stderr.write(`${line}\n`),
  };
}

/** Every system over the replay, where it is known at once that traffic has changed. */
export const replayed = once(async (): Promise<readonly Replayed[]> => {
  const results = replayPhases(await replayScene());
  writeFileSync(join(resultsFolder(), "replay.json"), `${JSON.stringify(results, null, 2)}\n`);
  return results;
});

/** The maximum number of rows that gives the share of hard prompts without repetition. */
function mixed(rows: Int32Array, categories: readonly string[], hardShare: number): Int32Array {
  const hard = rows.filter((row) => categories[row] === "crux");
  const easy = rows.filter((row) => categories[row] !== "crux");
  const count = Math.min(hard.length / hardShare, easy.length / (1 - hardShare));
  return Int32Array.from([...hard.slice(0, Math.round(count * hardShare)), ...easy.slice(0, Math.round(count * (1 - hardShare)))]).sort();
}

async function against(name: string): Promise<Measurement> {
  const all = await replayed();
  const ours = all[0];
  const other = all.find((one) => one.name === name);
  if (ours === undefined || other === undefined) throw new Error(`nothing was replayed under ${name}`);
  const qualities = (one: Replayed): string => one.quality.map((value) => value.toFixed(1)).join(", ");
  const scale = (one: Replayed): string => one.sloScale?.toFixed(2) ?? "overloaded";
  return {
    figure: ours.highestFactor / other.highestFactor,
    unit: "x",
    detail: `throughput at an SLO scale of ${SLO_SCALE}, re-planned over it; SLO scale ${scale(ours)} against ${scale(other)}, quality by phase ${qualities(ours)} against ${qualities(other)}, floor ${FLOOR}; 34 minutes, 8 x h100-sxm, ${ours.reconfigured} against ${other.reconfigured} replicas reconfigured in ${RECONFIGURE_SECONDS} s each`,
  };
}

/** The smallest SLO scale that 95 % of requests keep over all segments; none where a system is overloaded. */
async function scaleOf(name: string): Promise<Measurement> {
  const own = (await replayed()).find((one) => one.name === name);
  if (own === undefined) throw new Error(`nothing was replayed under ${name}`);
  return {
    figure: own.sloScale ?? Number.NaN,
    unit: "SLO scale",
    detail: `of the same replay at ${PHASES.map(({ relativeRate }) => REQUESTS_PER_SECOND * relativeRate).join(", ")} requests a second${own.sloScale === null ? "; none: it is overloaded" : ""}`,
  };
}

/** The source's fluctuating load, modelled on the shared data; none where that is missing. */
export const replayBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      ...["Weir, first plan kept", "CascadeServe", "stand-alone"].map((name) => ({
        name: `fluctuating load, re-planned over ${name}`,
        budget: null,
        run: () => against(name),
      })),
      ...["Weir, re-planned", "CascadeServe", "stand-alone"].map((name) => ({
        name: `fluctuating load, SLO scale of ${name}`,
        budget: null,
        run: () => scaleOf(name),
      })),
    ]
  : [];
