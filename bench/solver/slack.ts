import type { SolveRequest } from "@/server/contracts/planRequest";
import { createPlanner, type Planner } from "@/server/planning/planner/planner";
import type { Resolved } from "@/server/planning/planner/planningRequest";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { choose } from "@/solver/cascade/choose/choose";
import type { Exploration } from "@/solver/cascade/explore/exploration";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import { planningSample, routePrompts } from "@/solver/cascade/routing/routing";
import { type Interval, meanQuality } from "@/solver/numeric/interval";
import { mean, quantile } from "@/solver/numeric/quantile";
import type { Objective, Plan } from "@/solver/plan/plan";
import { modelsOf, thresholdsOf } from "@/solver/plan/policySchema";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { dataPresent, workloadOf } from "../lib/compareData";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { table } from "../lib/tables";

/** Floors three quarters of the way from the smallest model's quality to the largest's; rates that load 32 GPUs without filling them. */
const LADDERS = [
  { family: "Llama-3.1-Instruct", tasks: ["gsm", "crux"], floor: 82, rate: 200 },
  { family: "Gemma-2-it", tasks: ["gsm", "crux"], floor: 68, rate: 640 },
  { family: "Qwen2.5-Instruct", tasks: ["crux"], floor: 63, rate: 360 },
];

const SLACKS = [0, 0.1, 0.25, 0.5, 1];
const KINDS = { fastest: "latency-under-quality", cheapest: "cost-under-both" } as const;
const GPUS = 32;
const JUDGE_AUC = 0.8;

/** Steps of a drag over the whole slider, and runs of which the fastest counts for each step: other processes share the machine. */
const DRAG_STEPS = 101;
const RUNS = 3;

interface Row {
  readonly ladder: string;
  readonly objective: keyof typeof KINDS;
  readonly slack: number;
  readonly cascade: string;
  readonly p95Seconds: number;
  readonly qualityLow: number;
  readonly heldOut: Interval;
  readonly gpus: number;
  readonly usdPerRequest: number;
}

interface Drags {
  readonly first: readonly number[];
  readonly warm: readonly number[];
}

interface Measured {
  readonly rows: readonly Row[];
  /** Milliseconds of each step of a drag, over all ladders: the first drag, and a second over the same values. */
  readonly drags: Readonly<Record<keyof typeof KINDS, Drags>>;
}

const measured = once(async (): Promise<Measured> => {
  const planner = createPlanner();
  const rows: Row[] = [];
  const drags = { fastest: { first: [] as number[], warm: [] as number[] }, cheapest: { first: [] as number[], warm: [] as number[] } };
  for (const { family, tasks, floor, rate } of LADDERS) {
    const workload = await workloadOf({ family, tasks, judgeAuc: JUDGE_AUC });
    const ladder = `${family} ${tasks.join("+")}, floor ${floor}, ${rate} requests/s`;
    for (const [objective, kind] of Object.entries(KINDS) as ["fastest" | "cheapest", Objective["kind"]][]) {
      const asked = (slack: number) => requestOf(workload, { kind, slack, floor, rate });
      for (const slack of SLACKS) {
        const answer = await planner.solve(asked(slack));
        if (answer.outcome !== "plan") throw new Error(`${ladder}: ${answer.reason}`);
        rows.push({ ladder, objective, slack, ...figuresOf(answer.plan, workload) });
        process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
      }
      const { first, warm } = await dragged(planner, asked);
      drags[objective].first.push(...first);
      drags[objective].warm.push(...warm);
    }
  }
  await planner.close();
  writeRows("slack", rows);
  writeTables(
    "slack",
    LADDERS.map(({ family }) => tableOf(rows.filter(({ ladder }) => ladder.startsWith(family)))),
  );
  return { rows, drags };
});

interface Asked {
  readonly kind: Objective["kind"];
  readonly slack: number;
  readonly floor: number;
  readonly rate: number;
}

function requestOf(workload: Workload, { kind, slack, floor, rate }: Asked): Resolved<SolveRequest> {
  const nodes = Array.from({ length: GPUS / 8 }, (_, index) => ({ name: `node${index + 1}`, gpus: 8 }));
  return {
    workload,
    workloadId: workloadHash(workload),
    cluster: { id: "bench", name: "bench", kind: "described", gpu: "h100-sxm", nodes, usdPerGpuHour: 2.67 },
    requestsPerSecond: rate,
    objective: {
      ...{ kind, slack, latency: "end-to-end", percentile: 95, qualityFloor: floor, qualityConfidence: 0.9 },
      ...{ latencyBudgetSeconds: null, maxGpus: GPUS },
    },
    fixed: null,
  };
}

function figuresOf({ policy, predictions, deployment }: Plan, workload: Workload): Omit<Row, "ladder" | "objective" | "slack"> {
  const [models, thresholds] = [modelsOf(policy), thresholdsOf(policy)];
  const { heldOut } = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  const sample = planningSample(workload.outcomes, heldOut, models);
  const { accepted } = routePrompts(sample, [...models.keys()], thresholds, 0);
  const quality = meanQuality([...accepted]);
  if (quality === null) throw new Error("no prompts are held out");
  return {
    cascade: models.map((model, stage) => (stage < thresholds.length ? `${model} <${thresholds[stage]}>` : model)).join(" "),
    p95Seconds: predictions.p95Seconds,
    qualityLow: predictions.qualityBand.low,
    heldOut: quality,
    gpus: deployment.reduce((sum, { gpus }) => sum + gpus, 0),
    usdPerRequest: predictions.costUsdPerRequest,
  };
}

/** Milliseconds of the tables' answers as the slack slider moves from one end to the other, twice. */
async function dragged(planner: Planner, asked: (slack: number) => Resolved<SolveRequest>): Promise<Drags> {
  const answer = await planner.explore(asked(0));
  if (!answer.ok) throw new Error(answer.message);
  const drag = (exploration: Exploration): number[] =>
    Array.from({ length: DRAG_STEPS }, (_, step) => {
      const { objective } = asked(step / (DRAG_STEPS - 1));
      const startedMs = performance.now();
      choose(exploration, objective);
      return performance.now() - startedMs;
    });
  const runs = Array.from({ length: RUNS }, () => {
    // Caches belong to the decoded exploration. The page has answered other knobs before.
    const exploration = decodeExploration(answer.exploration);
    choose(exploration, { ...asked(0).objective, slack: undefined });
    return { first: drag(exploration), warm: drag(exploration) };
  });
  const best = (of: keyof Drags): number[] =>
    Array.from({ length: DRAG_STEPS }, (_, step) => Math.min(...runs.map((run) => run[of][step] ?? Number.NaN)));
  return { first: best("first"), warm: best("warm") };
}

const tableOf = (rows: readonly Row[]): string =>
  `${rows[0]?.ladder}:\n\n${table(
    ["objective", "slack", "plan", "p95", "lower bound", "held-out quality (90 %)", "GPUs", "USD per 1,000 requests"],
    rows.map(({ objective, slack, cascade, p95Seconds, qualityLow, heldOut, gpus, usdPerRequest }) => [
      objective,
      `${100 * slack} %`,
      cascade,
      `${p95Seconds.toPrecision(3)} s`,
      qualityLow.toFixed(1),
      `${heldOut.value.toFixed(1)} (${heldOut.low.toFixed(1)} to ${heldOut.high.toFixed(1)})`,
      String(gpus),
      (1000 * usdPerRequest).toPrecision(3),
    ]),
  )}`;

/** Per ladder, a figure at each slack in the order of `SLACKS`. */
function bySlack(rows: readonly Row[], objective: Row["objective"], figure: (row: Row) => number): readonly (readonly number[])[] {
  return [...new Set(rows.map(({ ladder }) => ladder))].map((ladder) =>
    rows.filter((row) => row.ladder === ladder && row.objective === objective).map(figure),
  );
}

async function bought(
  objective: Row["objective"],
  { figure, unit, says }: { figure: (row: Row, none: Row) => number; unit: string; says: string },
): Promise<Measurement> {
  const { rows } = await measured();
  const none = (row: Row): Row => rows.find((one) => one.ladder === row.ladder && one.objective === objective && one.slack === 0) ?? row;
  const gains = bySlack(rows, objective, (row) => figure(row, none(row)));
  const ladders = LADDERS.map(({ family }, at) => `${family} ${gains[at]?.map((gain) => gain.toFixed(1)).join(", ")}`);
  return {
    figure: mean(gains.map((own) => own[SLACKS.indexOf(0.25)] ?? Number.NaN)),
    unit,
    detail: `${says} at a slack of 25 %, mean of ${LADDERS.length} ladders of real answers on ${GPUS} h100-sxm; at ${SLACKS.map((slack) => `${100 * slack}`).join(", ")} %: ${ladders.join("; ")}`,
  };
}

async function dragStep(objective: Row["objective"]): Promise<Measurement> {
  const { first, warm } = (await measured()).drags[objective];
  const text = (ms: readonly number[]): string => `p50 ${quantile(ms, 0.5).toFixed(2)}, p95 ${quantile(ms, 0.95).toFixed(2)} ms`;
  return {
    figure: quantile(warm, 0.95),
    unit: "ms",
    detail: `p95 of ${warm.length} steps over ${LADDERS.length} ladders, best of ${RUNS} runs each, GPU counts cached: ${text(warm)}; the first drag: ${text(first)}`,
  };
}

/** Half of a frame: the page draws in the other half. */
const MOST_STEP_MS = 8;
const SEARCHED_AGAIN = "a step evaluates routings again, where it may only choose among those evaluated";

const benchmarks: readonly Benchmark[] = [
  {
    name: "slack, points of promised quality bought",
    budget: null,
    run: () =>
      bought("fastest", { figure: (row, none) => row.qualityLow - none.qualityLow, unit: "points", says: "bound above that of no slack" }),
  },
  {
    name: "slack, cost saved",
    budget: null,
    run: () =>
      bought("cheapest", {
        figure: (row, none) => 100 * (1 - row.usdPerRequest / none.usdPerRequest),
        unit: "%",
        says: "cost below that of the cheapest plan as fast as the fastest",
      }),
  },
  { name: "slack, one step of the slider, fastest", budget: atMost(MOST_STEP_MS, SEARCHED_AGAIN), run: () => dragStep("fastest") },
  { name: "slack, one step of the slider, cheapest", budget: atMost(MOST_STEP_MS, SEARCHED_AGAIN), run: () => dragStep("cheapest") },
];

export const slackBenchmarks: readonly Benchmark[] = dataPresent() ? benchmarks : [];
