import type { SolveRequest } from "@/server/contracts/planRequest";
import { createPlanner, type Planner } from "@/server/planning/planner/planner";
import type { Resolved } from "@/server/planning/planner/planningRequest";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { choose } from "@/solver/cascade/choose/choose";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import { generatedWorkload } from "@/solver/workload/generated";
import type { Workload } from "@/solver/workload/workload";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { dataPresent, workloadOf } from "../lib/compareData";
import { median } from "../lib/median";
import { hashOf } from "../lib/provenance";
import { trainedOutcomes } from "../lib/trainedScores";

const workload: Workload = generatedWorkload({ prompts: 2000, seed: 1 });

/** Above the largest model's rate alone on GPUs of this type, so that a cascade is planned; larger clusters get as much per GPU. */
const REQUESTS_PER_SECOND_PER_GPU = 20;

/** Runs of a measurement; the median is reported, since other processes share the machine. */
const RUNS = 3;

function request(gpus: number): Resolved<SolveRequest> {
  return {
    workload,
    workloadId: workloadHash(workload),
    cluster: {
      id: "bench",
      name: "bench",
      kind: "described",
      gpu: "h100-sxm",
      nodes: Array.from({ length: gpus / 8 }, (_, index) => ({ name: `node${index + 1}`, gpus: 8 })),
      usdPerGpuHour: 3,
    },
    requestsPerSecond: REQUESTS_PER_SECOND_PER_GPU * gpus,
    objective: {
      kind: "latency-under-quality",
      latency: "end-to-end",
      percentile: 95,
      qualityFloor: 60,
      qualityConfidence: 0.9,
      latencyBudgetSeconds: null,
      maxGpus: gpus,
    },
    fixed: null,
  };
}

async function seconds(
  work: (planner: Planner) => Promise<string>,
  { warm }: { readonly warm: boolean },
): Promise<{ readonly figure: number; readonly detail: string }> {
  const times: number[] = [];
  let detail = "";
  for (let run = 0; run < RUNS; run += 1) {
    const planner = createPlanner({ warm });
    // Refused at once, but in its turn: the worker is warm then.
    if (warm) await planner.explore({ ...request(8), workload: { ...workload, name: "none" }, workloadId: "none", models: [] });
    const startedMs = performance.now();
    detail = await work(planner);
    times.push((performance.now() - startedMs) / 1000);
    await planner.close();
  }
  return { figure: median(times), detail };
}

async function wholePlan(gpus: number, worker: "cold" | "warm"): Promise<Measurement> {
  const asked = request(gpus);
  const solved = async (planner: Planner): Promise<string> => {
    const answer = await planner.solve(asked);
    if (answer.outcome !== "plan") throw new Error(`no plan: ${answer.reason}`);
    const { solver, deployment } = answer.plan;
    if (deployment.length < 2) throw new Error("the benchmark means to plan a cascade, one model alone won");
    return `${workload.outcomes.models.length} models, ${asked.requestsPerSecond} requests/s, ${worker === "cold" ? "worker start included" : "worker warm, nothing planned of this workload"}; ${solver.evaluatedThresholds} routings, ${solver.replicaSimulations} replica simulations, ${deployment.length} stages`;
  };
  const { figure, detail } = await seconds(solved, { warm: worker === "warm" });
  return { figure: 1000 * figure, unit: "ms", detail };
}

/** Steps of the slider of GPUs over an exploration of 32: milliseconds of each, and how many routings there are. */
async function sliderSteps(asked: Resolved<SolveRequest>): Promise<{ readonly times: readonly number[]; readonly routings: number }> {
  const planner = createPlanner();
  const answer = await planner.explore(asked);
  await planner.close();
  if (!answer.ok) throw new Error(answer.message);
  const exploration = decodeExploration(answer.exploration);
  // The first answers compile; an operator's slider has moved before.
  for (let gpus = 31; gpus > 24; gpus -= 1) choose(exploration, { ...asked.objective, maxGpus: gpus });
  const times: number[] = [];
  for (let gpus = 24; gpus > 8; gpus -= 1) {
    const startedMs = performance.now();
    choose(exploration, { ...asked.objective, maxGpus: gpus });
    times.push(performance.now() - startedMs);
  }
  return { times, routings: exploration.routings.length };
}

async function sliderMoved(): Promise<Measurement> {
  const { times, routings } = await sliderSteps(request(32));
  return {
    figure: median(times),
    unit: "ms",
    detail: `${routings} routings allocated anew: the GPU slider, the slowest; floor and budget only select`,
  };
}

/** A ladder of three models whose prompts have texts, with a floor and a rate that need a cascade on 32 GPUs. */
const ROUTED = { family: "Gemma-2-it", tasks: ["gsm", "crux"], judgeAuc: 0.8, floor: 68, requestsPerSecond: 640 };

/** The same slider where a trained router may start requests at a later stage: each start is a routing more. */
async function routedSliderMoved(): Promise<Measurement> {
  const { family, tasks, judgeAuc, floor, requestsPerSecond } = ROUTED;
  const plain = await workloadOf({ family, tasks, judgeAuc });
  const base = request(32);
  const asked = { ...base, requestsPerSecond, objective: { ...base.objective, qualityFloor: floor }, workloadId: workloadHash(plain) };
  const outcomes = await trainedOutcomes(plain);
  const predictor = hashOf(outcomes.models.map(({ routerScore = [] }) => [...routerScore]));
  const routed = await sliderSteps({ ...asked, workload: { ...plain, outcomes }, directStart: { predictor } });
  const without = await sliderSteps({ ...asked, workload: plain });
  return {
    figure: median(routed.times),
    unit: "ms",
    detail: `${routed.routings} routings of ${family} with the scores of trained heads, allocated anew: the GPU slider, slowest step ${Math.max(...routed.times).toFixed(1)} ms; without a router ${without.routings} routings and ${median(without.times).toFixed(2)} ms`,
  };
}

const COLD = "starting the worker, tables, search and simulations of finalists take longer in sum";
const WARM = "tables, search and simulations of finalists take longer in sum";

/** Planning, against the budgets of the design: the source's planner took 20 s for 32 GPUs and 60 s for 80 on 12 cores. */
export const planBenchmarks: readonly Benchmark[] = [
  { name: "whole plan, 32 GPUs, cold", budget: atMost(500, COLD), run: () => wholePlan(32, "cold") },
  { name: "whole plan, 32 GPUs, tables cold, worker warm", budget: atMost(500, WARM), run: () => wholePlan(32, "warm") },
  { name: "whole plan, 80 GPUs, cold", budget: atMost(1_500, COLD), run: () => wholePlan(80, "cold") },
  { name: "whole plan, 80 GPUs, tables cold, worker warm", budget: atMost(1_500, WARM), run: () => wholePlan(80, "warm") },
  { name: "whole plan, 1024 GPUs, cold", budget: atMost(10_000, COLD), run: () => wholePlan(1024, "cold") },
  { name: "new plan after a slider moved", budget: atMost(16, "a change of the GPUs searches or simulates again"), run: sliderMoved },
  ...(dataPresent()
    ? [
        {
          name: "new plan after a slider moved, trained router",
          budget: atMost(16, "a trained router adds so many routings that allocating them takes longer than a frame"),
          run: routedSliderMoved,
        },
      ]
    : []),
];
