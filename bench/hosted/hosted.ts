import { createPlanner, type Planner } from "@/server/planning/planner/planner";
import { workloadHash } from "@/server/workloads/workloadCodec";
import type { HostedModel } from "@/solver/hardware/hostedModel";
import { mean } from "@/solver/numeric/quantile";
import type { Objective, Plan } from "@/solver/plan/plan";
import { modelsOf } from "@/solver/plan/policySchema";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { dataPresent, workloadOf } from "../lib/compareData";
import { writeTables } from "../lib/results";
import { table } from "../lib/tables";

/** Rates from a trickle, at which a large model's GPUs are hardly used, to a load that fills them. */
const RATES = [1, 8];
/** USD for a million tokens, read and written: assumed prices around those at which open models of that size are sold. */
const PRICES = [0.3, 5];
const LARGEST = "llama-3.1-70b";
/** The same model at a provider, with the same answers. */
const AT_PROVIDER = `${LARGEST}-hosted`;

/** Half way between the smallest and the largest model's quality, so that neither alone is the answer. */
function objectiveOf({ outcomes, seed }: Workload): Objective {
  const { planning } = splitPrompts(outcomes.promptIds.length, seed);
  const [small = 0, large = 0] = outcomes.models.map(({ label }) => mean(Float64Array.from(planning, (row) => label[row] ?? 0)));
  return {
    kind: "cost-under-both",
    latency: "end-to-end",
    percentile: 95,
    qualityFloor: Number(((small + large) / 2).toFixed(1)),
    qualityConfidence: 0.9,
    latencyBudgetSeconds: 60,
    maxGpus: 16,
  };
}

/** The provider's speed is assumed. */
const hosted = (usd: number): HostedModel => ({
  ...{ model: AT_PROVIDER, kind: "openai", url: "https://provider.example", maxInFlight: 500 },
  ...{ usdPerMillionInputTokens: usd, usdPerMillionOutputTokens: usd, mostOutputTokens: 4096, mostPauseSeconds: 30 },
  ...{ ttftSeconds: 0.6, secondsPerOutputToken: 0.015 },
});

export const hostedBenchmarks: readonly Benchmark[] = [
  {
    name: "hosted stage, cost with one over cost on own GPUs alone",
    budget: atMost(1.01, "a plan may send requests out and costs more than one that keeps them"),
    run: hostedStage,
  },
];

/** Plans at the lowest cost with the largest model on own GPUs alone, and there or at a provider; the figure is the worst ratio of costs. */
async function hostedStage(): Promise<Measurement> {
  if (!dataPresent()) return { figure: Number.NaN, unit: "times", detail: "skipped: no data" };
  const workload = withTwin(await workloadOf({ family: "Llama-3.1-Instruct", tasks: ["gsm"], judgeAuc: 0.8 }));
  const planner = createPlanner();
  const rows: string[][] = [];
  const ratios: number[] = [];
  for (const rate of RATES) {
    const own = await planAt(planner, workload, rate, null);
    for (const usd of PRICES) {
      const out = await planAt(planner, workload, rate, usd);
      if (out === null) continue;
      if (own !== null) ratios.push(costOf(out) / costOf(own));
      rows.push([String(rate), String(usd), ...figures(own), ...figures(out), sentOut(out)]);
    }
  }
  await planner.close();
  const header = ["requests/s", "USD/million tokens"];
  const names = ["cascade", "GPUs", "USD/1,000 requests", "p95, s"];
  writeTables("hosted", [
    table([...header, ...names.map((name) => `own: ${name}`), ...names.map((name) => `hosted: ${name}`), "sent out"], rows),
  ]);
  const { qualityFloor } = objectiveOf(workload);
  return {
    figure: Math.max(...ratios),
    unit: "times",
    detail: `worst of ${ratios.length} plans at a floor of ${qualityFloor}, p95 at most 60 s, up to 16 L40S at 1 USD/hour; best ${Math.min(...ratios).toFixed(2)} times, ${ratios.filter((ratio) => ratio < 0.99).length} cheaper by 1 % or more`,
  };
}

/** The outcomes with the largest model a second time, as the provider's. */
function withTwin(workload: Workload): Workload {
  const { models } = workload.outcomes;
  const twins = models.flatMap((one) => (one.model === LARGEST ? [{ ...one, model: AT_PROVIDER }] : []));
  return { ...workload, outcomes: { ...workload.outcomes, models: [...models, ...twins] } };
}

async function planAt(planner: Planner, workload: Workload, requestsPerSecond: number, usd: number | null): Promise<Plan | null> {
  const answer = await planner.solve({
    workload,
    workloadId: workloadHash(workload),
    cluster: {
      ...{ id: "bench", name: "bench", kind: "described", gpu: "l40s", usdPerGpuHour: 1 },
      nodes: [1, 2].map((index) => ({ name: `node${index}`, gpus: 8 })),
      ...(usd !== null && { hosted: [hosted(usd)] }),
    },
    ...(usd === null
      ? { models: workload.outcomes.models.flatMap(({ model }) => (model === AT_PROVIDER ? [] : [model])) }
      : { dataMayLeave: true as const }),
    requestsPerSecond,
    objective: objectiveOf(workload),
    fixed: null,
  });
  return answer.outcome === "plan" ? answer.plan : null;
}

const costOf = ({ predictions }: Plan): number => predictions.costUsdPerRequest;

function figures(plan: Plan | null): string[] {
  if (plan === null) return ["no plan", "-", "-", "-"];
  const gpus = plan.deployment.reduce((sum, one) => sum + one.gpus, 0);
  return [modelsOf(plan.policy).join(" > "), String(gpus), (1000 * costOf(plan)).toFixed(3), plan.predictions.p95Seconds.toFixed(1)];
}

const sentOut = ({ predictions: { hosted: [sent] = [] } }: Plan): string =>
  sent === undefined ? "nothing" : `${Math.round(100 * sent.share)} %, ${sent.usdPerHour.toFixed(2)} USD/hour`;
