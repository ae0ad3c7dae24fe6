import type { GateDocument, SequenceDocument } from "@/solver/gates/gateDocument";
import { createGate } from "@/solver/gates/gates";
import { mean, quantile } from "@/solver/numeric/quantile";
import type { PlannedGateKind } from "@/solver/plan/planGates";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { answerRelations } from "@/solver/workflow/configurationOutcomes";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { confidenceReadingOf } from "@/solver/workload/gateColumns";
import { splitPrompts } from "@/solver/workload/split";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";
import { calibratedGate, scoresOn } from "./calibratedGate";
import { isRefused } from "./gateRefusal";
import type { GateDocuments } from "./stageGate";
import { stageGate } from "./stageGate";
import { readsConfidence, textScorerOf, trainTableScorer } from "./tableScorer";

/** One kind of gate at every stage, calibrated on the planning prompts. */
export interface GateCandidate {
  readonly kind: PlannedGateKind;
  /** null: the judge as it is, which a policy names no gates for. */
  readonly documents: GateDocuments | null;
}

/** The doubtful middle of a sequence: shares of the answers that its first gate is sure are bad, and is not sure are good. */
export interface DoubtfulMiddle {
  readonly from: number;
  readonly to: number;
}

/** The doubtful middle of a planned sequence. */
const DOUBTFUL: DoubtfulMiddle = { from: 0.2, to: 0.6 };

/**
 * The gates that a workload's columns allow for a ladder: the judge; confidence, and a scorer and a sequence that read it, the sequence where
 * the judge's scores are measured, as a calibration to modelled ones fits no real judge; agreement, where it is known with which answers it was
 * measured and the models that it compares with are available. Calibrated by isotonic regression of the planning prompts' labels on raw scores,
 * those of the scorer cross-fitted. The scorer is the workload's own where it was trained on texts, else one of its columns. A scorer of lengths
 * alone is not among them: measured on published answers it gains 2 to 3 points over random escalation, where a judge of AUC .80 gains 4 to 9.
 *
 * @param models of the ladder, smallest first; the last may have no columns.
 * @param isAvailable whether a model has a card and fits the cluster.
 */
export function gateCandidates(
  workload: Workload,
  models: readonly string[],
  isAvailable: (model: string) => boolean,
): readonly GateCandidate[] {
  const candidates: GateCandidate[] = [{ kind: "judge", documents: null }];
  for (const kind of ["confidence", "agreement", "scorer", "sequence"] as const) {
    const peers = kind === "agreement" ? (workload.origin.agreement?.peers ?? []) : [];
    // A peer answers for gates alone and is no stage.
    const scored = models.filter((model) => !peers.includes(model)).slice(0, -1);
    const documents = scored.length > 0 && peers.every(isAvailable) ? documentsOf(workload, scored, kind) : null;
    if (documents !== null) candidates.push({ kind, documents });
  }
  return candidates;
}

/** Calibrated gates of one kind for the answers of some models; null where the workload has none for one of them. */
function documentsOf(workload: Workload, models: readonly string[], kind: Exclude<PlannedGateKind, "judge">): GateDocuments | null {
  const gateOf = { confidence: confidenceGate, agreement: agreementGate, scorer: scorerGate, sequence: sequenceGate }[kind];
  const documents: [string, GateDocument][] = [];
  for (const model of models) {
    const outcomes = workload.outcomes.models.find((own) => own.model === model);
    const made = outcomes === undefined ? null : gateOf(workload, outcomes);
    if (made === null) return null;
    documents.push([model, made]);
  }
  return Object.fromEntries(documents);
}

function confidenceGate(workload: Workload, outcomes: ModelOutcomes): Extract<GateDocument, { kind: "confidence" }> | null {
  if (outcomes.confidence === undefined) return null;
  return calibrated(workload, outcomes, { kind: "confidence", ...confidenceReadingOf(workload.origin) });
}

function agreementGate(workload: Workload, outcomes: ModelOutcomes): GateDocument | null {
  const measured = workload.origin.agreement;
  if (measured === undefined || outcomes.agreement === undefined) return null;
  const { answer, samples, peers } = measured;
  return calibrated(workload, outcomes, {
    ...{ kind: "agreement", answer },
    ...(samples === undefined ? {} : { samples: { ...samples } }),
    ...(peers === undefined ? {} : { peers: [...peers] }),
  });
}

function scorerGate(workload: Workload, outcomes: ModelOutcomes): GateDocument | null {
  const learnt = textScorerOf(workload, outcomes) ?? (readsConfidence(workload, outcomes) ? trainTableScorer(workload, outcomes) : null);
  return learnt === null ? null : calibrated(workload, outcomes, { kind: "scorer", answer: "whole", ...learnt });
}

/** Confidence first, the judge for the answers that it is not sure of. */
function sequenceGate(workload: Workload, outcomes: ModelOutcomes): GateDocument | null {
  if (workload.judge.kind === "modelled") return null;
  return sequencesOn(workload, outcomes, { rows: planningRows(workload), middles: [DOUBTFUL] })?.[0] ?? null;
}

/** A gate that is calibrated on the planning prompts. */
const calibrated = <Document extends Exclude<GateDocument, { kind: "sequence" }>>(
  workload: Workload,
  outcomes: ModelOutcomes,
  document: Document,
) => calibratedGate(workload, outcomes, { document, rows: planningRows(workload) });

const planningRows = ({ outcomes, seed }: Workload): Int32Array => splitPrompts(outcomes.promptIds.length, seed).planning;

/**
 * Confidence first, the judge for the answers that it is not sure of: one sequence for each doubtful middle, both gates calibrated on the same
 * prompts, whose quantiles of calibrated confidence are the bounds.
 *
 * @returns null where the model has no column of confidence, or too few answers for a calibration.
 */
export function sequencesOn(
  workload: Workload,
  outcomes: ModelOutcomes,
  { rows, middles }: { readonly rows: Int32Array; readonly middles: readonly DoubtfulMiddle[] },
): readonly SequenceDocument[] | null {
  if (outcomes.confidence === undefined) return null;
  const gate = calibratedGate(workload, outcomes, {
    document: { kind: "confidence", ...confidenceReadingOf(workload.origin) } as const,
    rows,
  });
  const last = calibratedGate(workload, outcomes, { document: { kind: "judge" } as const, rows });
  const scores = gate === null ? null : scoresOn(workload, outcomes, { document: gate, rows });
  if (gate === null || last === null || scores === null) return null;
  return middles.map(({ from, to }) => {
    const [escalateBelow, acceptFrom] = [Math.floor(quantile(scores, from)), Math.ceil(quantile(scores, to))];
    return { kind: "sequence", first: [{ gate, acceptFrom, escalateBelow }], last };
  });
}

/** What a just-in-time policy chooses from: models, smallest first, and declared workflows. */
type Declared = Pick<JustInTimePolicy, "workflows"> & { readonly models: readonly Pick<JustInTimePolicy["models"][number], "model">[] };

interface ScoredGround {
  readonly workload: Workload;
  /** Planning programs of the policy's workflows. */
  readonly sample: ProgramSample;
  /** Whether heads tell which configurations of a workflow are accurate; left out: they do of every workflow. */
  readonly isPredicted?: (declared: Declared["workflows"][number]) => boolean;
  /** Models whose engines are known to report no log probabilities. */
  readonly silent?: readonly string[];
}

/**
 * A just-in-time policy whose agents' answers are scored (`scoreShift.ts`): by a calibrated gate of each model but the largest that reads the
 * answer alone, from the workload's planning prompts, with what planning programs tell of right answers and accurate programs.
 *
 * @returns a sentence with the reason where scores cannot be had, or would change nothing.
 */
export function withCallGates<Policy extends Declared>(
  policy: Policy,
  { workload, sample, isPredicted = () => true, silent = [] }: ScoredGround,
):
  | { readonly ok: true; readonly policy: Policy & { callGates: NonNullable<JustInTimePolicy["callGates"]> } }
  | { readonly ok: false; readonly message: string } {
  if (!policy.workflows.some(isPredicted))
    return { ok: false, message: "No workflow has a predictor of its accurate configurations, and scores change nothing else." };
  const names = policy.models.map(({ model }) => model);
  const smaller = names.slice(0, -1);
  const documents = documentsOf(workload, smaller, "confidence") ?? documentsOf(workload, smaller, "scorer");
  if (documents === null) return { ok: false, message: ungatedText(workload, smaller) };
  const related = policy.workflows.map((declared) =>
    isPredicted(declared) ? answerRelations(sample, configurationSpace(declared.workflow, names), declared.workflow.name) : [],
  );
  const { planning } = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  const callGates = names.flatMap((model) => {
    const gate = documents[model];
    const scored = gate === undefined ? null : stageGate(workload, model, gate);
    if (gate === undefined || scored === null || isRefused(scored)) return [];
    if (!related.some((own) => own.some((relation) => relation.model === model))) return [];
    return [{ model, gate, prior: mean(Array.from(planning, (row) => scored.scores[row] ?? 0)) / 100 }];
  });
  if (callGates.length === 0)
    return {
      ok: false,
      message: `No answer by ${smaller.join(", ") || "a smaller model"} is right more often in programs that end accurate: scores would change nothing.`,
    };
  const unread = callGates.filter(({ model, gate }) => silent.includes(model) && createGate(gate).needs.includes("log-probabilities"));
  if (unread.length > 0)
    return {
      ok: false,
      message: `The engines of ${unread.map(({ model }) => model).join(", ")} report no log probabilities, as a profile found, and the scores read them.`,
    };
  const workflows = policy.workflows.map((declared, at) => {
    const answers = (related[at] ?? []).filter(({ model }) => callGates.some((gate) => gate.model === model)).map((own) => ({ ...own }));
    return answers.length === 0 ? declared : { ...declared, answers };
  });
  return { ok: true, policy: { ...policy, workflows, callGates } };
}

/** Why a workload gives no gates of agents' answers by some models. */
function ungatedText({ name, outcomes }: Workload, models: readonly string[]): string {
  const without = models.filter((model) => outcomes.models.find((own) => own.model === model)?.confidence === undefined);
  return without.length > 0
    ? `The workload ${name} has no column of confidence for the answers of ${without.join(", ")}: profile it with confidence, or import the column.`
    : `The workload ${name} has too few labelled answers of ${models.join(", ")} to calibrate their scores.`;
}
