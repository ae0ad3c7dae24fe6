import { oraclePredictions } from "@/solver/workflow/oraclePredictions";
import type { ProgramSample } from "@/solver/workflow/programSample";
import type { OutcomeTable } from "@/solver/workload/workload";
import type { ConfidenceRows } from "./confidence";
import type { LengthRows } from "./lengths";
import { factsOf, inputTokensOn, type PromptTexts } from "./programFacts";

/** Training or test data for lengths from drawn programs: each request once per model, its whole program on that one. */
export function lengthRowsOf(sample: ProgramSample, texts: PromptTexts): LengthRows {
  const { requestTokens, remainingTokens } = oraclePredictions(sample);
  const requests = Array.from(sample.program.keys());
  return {
    prompts: new Set(sample.prompt).size,
    models: sample.models.map((model, index) => ({
      model,
      facts: requests.map((request) => factsOf(sample, texts, request, inputTokensOn(sample, request, index))),
      requestTokens: Float32Array.from(requests, (request) => requestTokens(request, index) ?? Number.NaN),
      remainingTokens: Float32Array.from(requests, (request) => remainingTokens(request, index) ?? Number.NaN),
    })),
  };
}

/** Training or test data for confidence: rows of an outcome table, each as a separate prompt, whatever its workflow. */
export function confidenceRowsOf(outcomes: OutcomeTable, rows: Int32Array, texts: PromptTexts): ConfidenceRows {
  return {
    models: outcomes.models.map(({ model }) => model),
    facts: Array.from(rows, (row) => {
      const promptTokens = texts.promptTokens[row] ?? 0;
      return {
        instructionTokens: 0,
        promptTokens,
        inputTokens: promptTokens,
        workflow: "",
        stage: "",
        sketch: texts.sketches[row] ?? null,
      };
    }),
    right: outcomes.models.map(({ label }) => Float32Array.from(rows, (row) => (label[row] ?? Number.NaN) / 100)),
  };
}
