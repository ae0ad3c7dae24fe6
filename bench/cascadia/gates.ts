import { join } from "node:path";
import { importAnswers } from "@/server/planning/imports/importAnswers";
import type { ComparedGate } from "@/server/planning/rates/ratePlanners";
import { openText } from "@/server/prompts/openText";
import { type GateWork, gateEngines } from "@/solver/baselines/gateEngines";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { feasibleReplicas, type ShapedReplica } from "@/solver/hardware/replicaShapes";
import { mixSeed } from "@/solver/numeric/random";
import { applyJudge } from "@/solver/workload/applyJudge";
import type { ModelOutcomes, OutcomeTable } from "@/solver/workload/workload";
import { data } from "../lib/compareData";
import type { LadderScene } from "./scene";

/** The source's measured time of one judgement by GPT-4o (appendix H); its engines are not in the cluster, and cost nothing here. */
const JUDGE = { secondsPerCall: 0.27, usdPerCall: 0 } as const;

/** Samples of AutoMix's self-verification, tokens of a verdict, and of the examples and instructions in front of it. */
const VERIFICATIONS = 8;
const VERDICT_TOKENS = 8;
const VERIFIER_PROMPT_TOKENS = 300;

/** Reliability of a small model that verifies itself: assumed, as nobody published such verdicts on these answers. Below the LLM judge's. */
const SELF_VERIFICATION_AUC = 0.65;

/** A fine-tuned encoder of 0.4 billion parameters: two operations per parameter and token, at 40 % of an H100's dense bf16 rate. */
const CLASSIFIER = { secondsPerCall: 0.01, readingsPerGpuSecond: 0.7 / 0.001 } as const;

/** Agreement counts for one half of a score, the trained head's chance that the model is right for the other. */
const AGREEMENT_POINTS = 50;

/** The LLM judge of the source. */
export const judgeGate = ({ workload }: LadderScene, starts: boolean): ComparedGate => ({
  ...{ kind: starts ? "judge, trained start" : "judge cascade", outcomes: workload.outcomes, ...JUDGE, engines: null, starts },
});

/** The same LLM judge with another reliability: modelled by the seed, the same noise for all. */
export function judgeOfAuc({ workload, seed }: LadderScene, auc: number): ComparedGate {
  const outcomes = modelled(workload.outcomes, auc, mixSeed(seed, "judge"));
  return { kind: `judge of AUC ${auc}`, outcomes, ...JUDGE, engines: null, starts: false };
}

/** A fine-tuned classifier on a GPU of the cluster in place of the judge, modelled at a reliability. */
export function classifierGate({ workload, seed }: LadderScene, auc: number): ComparedGate {
  const outcomes = modelled(workload.outcomes, auc, mixSeed(seed, "classifier"));
  const { secondsPerCall, readingsPerGpuSecond } = CLASSIFIER;
  const engines = { readingsPerGpuSecond, per: "judged answer" } as const;
  return { kind: `local classifier of AUC ${auc}`, outcomes, secondsPerCall, usdPerCall: 0, engines, starts: false };
}

/**
 * AutoMix: the model that answered is asked k times whether its answer is right; the share of yes is the score, and a threshold decides, in
 * place of the source's POMDP. Modelled: the share is a noisy reading of the label. The verifier is the smallest model on engines of its own,
 * also for later models' answers: cheaper than theirs.
 */
export function autoMixGate({ workload, context, seed }: LadderScene): ComparedGate {
  const read = modelled(workload.outcomes, SELF_VERIFICATION_AUC, mixSeed(seed, "verifies itself"));
  const outcomes = withJudged(read, ({ judged }) =>
    judged.map((score) => Math.round((100 * Math.round((VERIFICATIONS * score) / 100)) / VERIFICATIONS)),
  );
  const [verifier] = context.shapes[0] ?? [];
  const [first] = workload.outcomes.models;
  if (verifier === undefined || first === undefined) throw new Error(`no replica of the smallest model of ${workload.name}`);
  const { arrivalSeconds, outcomes: table } = workload;
  const inputTokens = table.inputTokens.map((tokens, row) => VERIFIER_PROMPT_TOKENS + tokens + (first.outputTokens[row] ?? 0));
  const verdicts = (tokens: number): GateWork => ({ inputTokens, outputTokens: inputTokens.map(() => tokens) });
  // The samples are decoded side by side: they take the engine as many tokens, and the request only one verdict's time.
  const { readingsPerGpuSecond } = gateEngines(verifier, verdicts(VERIFICATIONS * VERDICT_TOKENS), arrivalSeconds);
  const { seconds } = gateEngines(verifier, verdicts(VERDICT_TOKENS), arrivalSeconds);
  const engines = { readingsPerGpuSecond, per: "judged answer" } as const;
  return { kind: "AutoMix", outcomes, secondsPerCall: seconds, usdPerCall: 0, engines, starts: false };
}

/**
 * Agreement with a second small model, which answers every request at the same time, and within equal agreement the trained head's chance that
 * the model is right. Measured on published answers; the peer's engines are in the cluster, and its excess over the first model's time
 * is waited for.
 */
export async function agreementGate({ ladder, workload, context }: LadderScene): Promise<ComparedGate> {
  const { outcomes, arrivalSeconds } = workload;
  const answers = await answersOf([ladder.peer.answers, ...outcomes.models.map(({ tableName }) => tableName)], ladder.tasks);
  const peer = answers.get(ladder.peer.answers);
  const agreed = withJudged(outcomes, (column) => {
    const own = answers.get(column.tableName);
    return column.label.map((_, row) => {
      const id = outcomes.promptIds[row] ?? "";
      const agree = isSame(own?.get(id)?.answer, peer?.get(id)?.answer);
      return Math.round((agree ? AGREEMENT_POINTS : 0) + (1 - AGREEMENT_POINTS / 100) * (column.routerScore?.[row] ?? 0));
    });
  });
  const replica = smallestReplica(ladder.peer.card);
  const peerTokens = Int32Array.from(outcomes.promptIds, (id) => peer?.get(id)?.tokens ?? 1);
  const { inputTokens } = outcomes;
  const peerEngines = gateEngines(replica, { inputTokens, outputTokens: peerTokens }, arrivalSeconds);
  const [own] = context.shapes[0] ?? [];
  const [first] = outcomes.models;
  if (own === undefined || first === undefined) throw new Error(`no replica of the smallest model of ${workload.name}`);
  const ownEngines = gateEngines(own, { inputTokens, outputTokens: first.outputTokens }, arrivalSeconds);
  return {
    kind: "agreement, trained start",
    outcomes: agreed,
    secondsPerCall: Math.max(0, peerEngines.seconds - ownEngines.seconds),
    usdPerCall: 0,
    engines: { readingsPerGpuSecond: peerEngines.readingsPerGpuSecond, per: "request" },
    starts: true,
  };
}

/** The table with the scores of a judge of all its answers, modelled at a reliability. */
const modelled = (outcomes: OutcomeTable, auc: number, seed: number): OutcomeTable => applyJudge(outcomes, { kind: "modelled", auc, seed });

const withJudged = (outcomes: OutcomeTable, scores: (column: ModelOutcomes) => Float64Array): OutcomeTable => ({
  ...outcomes,
  models: outcomes.models.map((column) => ({ ...column, judged: scores(column) })),
});

function smallestReplica(card: string): ShapedReplica {
  const [model, gpu] = [modelCard(card), gpuCard("h100-sxm")];
  const [smallest] = model === undefined || gpu === undefined ? [] : feasibleReplicas(model, gpu, { gpusPerNode: 8, maxGpus: 8 });
  if (smallest === undefined) throw new Error(`no replica of ${card}`);
  return smallest;
}

interface Answer {
  readonly answer: string | null;
  readonly tokens: number;
}

/** Extracted answers and tokens of models on tasks, by model and prompt. */
async function answersOf(models: readonly string[], tasks: readonly string[]): Promise<ReadonlyMap<string, ReadonlyMap<string, Answer>>> {
  const found = new Map(models.map((model) => [model, new Map<string, Answer>()]));
  for (const task of tasks) {
    const name = join(data, "quality", `answers_${task}.csv.gz`);
    const read = await importAnswers({ name, stream: await openText(name) }, models);
    if (!read.ok) throw new Error(read.message);
    const { questionIds, models: columns } = read.sample;
    for (const { model, answers, outputTokens } of columns)
      for (const [at, id] of questionIds.entries())
        found.get(model)?.set(id, { answer: answers[at] ?? null, tokens: outputTokens[at] ?? 1 });
  }
  return found;
}

/** Equal texts, or equal numbers. Two missing answers agree on nothing. */
function isSame(one: string | null | undefined, other: string | null | undefined): boolean {
  if (one == null || other == null) return false;
  return one.trim() === other.trim() || (one.trim() !== "" && Number(one) === Number(other));
}
