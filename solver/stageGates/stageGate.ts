import { type ConfidenceReading, type GateDocument, type SimpleGateDocument, simpleGatesOf } from "@/solver/gates/gateDocument";
import { calibratedScore, isSameComparison, isSameReading } from "@/solver/gates/gates";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { confidenceReadingOf } from "@/solver/workload/gateColumns";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";
import { type GateRefusal, isRefused } from "./gateRefusal";
import { documentScores } from "./tableScorer";

/** The gate of a stage on the prompts of an outcome table. Arrays are parallel to its prompts. */
export interface StageGate {
  readonly document: GateDocument;
  /** What a threshold is compared with, 0..100, to a hundredth as in the gateway. */
  readonly scores: Float64Array;
  /** Further answers of the same model to each prompt. */
  readonly samples: number;
  /** Other models that answer each prompt too. */
  readonly peers: readonly string[];
  /** 1 where the judge is asked; null: it never is. */
  readonly judged: Uint8Array | null;
}

/** The gates of a cascade, by the model whose answers they score. */
export type StageGates = ReadonlyMap<string, StageGate>;

/** Documents of gates by the model whose answers they score. */
export type GateDocuments = Readonly<Record<string, GateDocument>>;

/**
 * A model's gate on a workload's prompts, from the columns that the workload has: as the gateway scores these answers, with the same
 * document. A scorer's scores of planning prompts are cross-fitted, so that no answer is scored by a scorer that has seen its label.
 *
 * @returns why there is none where the workload does not have what the document reads.
 */
export function stageGate(workload: Workload, model: string, document: GateDocument): StageGate | GateRefusal {
  const outcomes = workload.outcomes.models.find((own) => own.model === model);
  if (outcomes === undefined) return { kind: "no-answers", model };
  const simple = simpleGatesOf(document);
  const scored = simple.map((each) => simpleScores(workload, outcomes, each));
  const refused = scored.find(isRefused);
  if (refused !== undefined) return refused;
  const scores = scored.flatMap((each) => (isRefused(each) ? [] : [each]));
  const calls = simple.find((each) => each.kind === "agreement");
  const asked = { samples: calls?.samples?.count ?? 0, peers: calls?.peers ?? [] };
  if (document.kind === "sequence") {
    if (calls !== undefined) return { kind: "sequenced-answers", model };
    return { document, ...asked, ...sequenceScores(document, scores) };
  }
  const own = scores[0] ?? new Float64Array();
  return { document, scores: own, ...asked, judged: document.kind === "judge" ? new Uint8Array(own.length).fill(1) : null };
}

/** All gates of a cascade, or why one of them has no scores here. */
export function stageGatesOf(workload: Workload, documents: GateDocuments): StageGates | GateRefusal {
  const gates = new Map<string, StageGate>();
  for (const [model, document] of Object.entries(documents)) {
    const gate = stageGate(workload, model, document);
    if (isRefused(gate)) return gate;
    gates.set(model, gate);
  }
  const peers = [...gates.values()].flatMap((gate) => gate.peers);
  const unknown = peers.find((peer) => workload.outcomes.models.every(({ model }) => model !== peer));
  return unknown === undefined ? gates : { kind: "no-answers", model: unknown };
}

/** Which of some prompts' answers the gates ask the judge about, 1 or 0, by model. */
export const asksJudgeOn = (gates: StageGates, models: readonly string[], rows: ArrayLike<number>): readonly Uint8Array[] =>
  models.map((model) => Uint8Array.from(rows, (row) => gates.get(model)?.judged?.[row] ?? 0));

/** The documents of a cascade's gates, one for each stage but the last. */
export const gateDocumentsOf = (gates: StageGates, models: readonly string[]): readonly GateDocument[] =>
  models.slice(0, -1).map((model) => gates.get(model)?.document ?? { kind: "judge" });

/**
 * How a planned policy treats an answer without a score. Engines may report no log probabilities, and none may be free for further answers: the
 * floor of quality holds only if such an answer is not accepted.
 */
export const whenUnscored = (gates: readonly GateDocument[]): "accept" | "largest" =>
  gates.some(({ kind }) => kind !== "judge") ? "largest" : "accept";

/** A workload's outcomes with the scores of gates in the place of the judge's. */
export function withGateScores({ outcomes }: Pick<Workload, "outcomes">, gates: StageGates): Workload["outcomes"] {
  return { ...outcomes, models: outcomes.models.map((own) => ({ ...own, judged: gates.get(own.model)?.scores ?? own.judged })) };
}

/** Scores of one gate's answers, calibrated where its document is. */
function simpleScores(workload: Workload, outcomes: ModelOutcomes, document: SimpleGateDocument): Float64Array | GateRefusal {
  const raw = rawScores(workload, outcomes, document);
  return isRefused(raw) ? raw : raw.map((score) => rounded(calibratedScore(score, document.calibration)));
}

function rawScores(workload: Workload, outcomes: ModelOutcomes, document: SimpleGateDocument): Float64Array | GateRefusal {
  const { model, judged, confidence, agreement } = outcomes;
  switch (document.kind) {
    case "judge":
      return judged;
    case "confidence":
      if (confidence === undefined) return { kind: "no-column", model, column: "confidence" };
      return measureRefusal(workload, document, model) ?? confidence;
    case "agreement": {
      if (agreement === undefined) return { kind: "no-column", model, column: "agreement" };
      const measured = workload.origin.agreement;
      return measured !== undefined && isSameComparison(document, measured) ? agreement : { kind: "other-answers", model };
    }
    case "scorer":
      return documentScores(workload, outcomes, document);
  }
}

/** Why the column of confidence is not what a gate reads; null: it is. */
function measureRefusal({ origin }: Workload, document: ConfidenceReading, model: string): GateRefusal | null {
  const held = confidenceReadingOf(origin);
  return isSameReading(held, document) ? null : { kind: "other-measure", model, held: held.measure, measure: document.measure };
}

/** The score of the first gate that is sure, else that of the last; the judge is asked where none before it is sure. */
function sequenceScores(
  { first, last }: Extract<GateDocument, { kind: "sequence" }>,
  scored: readonly Float64Array[],
): Pick<StageGate, "scores" | "judged"> {
  const judgeAt = [...first.map(({ gate }) => gate), last].findIndex(({ kind }) => kind === "judge");
  const prompts = scored[0]?.length ?? 0;
  const scores = new Float64Array(prompts);
  const judged = new Uint8Array(prompts);
  for (let prompt = 0; prompt < prompts; prompt += 1) {
    const sure = first.findIndex(({ acceptFrom, escalateBelow }, at) => {
      const score = scored[at]?.[prompt] ?? 0;
      return score >= acceptFrom || score < escalateBelow;
    });
    const decides = sure < 0 ? first.length : sure;
    scores[prompt] = scored[decides]?.[prompt] ?? 0;
    judged[prompt] = judgeAt >= 0 && decides >= judgeAt ? 1 : 0;
  }
  return { scores, judged: judgeAt < 0 ? null : judged };
}

const rounded = (score: number): number => Math.round(score * 100) / 100;

/**
 * Scores of answers to calls of workflows under a policy that has them scored, on the rows of a workload's table: by model of the sample, then
 * by request; NaN for a model without a gate.
 *
 * @returns why there are none where the workload does not have what a gate reads; null where the policy has no answer of a call scored.
 */
export function callScores(
  { callGates }: Pick<JustInTimePolicy, "callGates">,
  workload: Workload,
  { models, row }: Pick<ProgramSample, "models" | "row">,
): readonly Float64Array[] | GateRefusal | null {
  if (callGates === undefined) return null;
  const gates = callGates.map(({ model, gate }) => ({ model, scored: stageGate(workload, model, gate) }));
  const refused = gates.map(({ scored }) => scored).find(isRefused);
  if (refused !== undefined) return refused;
  return models.map((name) => {
    const scored = gates.find(({ model }) => model === name)?.scored;
    const scores = scored === undefined || isRefused(scored) ? undefined : scored.scores;
    return Float64Array.from(row, (own) => scores?.[own] ?? Number.NaN);
  });
}
