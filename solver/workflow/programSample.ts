import type { Workflow } from "./workflow";

/**
 * Programs of a run, each with one request per stage. Arrays of programs are parallel, and so are those of requests: those of a program are
 * adjacent, in the order of its workflow's stages.
 */
export interface ProgramSample {
  /** Models that may answer, smallest first. */
  readonly models: readonly string[];
  readonly workflows: readonly Workflow[];
  /** Arrival of each program, ascending. */
  readonly arrivalSeconds: Float64Array;
  /** Index into `workflows` of each program. */
  readonly workflow: Uint16Array;
  /** Row of each program's prompt in the outcome table. */
  readonly prompt: Int32Array;
  /** First request of each program, and at the end the number of requests. */
  readonly firstRequest: Int32Array;
  /** Program of each request; its stage is the request less the program's first. */
  readonly program: Int32Array;
  /**
   * Row of the outcome table on which each request's answers are based. The row of the program's own prompt or, where lengths and success
   * of a program's stages are to be less similar, that of another.
   */
  readonly row: Int32Array;
  /** Input tokens of each request without the answers it reads: instructions and prompt. The answers add theirs. */
  readonly givenTokens: Int32Array;
  /**
   * Hashes of the blocks of each request's prompt that other requests' prompts may share, of `promptBlocks`; left out: not known, and engines
   * keep no prefixes.
   */
  readonly promptBlocks?: readonly Uint32Array[];
  /** By model, the output tokens of each request if that model answers it. */
  readonly outputTokens: readonly Int32Array[];
  /** By model, the label (0..100) of each request's row; NaN where quality is unknown. */
  readonly label: readonly Float64Array[];
  /**
   * Of each request, whether a wrong answer that it follows misleads it: that of an agent that helps, or a draft that it revises unchecked.
   * The same for every model. Left out: nothing misleads.
   */
  readonly misled?: Uint8Array;
  /** By model, the vote of each request's answer; null: none can be read. Left out where no stage may be skipped. */
  readonly votes?: readonly (readonly (string | null)[])[];
}

/**
 * Predictions for requests before they are served, by a predictor or an oracle; undefined where there is none. Models by index into
 * `ProgramSample.models`. `inputTokens` is the request's input when the prediction is requested: instructions, prompt and the answers it
 * reads, with the lengths of the models that gave them, whichever model the prediction is for. The same predictions serve every run of a
 * sample.
 */
export interface ProgramPredictions {
  /** Probability that the model solves the program's prompt, 0..1. */
  readonly confidence?: (request: number, model: number) => number | undefined;
  /** Output tokens of the request. */
  readonly requestTokens?: (request: number, model: number, inputTokens: number) => number | undefined;
  /** Output tokens of the request and of all stages of its program after it, each once, all on that model; without parallel stages. */
  readonly remainingTokens?: (request: number, model: number, inputTokens: number) => number | undefined;
  /** Accurate configurations of the program's workflow, as `WaitingWork.accurate`; undefined where there is no prediction. */
  readonly configurations?: (program: number) => Uint32Array | undefined;
  /** How far each configuration is from counting as accurate, as `WaitingWork.margins`; undefined where it is not known. */
  readonly margins?: (program: number) => Int8Array | undefined;
}
