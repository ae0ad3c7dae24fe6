import source from "./source.json" with { type: "json" };

/** One of the source's experts (MOSAIC, appendix A.2), by a card of the same or the most similar architecture. */
export interface SourceExpert {
  readonly name: string;
  readonly card: string;
  /** Mean answer on MMLU-Pro (section 3, table 2), and the assumed spread of lengths' logarithms. */
  readonly meanTokens: number;
  readonly spread: number;
  readonly reasons: boolean;
  /** On MMLU-Pro, of round-robin workers' times (figure 2b) by their prompts and loads. */
  readonly secondsPerPrompt: number;
  readonly loadSeconds: number;
}

/**
 * In the order in which MMLU-Pro's questions first name them: of four workers Gemma and Exaone share one, QwenR1 and GLM another (section
 * 3). Reasoning answers are mostly between 1,500 and 6,000 tokens (section 3); for short ones only their mean is given, and that their
 * shards lose 40 to 60 %.
 */
export const sourceExperts: readonly SourceExpert[] = source.experts;

/** One of the source's benchmarks: its prompts, and the source's measurements (section 5, appendix A.3). Seconds of wall time. */
export interface SourceInstance {
  readonly name: string;
  readonly questions: number;
  /** Parallel to `sourceExperts`. */
  readonly prompts: readonly number[];
  readonly expertStage: { readonly roundRobin: number; readonly placed: number; readonly speedUp: number };
  readonly aggregator: { readonly always: number; readonly gated: number; readonly speedUp: number };
  readonly endToEnd: { readonly roundRobin: number; readonly placed: number; readonly speedUp: number };
  /** Share of questions whose aggregator is skipped at tau 1 and 2/3. */
  readonly skipped: { readonly unanimous: number; readonly majority: number };
}

export const sourceInstances: readonly SourceInstance[] = source.instances;

/** The instance on which engines' slowness and answer lengths are calibrated. */
export const mmluPro = sourceInstances[0] as SourceInstance;

/** Number of the source's GPUs, each a worker, and of models that each may load. */
export const sourceWorkers = 4;
export const sourceK = 2;

/** Mean answer of an instance's experts at MMLU-Pro's lengths, over its prompts, tokens. */
export function meanAnswerTokens({ prompts }: SourceInstance): number {
  const all = prompts.reduce((sum, count) => sum + count, 0);
  return sourceExperts.reduce((sum, { meanTokens }, at) => sum + (meanTokens * (prompts[at] ?? 0)) / all, 0);
}
