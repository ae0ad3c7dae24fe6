import { oraclePredictions } from "@/solver/workflow/oraclePredictions";
import type { ProgramSample } from "@/solver/workflow/programSample";
import type { OutcomeTable } from "@/solver/workload/workload";
import type { ConfidenceRows } from "./confidence";
import type { LengthRows } from "./lengths";
import { factsOf, inputTokensOn, type PromptTexts } from "./programFacts";

/** What lengths are learnt from, or held against, of drawn programs: each request as often as there are models, its whole program on that one. */
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

/** What confidence is learnt from, or held against: rows of an outcome table, each as a prompt by itself, whatever workflow it comes in. */
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
