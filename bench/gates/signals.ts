import { createGate } from "@/solver/gates/gates";
import { mixSeed } from "@/solver/numeric/random";
import { scoreRows, trainConfidence } from "@/solver/prediction/confidence";
import { crossFittedConfidence } from "@/solver/prediction/crossFitted";
import { type ScorerRows, scorerScores } from "@/solver/prediction/gateScorer";
import { confidenceRowsOf } from "@/solver/prediction/programRows";
import type { GateSignal } from "@/solver/tournament/gateSignal";
import { applyJudge } from "@/solver/workload/applyJudge";
import type { OutcomeTable } from "@/solver/workload/workload";
import type { Drawn } from "../lib/gateSplits";
import { EXTRACTED, type LadderAnswers } from "./answers";

/** Reliabilities of modelled judges; .80 is an ordinary LLM judge. */
const JUDGE_AUCS = [0.5, 0.7, 0.8, 0.9] as const;

const FOLDS = 5;

const MEASURED_JUDGE = "judge, measured scores";

/** What WildBench's judge reads and writes on average, by the data. */
const MEASURED_JUDGE_TOKENS = 1712 + 230;

const FREE = { extraTokens: 0, extraSeconds: 0 };

/** Every gate that published answers allow: they hold no log probabilities, so that confidence is not among them. */
export const ladderSignals = (answers: LadderAnswers, drawn: Drawn): readonly GateSignal[] => [
  agreementSignal(answers),
  ...JUDGE_AUCS.map((auc) => judgeSignal(answers, auc, drawn.seed)),
  scorerSignal(answers, drawn),
  routerSignal(answers, drawn),
];

/** Every gate that a table of outcomes with a judge's scores allows: it has no answers to compare or read, and no prompts. */
export const scoredSignals = (outcomes: OutcomeTable, drawn: Drawn): readonly GateSignal[] => [
  measuredJudge(outcomes),
  ...JUDGE_AUCS.map((auc) => judgeSignal({ outcomes }, auc, drawn.seed)),
  scorerSignal({ outcomes, own: null }, drawn),
];

/** The first model's measured scores. */
function measuredJudge({ models: [own] }: OutcomeTable): GateSignal {
  const cost = { extraTokens: MEASURED_JUDGE_TOKENS, extraSeconds: null };
  return { kind: "judge", name: MEASURED_JUDGE, modelled: false, raw: own?.judged ?? new Float64Array(), cost };
}

/** Agreement of the first model's answer with the peer's; the peer reads the prompt and writes its answer. */
export function agreementSignal({ ladder, own, peer, peerTokens, outcomes }: LadderAnswers): GateSignal {
  const gate = createGate({ kind: "agreement", answer: EXTRACTED[ladder.task], peers: ["peer"] });
  const raw = Float64Array.from(own, (answer, at) => {
    const evidence = { prompt: "", inputTokens: 0, outputTokens: 0, endedByLength: false, tokens: null, judgedScore: null };
    const reading = gate.score({ ...evidence, answer: answer ?? "", others: [peer[at] ?? ""] });
    // Neither answer has a part to compare: nothing says that the answer is right.
    return reading.kind === "scored" ? reading.score : 0;
  });
  const tokens = peerTokens.reduce((sum, output, at) => sum + output + (outcomes.inputTokens[at] ?? 0), 0) / peerTokens.length;
  // The peer answers at the same time as the first model: how much longer it takes depends on both engines.
  return { kind: "agreement", name: "agreement with the peer", modelled: false, raw, cost: { extraTokens: tokens, extraSeconds: null } };
}

function judgeSignal({ outcomes }: Pick<LadderAnswers, "outcomes">, auc: number, seed: number): GateSignal {
  const [own] = applyJudge(outcomes, { kind: "modelled", auc, seed: mixSeed(seed, `judge of ${auc}`) }).models;
  const raw = own?.judged ?? new Float64Array();
  const tokens = outcomes.inputTokens.reduce((sum, input, at) => sum + input + (own?.outputTokens[at] ?? 0), 0) / raw.length;
  return { kind: "judge", name: `judge of AUC ${auc}`, modelled: true, raw, cost: { extraTokens: tokens, extraSeconds: null } };
}

interface ScoredAnswers extends Pick<LadderAnswers, "outcomes"> {
  /** null: answers are not stored. */
  readonly own: LadderAnswers["own"] | null;
}

/** Reads lengths of answer and prompt, and whether the part to compare could be extracted. */
function scorerSignal({ outcomes, own }: ScoredAnswers, { split, seed }: Drawn): GateSignal {
  const [model] = outcomes.models;
  const rowsOf = (rows: Int32Array): ScorerRows => ({
    features: ["log-answer-tokens", "log-prompt-tokens", ...(own === null ? [] : (["has-extractable-answer"] as const))],
    facts: Array.from(rows, (row) => [
      Math.log1p(model?.outputTokens[row] ?? 0),
      Math.log1p(outcomes.inputTokens[row] ?? 0),
      ...(own === null ? [] : [own[row] === null ? 0 : 1]),
    ]),
    labels: Float64Array.from(rows, (row) => model?.label[row] ?? 0),
  });
  const raw = scorerScores(rowsOf, { split, seed: mixSeed(seed, "scorer") });
  return { kind: "scorer", name: "scorer", modelled: false, raw, cost: FREE };
}

/** A head that reads the words of the prompt before any model has answered. */
function routerSignal({ outcomes, texts }: LadderAnswers, { split: { planning, heldOut }, seed }: Drawn): GateSignal {
  const firstOnly = { ...outcomes, models: outcomes.models.slice(0, 1) };
  const raw = new Float64Array(outcomes.promptIds.length);
  const learnt = confidenceRowsOf(firstOnly, planning, texts);
  const own = { seed: mixSeed(seed, "router") };
  for (const [at, chance] of crossFittedConfidence(learnt, { ...own, folds: FOLDS }).entries()) raw[planning[at] ?? 0] = 100 * chance;
  const fresh = scoreRows(trainConfidence(learnt, own), confidenceRowsOf(firstOnly, heldOut, texts));
  for (const [at, chance] of fresh.entries()) raw[heldOut[at] ?? 0] = 100 * chance;
  return { kind: "router", name: "trained router", modelled: false, raw, cost: FREE };
}
