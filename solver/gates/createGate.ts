import { answerAgreement } from "./answerAgreement";
import { answerFact, readsLogProbabilities, scorerProbability } from "./answerFacts";
import { answerWords } from "./answerWords";
import { calibratedScore } from "./calibratedScore";
import type { AnswerEvidence, Gate, GateNeed, GateReading, RawReading } from "./gate";
import { type GateDocument, type SimpleGateDocument, simpleGatesOf } from "./gateDocument";
import { tokenConfidence } from "./tokenConfidence";

/**
 * The gate of a document. Scores are 0..100 and calibrated where the document has a calibration. An answer with a broken
 * structure scores 0 and needs no further evidence, unless the judge alone is the gate: it reads the answer itself.
 */
export function createGate(document: GateDocument): Gate {
  const gate = document.kind === "sequence" ? sequenceOf(document) : simpleGate(document);
  if (document.kind === "judge") return gate;
  return {
    ...gate,
    score: (evidence) =>
      isBroken(evidence) ? { kind: "scored", score: 0, raw: simpleGatesOf(document).map(() => null) } : gate.score(evidence),
    nextNeed: (evidence, asked) => (isBroken(evidence) ? null : gate.nextNeed(evidence, asked)),
  };
}

const isBroken = ({ hasBrokenStructure }: AnswerEvidence): boolean => hasBrokenStructure === true;

function simpleGate(document: SimpleGateDocument): Gate {
  const needs = needsOf(document);
  return {
    kind: document.kind,
    needs,
    score(evidence) {
      const reading = rawReading(document, evidence);
      if (reading.kind === "unscored") return { ...reading, raw: [null] };
      return { kind: "scored", score: calibratedScore(reading.score, document.calibration), raw: [reading.score] };
    },
    nextNeed: (evidence, asked) => needs.find((need) => !asked.has(need) && !has(evidence, need)) ?? null,
  };
}

function needsOf(document: SimpleGateDocument): readonly GateNeed[] {
  switch (document.kind) {
    case "judge":
      return ["judge"];
    case "confidence":
      return ["log-probabilities"];
    case "agreement":
      return ["other-answers"];
    case "scorer":
      return document.weights.some(({ feature }) => readsLogProbabilities.has(feature)) ? ["log-probabilities"] : [];
  }
}

function has({ judgedScore, tokens, others }: AnswerEvidence, need: GateNeed): boolean {
  switch (need) {
    case "judge":
      return judgedScore !== null;
    case "log-probabilities":
      return tokens !== null;
    case "other-answers":
      return others !== null;
  }
}

/** The score before calibration, 0..100. */
function rawReading(document: SimpleGateDocument, evidence: AnswerEvidence): RawReading {
  switch (document.kind) {
    case "judge": {
      const { judgedScore } = evidence;
      return judgedScore === null || Number.isNaN(judgedScore)
        ? { kind: "unscored", cause: "no-judged-score" }
        : { kind: "scored", score: judgedScore };
    }
    case "confidence": {
      const confidence = tokenConfidence(evidence, document);
      return confidence === null ? { kind: "unscored", cause: "no-log-probabilities" } : { kind: "scored", score: 100 * confidence };
    }
    case "agreement": {
      const { answer, others } = evidence;
      if (others === null || others.length === 0) return { kind: "unscored", cause: "no-other-answers" };
      const share = answerAgreement(answer, others, document.answer);
      return share === null ? { kind: "unscored", cause: "no-extractable-answer" } : { kind: "scored", score: 100 * share };
    }
    case "scorer": {
      const probability = scorerProbability(document, {
        factOf: (feature) => answerFact(evidence, feature, document.answer),
        words: () => answerWords(evidence.prompt, evidence.answer),
      });
      return { kind: "scored", score: 100 * probability };
    }
  }
}

/**
 * Gates in order. The score of the first that is sure counts, else that of the last. A gate without a score is not sure, so that the next
 * one is asked.
 */
function sequenceOf(document: Extract<GateDocument, { readonly kind: "sequence" }>): Gate {
  const steps = document.first.map(({ gate, acceptFrom, escalateBelow }) => ({
    gate: simpleGate(gate),
    isSure: (reading: GateReading) => reading.kind === "scored" && (reading.score >= acceptFrom || reading.score < escalateBelow),
  }));
  const last = simpleGate(document.last);
  return {
    kind: document.kind,
    needs: [...new Set([...steps.map(({ gate }) => gate), last].flatMap(({ needs }) => needs))],
    score(evidence) {
      const readings = steps.map(({ gate }) => gate.score(evidence));
      const lastReading = last.score(evidence);
      const sure = readings.find((reading, at) => steps[at]?.isSure(reading));
      return { ...(sure ?? lastReading), raw: [...readings, lastReading].flatMap(({ raw }) => raw) };
    },
    nextNeed(evidence, asked) {
      for (const { gate, isSure } of steps) {
        const need = gate.nextNeed(evidence, asked);
        if (need !== null) return need;
        if (isSure(gate.score(evidence))) return null;
      }
      return last.nextNeed(evidence, asked);
    },
  };
}
