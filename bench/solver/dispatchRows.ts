import { createHash } from "node:crypto";
import type { SolveRequest } from "@/server/contracts/planRequest";
import type { SolveAnswer } from "@/server/contracts/studio";
import type { Planner } from "@/server/planning/planner/planner";
import type { Resolved } from "@/server/planning/planner/planningRequest";
import { trainedConfidence } from "@/server/prediction/confidenceTraining";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { mean } from "@/solver/numeric/quantile";
import type { Objective, Plan } from "@/solver/plan/plan";
import { modelsOf, thresholdsOf } from "@/solver/plan/policySchema";
import { withConfidenceColumns } from "@/solver/workload/confidenceColumns";
import { splitPrompts } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";
import { workloadOf } from "../lib/compareData";
import { promptTexts } from "../lib/ladders";
import { type Engines, type HeldOutRuns, heldOutRuns, type Paired, paired, type Verdict, verdictOf } from "./heldOutRuns";

/** Rates that load 32 GPUs without filling them. */
export const LADDERS = [
  { family: "Llama-3.1-Instruct", tasks: ["gsm", "crux"], rate: 200 },
  { family: "Gemma-2-it", tasks: ["gsm", "crux"], rate: 640 },
  { family: "Qwen2.5-Instruct", tasks: ["crux"], rate: 360 },
];

/** Floors as shares of the way from the smallest model's mean label to the largest's, rounded to whole points. */
const FLOORS = [0.1, 0.25, 0.4, 0.5, 0.6, 0.7];

const GPUS = 32;
const JUDGE_AUC = 0.8;

/** What is planned at each floor. */
const KINDS = [
  { name: "cascade", policy: "cascade", confidence: "stated" },
  { name: "one model", policy: "one-model", confidence: "stated" },
  { name: "slack, stated", policy: "slack", confidence: "stated" },
  { name: "slack, trained", policy: "slack", confidence: "trained" },
] as const;
type Kind = (typeof KINDS)[number];
export type Confidence = Kind["confidence"];

/** The best plan of a kind at a floor, as planned and on held-out prompts. */
export interface DispatchRow {
  readonly ladder: string;
  readonly floor: number;
  readonly name: Kind["name"];
  /** null: there is none, and `reason` says why. */
  readonly planned: { readonly of: string; readonly p95Seconds: number; readonly qualityLow: number; readonly gpus: number } | null;
  readonly reason: string | null;
  readonly heldOut: Readonly<Record<Engines, HeldOutRuns>> | null;
  /** Beside the cascade of the floor; null for itself. */
  readonly beside: Readonly<Record<Engines, Paired>> | null;
  readonly verdict: Verdict | null;
}

/** Answers of a ladder: without scores of prompts, and with those of heads that were not trained on the prompt. */
export interface LadderAnswers {
  readonly ladder: string;
  readonly rate: number;
  readonly workloads: Readonly<Record<Confidence, Workload>>;
  /** Hash of the predictor. */
  readonly artefact: string;
  /** Area under the curve of each model's held-out scores. */
  readonly auc: readonly string[];
}

export async function answersOfLadder({ family, tasks, rate }: (typeof LADDERS)[number]): Promise<LadderAnswers> {
  const [workload, byId] = await Promise.all([workloadOf({ family, tasks, judgeAuc: JUDGE_AUC }), promptTexts()]);
  const { outcomes } = workload;
  const texts = outcomes.promptIds.map((id) => byId.get(id) ?? null);
  const split = splitPrompts(outcomes.promptIds.length, workload.seed);
  const { bytes, scores, heldOut } = trainedConfidence({ workload, texts, split, tell: () => undefined });
  const scored = withConfidenceColumns(
    outcomes,
    scores.models.map(({ model }) => model),
    scores.scores,
  );
  if (scored === null) throw new Error(`${family}: the predictor does not cover its models`);
  return {
    ladder: `${family} ${tasks.join("+")}, ${rate} requests/s`,
    rate,
    workloads: { stated: workload, trained: { ...workload, outcomes: scored } },
    artefact: createHash("sha256").update(bytes).digest("hex"),
    auc: (heldOut.outOfFold ?? []).map(({ model, auc }) => `${model} ${auc?.toFixed(2) ?? "-"}`),
  };
}

/** The situation of a ladder on 32 GPUs. */
export function situationOf({ rate, workloads, artefact }: LadderAnswers, confidence: Confidence) {
  const nodes = Array.from({ length: GPUS / 8 }, (_, index) => ({ name: `node${index + 1}`, gpus: 8 }));
  return {
    workload: workloads[confidence],
    workloadId: workloadHash(workloads.stated),
    cluster: { id: "bench", name: "bench", kind: "described" as const, gpu: "h100-sxm", nodes, usdPerGpuHour: 2.67 },
    requestsPerSecond: rate,
    ...(confidence === "trained" ? { confidence: { artefact } } : {}),
  };
}

/** The fastest at a floor. */
export const objectiveAt = (qualityFloor: number): Objective => ({
  ...{ kind: "latency-under-quality", latency: "end-to-end", percentile: 95, qualityFloor, qualityConfidence: 0.9 },
  ...{ latencyBudgetSeconds: null, maxGpus: GPUS },
});

export function floorsOf({ workloads: { stated } }: LadderAnswers): readonly number[] {
  const { planning } = splitPrompts(stated.outcomes.promptIds.length, stated.seed);
  const qualities = stated.outcomes.models.map(({ label }) => mean(Float64Array.from(planning, (row) => label[row] ?? 0)));
  const [smallest, largest] = [qualities[0] ?? 0, qualities.at(-1) ?? 0];
  return FLOORS.map((share) => Math.round(smallest + share * (largest - smallest)));
}

/** Plans every kind at every floor; the planner's thread works on the next while a plan is simulated on held-out prompts. */
export async function rowsOf(planner: Planner, answers: LadderAnswers): Promise<readonly DispatchRow[]> {
  const asked = floorsOf(answers).flatMap((floor) =>
    KINDS.map((kind) => {
      const { policy, confidence } = kind;
      const request: Resolved<SolveRequest> = { ...situationOf(answers, confidence), objective: objectiveAt(floor), fixed: null, policy };
      return { floor, kind, answer: planner.solve(request) };
    }),
  );
  const rows: DispatchRow[] = [];
  const known = new Map<string, NonNullable<DispatchRow["heldOut"]>>();
  for (const { floor, kind, answer } of asked) {
    const cascade = rows.find((row) => row.floor === floor && row.name === "cascade")?.heldOut ?? null;
    const solved = await answer;
    const startedMs = performance.now();
    rows.push({ ladder: answers.ladder, floor, name: kind.name, ...figuresOf(solved, { answers, kind, cascade, known }) });
    const { planned, verdict } = rows.at(-1) as DispatchRow;
    process.stderr.write(
      `${floor} ${kind.name}: ${planned?.of}, ${planned?.p95Seconds} s, ${verdict}, simulated in ${performance.now() - startedMs} ms\n`,
    );
  }
  return rows;
}

interface Beside {
  readonly answers: LadderAnswers;
  readonly kind: Kind;
  readonly cascade: DispatchRow["heldOut"];
  /** Runs of plans by their hashes: the same plan is the best at several floors. */
  readonly known: Map<string, NonNullable<DispatchRow["heldOut"]>>;
}

function figuresOf(answer: SolveAnswer, { answers, kind, cascade, known }: Beside): Omit<DispatchRow, "ladder" | "floor" | "name"> {
  if (answer.outcome !== "plan") return { planned: null, reason: answer.reason, heldOut: null, beside: null, verdict: null };
  const { plan } = answer;
  const served = { plan, workload: answers.workloads[kind.confidence], requestsPerSecond: answers.rate };
  const key = `${plan.policyHash} ${plan.topologyHash} ${kind.confidence}`;
  const heldOut = known.get(key) ?? { "as modelled": heldOutRuns(served, "as modelled"), perturbed: heldOutRuns(served, "perturbed") };
  known.set(key, heldOut);
  const beside =
    kind.policy === "cascade" || cascade === null
      ? null
      : {
          "as modelled": paired(heldOut["as modelled"], cascade["as modelled"]),
          perturbed: paired(heldOut.perturbed, cascade.perturbed),
        };
  return {
    planned: {
      of: textOf(plan),
      p95Seconds: plan.predictions.p95Seconds,
      qualityLow: plan.predictions.qualityBand.low,
      gpus: plan.deployment.reduce((sum, { gpus }) => sum + gpus, 0),
    },
    reason: null,
    heldOut,
    beside,
    verdict: beside === null ? null : verdictOf(Object.values(beside)),
  };
}

/** The models of a plan with its thresholds, or with its tau and the GPUs of each. */
function textOf({ policy, deployment }: Plan): string {
  const models = modelsOf(policy);
  if (policy.kind === "slack") return `${deployment.map(({ model, gpus }) => `${model} (${gpus})`).join(", ")}, tau ${policy.tau}`;
  const thresholds = thresholdsOf(policy);
  return models.map((model, stage) => (stage < thresholds.length ? `${model} <${thresholds[stage]}>` : model)).join(" ");
}
