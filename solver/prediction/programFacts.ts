import type { Sketch } from "@/solver/words/sketch";
import type { ProgramPredictions, ProgramSample } from "@/solver/workflow/programSample";
import type { ConfidencePredictor, LengthPredictor, PredictedLength, RequestFacts } from "./predictor";

/** The facts of an outcome table's prompts, by row. */
export interface PromptTexts {
  /** Null where a prompt's text is not available. */
  readonly sketches: readonly (Sketch | null)[];
  readonly promptTokens: Int32Array;
}

/** The facts of a request that is ready to be sent: its program's prompt, its stage, and input including the answers it reads. */
export function factsOf(sample: ProgramSample, texts: PromptTexts, request: number, inputTokens: number): RequestFacts {
  const program = sample.program[request] ?? 0;
  const workflow = sample.workflows[sample.workflow[program] ?? 0];
  const stage = workflow?.stages[request - (sample.firstRequest[program] ?? 0)];
  return {
    instructionTokens: stage?.instructionTokens ?? 0,
    promptTokens: texts.promptTokens[sample.prompt[program] ?? 0] ?? 0,
    inputTokens,
    workflow: workflow?.name ?? "",
    stage: stage?.role ?? "",
    sketch: texts.sketches[sample.prompt[program] ?? 0] ?? null,
  };
}

/** Input tokens of a request where `model` (by index into the sample's) gave all the answers that it reads. */
export function inputTokensOn(sample: ProgramSample, request: number, model: number): number {
  const program = sample.program[request] ?? 0;
  const first = sample.firstRequest[program] ?? 0;
  const reads = sample.workflows[sample.workflow[program] ?? 0]?.stages[request - first]?.reads ?? [];
  const written = sample.outputTokens[model];
  return reads.reduce((sum, read) => sum + (written?.[first + read] ?? 0), sample.givenTokens[request] ?? 0);
}

/** Requests predicted together: enough to amortise a call, few enough that their facts need little memory. */
const BATCH = 1024;

/**
 * Predictions for the requests of a sample, for every run of it. A model that a predictor was not trained for has none. Requests that
 * begin a program, or read answers of the model in question, are predicted at once; others on demand, since the output of one
 * model in place of another is not known before.
 */
export function predictionsOf(
  sample: ProgramSample,
  texts: PromptTexts,
  { lengths, confidence }: { readonly lengths?: LengthPredictor; readonly confidence?: ConfidencePredictor },
): ProgramPredictions {
  return {
    ...(lengths === undefined ? {} : lengthsOf(sample, texts, lengths)),
    ...(confidence === undefined ? {} : { confidence: confidenceOf(sample, texts, confidence) }),
  };
}

function lengthsOf(sample: ProgramSample, texts: PromptTexts, lengths: LengthPredictor) {
  const predicted = sample.models.map((name, model) => {
    if (!lengths.models.includes(name)) return null;
    const inputTokens = Int32Array.from(sample.program, (_, request) => inputTokensOn(sample, request, model));
    const sameModel: PredictedLength[] = [];
    for (let from = 0; from < inputTokens.length; from += BATCH) {
      const batch = inputTokens.subarray(from, from + BATCH);
      sameModel.push(
        ...(lengths.predict(
          Array.from(batch, (tokens, at) => factsOf(sample, texts, from + at, tokens)),
          name,
        ) ?? []),
      );
    }
    /** The last prediction for each request, as a run queries it more than once. */
    const otherModels = new Map<number, { readonly inputTokens: number; readonly length: PredictedLength | undefined }>();
    return (request: number, tokens: number): PredictedLength | undefined => {
      if (tokens === inputTokens[request]) return sameModel[request];
      const known = otherModels.get(request);
      if (known?.inputTokens === tokens) return known.length;
      const length = lengths.predict([factsOf(sample, texts, request, tokens)], name)?.[0];
      otherModels.set(request, { inputTokens: tokens, length });
      return length;
    };
  });
  return {
    requestTokens: (request: number, model: number, inputTokens: number) => predicted[model]?.(request, inputTokens)?.requestTokens,
    remainingTokens: (request: number, model: number, inputTokens: number) => predicted[model]?.(request, inputTokens)?.remainingTokens,
  };
}

/** For a program's prompt, so the same for all its requests. */
function confidenceOf(sample: ProgramSample, texts: PromptTexts, confidence: ConfidencePredictor) {
  const programs = sample.prompt.length;
  const heads = confidence.models.length;
  const predicted = new Float32Array(programs * heads);
  for (let from = 0; from < programs; from += BATCH) {
    const facts = Array.from({ length: Math.min(BATCH, programs - from) }, (_, at) => {
      const request = sample.firstRequest[from + at] ?? 0;
      return factsOf(sample, texts, request, sample.givenTokens[request] ?? 0);
    });
    predicted.set(confidence.predict(facts), from * heads);
  }
  return readFrom(sample, { models: confidence.models, chances: predicted, rowOf: (program) => program });
}

/**
 * Confidence that is known of every prompt of the outcome table.
 *
 * @param chances by the table's row, then by the models, 0..1.
 */
export const knownConfidence = (sample: ProgramSample, models: readonly string[], chances: Float32Array): ProgramPredictions => ({
  confidence: readFrom(sample, { models, chances, rowOf: (program) => sample.prompt[program] ?? 0 }),
});

interface Chances {
  readonly models: readonly string[];
  readonly chances: Float32Array;
  readonly rowOf: (program: number) => number;
}

function readFrom(sample: ProgramSample, { models, chances, rowOf }: Chances) {
  const headOf = sample.models.map((name) => models.indexOf(name));
  return (request: number, model: number): number | undefined => {
    const head = headOf[model] ?? -1;
    return head < 0 ? undefined : chances[rowOf(sample.program[request] ?? 0) * models.length + head];
  };
}
