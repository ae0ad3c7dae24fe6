import type { MixPlanAnswer } from "@/server/contracts/studio";
import { drawnDocuments } from "@/server/lab/labConfigurations";
import { planningPrograms, tableOf } from "@/server/lab/labPrograms";
import type { MixAsked } from "@/server/planning/mix/mixTask";
import { planMixInThread } from "@/server/planning/mix/mixThread";
import { createPlanner } from "@/server/planning/planner/planner";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { qualitiesOf } from "@/solver/lab/perWorkflow";
import { mean } from "@/solver/numeric/quantile";
import type { Plan } from "@/solver/plan/plan";
import { runningReplicas } from "@/solver/plan/runningReplicas";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { splitPrompts } from "@/solver/workload/split";
import { qwenLadder, raceAnswers } from "../aragog/raceLadders";
import { hardware } from "../aragog/seededRace";
import joint from "../joint/cases.json" with { type: "json" };
import { type Mix, mixOf } from "../joint/mixes";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { table } from "../lib/tables";
import cases from "./cases.json" with { type: "json" };

/** A mix on the engines planned for it, and on those planned for its single requests alone, on the same GPUs. */
interface MixRow {
  readonly mix: string;
  /** Whether workflows have a floor. */
  readonly floored: boolean;
  readonly load: number;
  readonly engines: string;
  /** Of the engines planned for single requests; null where nothing was planned for these. */
  readonly singleEngines: string | null;
  readonly planned: Figures;
  /** null: they do not carry the mix at its floors; `says` has the reason. */
  readonly beside: Figures | null;
  readonly says: string;
}

interface Figures {
  readonly meanSeconds: number;
  readonly p95Seconds: number;
  readonly quality: number;
  readonly factor: number;
}

const PROGRAMS = 1000;

/** A mix, and whether its workflows have its floor or none. */
interface MixCase {
  readonly mix: Mix;
  readonly floored: boolean;
}

/** Floors and rates of a mix at a total rate of single requests and programs. */
async function askedOf({ mix: { shares, floor }, floored }: MixCase, rate: number): Promise<MixAsked> {
  const { workload } = await raceAnswers(qwenLadder);
  const outcomes = tableOf(workload, qwenLadder.models);
  const sample = planningPrograms(
    { mix: [...shares], correlation: joint.correlation, misleads: joint.misleads },
    workload,
    outcomes,
    PROGRAMS,
  );
  const between = (least: number, most: number): number => Number((least + floor * (most - least)).toFixed(1));
  const { planning } = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  const qualityOf = (model: number): number => mean(Array.from(planning, (row) => outcomes.models[model]?.label[row] ?? 0));
  const rateOf = (name: string): number => rate * (shares.find(({ workflow }) => workflow === name)?.share ?? 0);
  return {
    singles: { requestsPerSecond: rateOf(joint.single), qualityFloor: between(qualityOf(0), qualityOf(outcomes.models.length - 1)) },
    workflows: drawnDocuments(shares.filter(({ workflow }) => workflow !== joint.single)).map((workflow) => {
      const qualities = qualitiesOf(sample, workflow.name, configurationSpace(workflow, sample.models));
      const qualityFloor = floored ? between(qualities[0] ?? 0, qualities.at(-1) ?? 0) : 0;
      return { workflow, programsPerSecond: rateOf(workflow.name), qualityFloor };
    }),
    selection: { kind: "worth", rightSeconds: 0, delayWeight: joint.delayWeight },
  };
}

const plan = (situation: Omit<PlanningSituation, "requestsPerSecond">, mix: MixAsked): Promise<MixPlanAnswer> =>
  planMixInThread({ situation, mix }, { signal: AbortSignal.timeout(1000 * cases.seconds) });

async function situationOfCase(): Promise<Omit<PlanningSituation, "requestsPerSecond">> {
  const { workload } = await raceAnswers(qwenLadder);
  return {
    ...{ workload: { ...workload, outcomes: tableOf(workload, qwenLadder.models) }, workloadId: "bench", engineProfile: hardware.profile },
    cluster: {
      ...{ id: "bench", name: `${cases.gpus} x h100-sxm`, kind: "described", gpu: "h100-sxm", usdPerGpuHour: 1 },
      nodes: [{ name: "node1", gpus: cases.gpus }],
    },
    judge: { kind: "fixed", secondsPerCall: joint.judgeSeconds, usdPerCall: 0 },
  };
}

/** More programs a second than any cluster carries. */
const TOO_MANY = 10_000;

/** The highest total rate that the cluster carries of a mix, at the load factor. */
async function carriedRate(one: MixCase): Promise<number> {
  const refused = await plan(await situationOfCase(), await askedOf(one, TOO_MANY));
  if (refused.ok || refused.factor === undefined) throw new Error(`${one.mix.name} is carried at ${TOO_MANY} programs/s`);
  return refused.factor * TOO_MANY;
}

/** @param load share of the highest rate that the cluster carries of the mix. */
async function rowOf(one: MixCase, load: number): Promise<MixRow> {
  const situation = await situationOfCase();
  const asked = await askedOf(one, Number((load * (await carriedRate(one))).toPrecision(3)));
  const { mix, floored } = one;
  const alone = await plannedAlone(situation, asked);
  const running = alone === null ? [] : runningReplicas(alone);
  const made = await plan({ ...situation, running }, asked);
  if (!made.ok) throw new Error(`${mix.name} at ${load}: ${made.message}`);
  const { beside } = made;
  const said = beside?.kind === "not-served" ? beside.message : "";
  return {
    ...{ mix: mix.name, floored, load, engines: enginesText(made.plan), singleEngines: alone === null ? null : enginesText(alone) },
    planned: figuresOf(made),
    beside: beside?.kind === "served" ? { ...beside, quality: beside.quality ?? Number.NaN } : null,
    says: alone === null ? "There is no plan for the single requests alone." : said,
  };
}

const figuresOf = ({ plan: { predictions } }: Extract<MixPlanAnswer, { ok: true }>): Figures => ({
  ...{ meanSeconds: predictions.meanSeconds, p95Seconds: predictions.p95Seconds, quality: predictions.quality },
  factor: predictions.mix?.factor ?? Number.NaN,
});

/** The fastest plan for the single requests of a mix; null where there is none. */
async function plannedAlone(situation: Omit<PlanningSituation, "requestsPerSecond">, { singles }: MixAsked): Promise<Plan | null> {
  if (singles === null) return null;
  const planner = createPlanner();
  try {
    const answer = await planner.solve({
      ...{ ...situation, requestsPerSecond: singles.requestsPerSecond, fixed: null },
      objective: {
        ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityConfidence: null, latencyBudgetSeconds: null },
        ...{ qualityFloor: singles.qualityFloor, maxGpus: cases.gpus },
      },
    });
    return answer.outcome === "plan" ? answer.plan : null;
  } finally {
    await planner.close();
  }
}

const enginesText = ({ deployment }: Pick<Plan, "deployment">): string =>
  deployment
    .map(
      ({ model, replicas }) =>
        `${model} ${replicas.map(({ tp, pp, count }) => `${count} x tp${tp}${pp > 1 ? ` pp${pp}` : ""}`).join(" + ")}`,
    )
    .join(", ");

const rows = once(async (): Promise<readonly MixRow[]> => {
  const all: MixRow[] = [];
  for (const floored of [false, true])
    for (const seed of cases.mixes) for (const load of cases.loads) all.push(await rowOf({ mix: mixOf(seed), floored }, load));
  writeRows("mix", all);
  writeTables("mix", [mixTable(all)]);
  return all;
});

function mixTable(all: readonly MixRow[]): string {
  const cells = (figures: Figures | null, says: string): readonly string[] =>
    figures === null
      ? [says, "-", "-", "-"]
      : [figures.meanSeconds.toFixed(2), figures.p95Seconds.toFixed(1), figures.quality.toFixed(1), figures.factor.toFixed(2)];
  const columns = ["mean, s", "p95, s", "quality", "rates may rise to"];
  return table(
    ["mix", "floors of workflows", "load", "engines for the mix", ...columns, "engines for its single requests", ...columns],
    all.map((row) => [
      ...[row.mix, row.floored ? "the mix's" : "none", `${row.load}`],
      row.engines,
      ...cells(row.planned, ""),
      row.singleEngines ?? "-",
      ...cells(row.beside, row.says),
    ]),
  );
}

async function compared(figure: "meanSeconds" | "p95Seconds"): Promise<Measurement> {
  const all = await rows();
  const both = all.flatMap(({ planned, beside }) => (beside === null ? [] : [planned[figure] / beside[figure]]));
  return {
    figure: Math.exp(mean(both.map(Math.log))),
    unit: "times",
    detail: `geometric mean over ${both.length} of ${all.length} cases, those whose mix the engines planned for its single requests carry, with the best cascade and configurations on them; lower in ${both.filter((own) => own < 1).length}; ${cases.gpus} H100, mixes of the joint policy's race, policy by worth, floors between the smallest and the largest model's quality`,
  };
}

/** Engines planned for a mix against those planned for its single requests alone: the same GPUs, candidates, policy and programs. */
export const mixBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      {
        name: "mix: mean latency on engines planned for it, over those for single requests",
        budget: null,
        run: () => compared("meanSeconds"),
      },
      { name: "mix: p95 on engines planned for it, over those for single requests", budget: null, run: () => compared("p95Seconds") },
    ]
  : [];
