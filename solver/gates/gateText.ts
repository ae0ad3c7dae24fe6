import type { Extraction } from "@/solver/judging/extract";
import type { ConfidenceMeasure, GateDocument, SimpleGateDocument } from "./gateDocument";

/** The measures of confidence in words. */
export const measureWords: Readonly<Record<ConfidenceMeasure, string>> = {
  minimum: "smallest token probability",
  mean: "mean token probability",
  "length-normalised": "length-normalised probability",
  "last-tokens": "probability of the last tokens",
  "answer-span": "smallest token probability of the final answer",
};

/** The part of an answer that is compared, in words. */
export const partWords: Readonly<Record<Extraction, string>> = {
  whole: "the whole answer",
  "last-line": "its last line",
  number: "its last number",
  choice: "a letter of choice",
  boxed: "what is \\boxed{}",
};

/** A gate in words: `the judge`, `smallest token probability`, `agreement with 3 samples and gemma-9b`. */
export function gateText(gate: GateDocument): string {
  if (gate.kind !== "sequence") return simpleText(gate);
  const steps = gate.first.map(
    ({ gate: each, acceptFrom, escalateBelow }) => `${simpleText(each)} below ${escalateBelow} and from ${acceptFrom}`,
  );
  return `${steps.join(", then ")}; between, ${simpleText(gate.last)}`;
}

function simpleText(gate: SimpleGateDocument): string {
  switch (gate.kind) {
    case "judge":
      return "the judge";
    case "confidence":
      return measureWords[gate.measure];
    case "agreement": {
      const { samples, peers = [] } = gate;
      const sampled = samples === undefined ? [] : [`${samples.count} samples at temperature ${samples.temperature}`];
      return `agreement with ${[...sampled, ...peers].join(" and ")}`;
    }
    case "scorer":
      return `scorer of ${gate.weights.length} features${gate.words === undefined ? "" : " and the words of prompt and answer"}`;
  }
}
