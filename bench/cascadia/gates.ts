import { join } from "node:path";
import { importAnswers } from "@/server/planning/imports/importAnswers";
import type { ComparedGate, GateCascade } from "@/server/planning/rates/ratePlanners";
import { openText } from "@/server/prompts/openText";
import { type GateWork, gateEngines } from "@/solver/baselines/gateEngines";
import { tableRows } from "@/solver/baselines/halves";
import { createGate } from "@/solver/gates/gates";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { feasibleReplicas, type ShapedReplica } from "@/solver/hardware/replicaShapes";
import { mean } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import { gateCandidates } from "@/solver/stageGates/gateCandidates";
import { gateRefusalText, isRefused } from "@/solver/stageGates/gateRefusal";
import { type GateDocuments, type StageGate, stageGate, withGateScores } from "@/solver/stageGates/stageGate";
import { applyJudge } from "@/solver/workload/applyJudge";
import type { ModelOutcomes, OutcomeTable, Workload } from "@/solver/workload/workload";
import { data } from "../lib/compareData";
import { cascadiaCases } from "./cases";
import type { LadderScene } from "./scene";

/** Samples of AutoMix's self-verification, tokens of a verdict, and of the examples and instructions in front of it. */
const VERIFICATIONS = 8;
const VERDICT_TOKENS = 8;
const VERIFIER_PROMPT_TOKENS = 300;

/**
 * Reliability of a small model that verifies itself: assumed, as nobody published such verdicts on these answers. Below the LLM judge's, and
 * nearly as good.
 */
const SELF_VERIFICATION_AUCS = { AutoMix: 0.65, "AutoMix, AUC .75": 0.75 } as const;

/** A fine-tuned encoder of 0.4 billion parameters: two operations per parameter and token, at 40 % of an H100's dense bf16 rate. */
const CLASSIFIER = { secondsPerCall: 0.01, readingsPerGpuSecond: 0.7 / 0.001 } as const;

/** What the gate compares: the answers are a line each, or none. */
const EXTRACTED = "last-line" as const;

const RAW_AGREEMENT = createGate({ kind: "agreement", answer: EXTRACTED, peers: ["peer"] });

/** The LLM judge, on engines of its own in the cluster. */
export function judgeGate({ workload }: LadderScene): ComparedGate {
  const { card, rubricTokens, outputTokens } = cascadiaCases.judge;
  const { outcomes, arrivalSeconds } = workload;
  const inputTokens = outcomes.inputTokens.map((tokens, row) => rubricTokens + tokens + (outcomes.models[0]?.outputTokens[row] ?? 0));
  const work = { inputTokens, outputTokens: inputTokens.map(() => outputTokens) };
  const { seconds, readingsPerGpuSecond } = gateEngines(smallestReplica(card), work, arrivalSeconds);
  const engines = { readingsPerGpuSecond };
  return { kind: "judge", outcomes, secondsPerCall: seconds, usdPerCall: 0, engines, starts: false };
}

/** Ends the kind of a gate with trained heads. */
export const STARTS = ", trained start";

/** A gate with trained heads, which may let requests start at a later stage. */
export const withStart = (gate: ComparedGate): ComparedGate => ({ ...gate, kind: `${gate.kind}${STARTS}`, starts: true });

/** Cascades of the planner with one gate each, which are systems of their own. */
export const gatedCascades = (scene: LadderScene, judge: ComparedGate): readonly GateCascade[] => [
  { kind: "judge cascade", gate: judge },
  ...Object.entries(SELF_VERIFICATION_AUCS).map(([kind, auc]) => ({ kind, gate: { ...autoMixGate(scene, auc), kind } })),
];

/** The same LLM judge with another reliability: modelled by the seed, the same noise for all. */
export function judgeOfAuc(scene: LadderScene, auc: number): ComparedGate {
  const outcomes = modelled(scene.workload.outcomes, auc, mixSeed(scene.seed, "judge"));
  return { ...judgeGate(scene), kind: `judge of AUC ${auc}`, outcomes };
}

/** A fine-tuned classifier on a GPU of the cluster in place of the judge, modelled at a reliability. */
export function classifierGate({ workload, seed }: LadderScene, auc: number): ComparedGate {
  const outcomes = modelled(workload.outcomes, auc, mixSeed(seed, "classifier"));
  const { secondsPerCall, readingsPerGpuSecond } = CLASSIFIER;
  const engines = { readingsPerGpuSecond };
  return { kind: `local classifier of AUC ${auc}`, outcomes, secondsPerCall, usdPerCall: 0, engines, starts: false };
}

/**
 * AutoMix: the model that answered is asked k times whether its answer is right; the share of yes is the score, and a threshold decides, in
 * place of the source's POMDP. Modelled: the share is a noisy reading of the label. The verifier is the smallest model on engines of its own,
 * also for later models' answers: cheaper than theirs.
 */
function autoMixGate({ workload, context, seed }: LadderScene, auc: number): ComparedGate {
  const read = modelled(workload.outcomes, auc, mixSeed(seed, "verifies itself"));
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
  const engines = { readingsPerGpuSecond };
  return { kind: "AutoMix", outcomes, secondsPerCall: seconds, usdPerCall: 0, engines, starts: false };
}

/**
 * Agreement with a small peer model: the product's own gate documents, one for each model but the largest, calibrated on planning prompts.
 * Measured on published answers, of which their publisher extracted the last. The peer is asked when the stage's own model is, on engines of
 * its own in the cluster; what is waited for is the mean excess of its time over the first model's, both at the load that gates are sized for.
 */
export async function agreementGate({ ladder, workload, context }: LadderScene): Promise<ComparedGate> {
  const { arrivalSeconds } = workload;
  const answers = await answersOf([ladder.peer.answers, ...workload.outcomes.models.map(({ tableName }) => tableName)], ladder.tasks);
  const peer = answers.get(ladder.peer.answers);
  const compared = {
    ...workload,
    outcomes: {
      ...workload.outcomes,
      models: workload.outcomes.models.map((column) => {
        const own = answers.get(column.tableName);
        const agreement = workload.outcomes.promptIds.map((id) => agreed(own?.get(id)?.answer, peer?.get(id)?.answer));
        return { ...column, agreement: Float64Array.from(agreement) };
      }),
    },
    origin: { ...workload.origin, agreement: { answer: EXTRACTED, peers: [ladder.peer.card] } },
  };
  // Held out: the planner's own split of these prompts is another one.
  const planned = { ...compared, outcomes: tableRows(compared.outcomes, context.planning) };
  const candidate = gateCandidates(planned, context.models, () => true).find(({ kind }) => kind === "agreement");
  const outcomes = scoredBy(compared, candidate?.documents ?? null);
  const peerTokens = Int32Array.from(outcomes.promptIds, (id) => peer?.get(id)?.tokens ?? 1);
  const { inputTokens } = outcomes;
  const peerEngines = gateEngines(smallestReplica(ladder.peer.card), { inputTokens, outputTokens: peerTokens }, arrivalSeconds);
  const [own] = context.shapes[0] ?? [];
  const [first] = outcomes.models;
  if (own === undefined || first === undefined) throw new Error(`no replica of the smallest model of ${workload.name}`);
  const ownEngines = gateEngines(own, { inputTokens, outputTokens: first.outputTokens }, arrivalSeconds);
  const excess = peerEngines.endToEndSeconds.map((seconds, at) => Math.max(0, seconds - (ownEngines.endToEndSeconds[at] ?? 0)));
  const engines = { readingsPerGpuSecond: peerEngines.readingsPerGpuSecond };
  return { kind: "agreement", outcomes, secondsPerCall: mean(excess), usdPerCall: 0, engines, starts: false };
}

/** What the product's gate says of an answer and its peer's; 0 where neither has a part to compare: nothing says that it is right. */
function agreed(own: string | null | undefined, peer: string | null | undefined): number {
  const evidence = { prompt: "", inputTokens: 0, outputTokens: 0, endedByLength: false, tokens: null, judgedScore: null };
  const reading = RAW_AGREEMENT.score({ ...evidence, answer: own ?? "", others: [peer ?? ""] });
  return reading.kind === "scored" ? reading.score : 0;
}

/** The table with the scores of gates' documents as judged ones. */
function scoredBy(workload: Workload, documents: GateDocuments | null): OutcomeTable {
  if (documents === null) throw new Error(`no agreement gates of ${workload.name}`);
  const gates = new Map<string, StageGate>();
  for (const [model, document] of Object.entries(documents)) {
    const gate = stageGate(workload, model, document);
    if (isRefused(gate)) throw new Error(gateRefusalText(gate));
    gates.set(model, gate);
  }
  return withGateScores(workload, gates);
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
