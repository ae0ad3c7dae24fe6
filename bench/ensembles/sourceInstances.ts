/** One of the source's experts (MOSAIC, appendix A.2), by a card of the same or the nearest architecture. */
export interface SourceExpert {
  readonly name: string;
  readonly card: string;
  /** Mean answer on MMLU-Pro (section 3, table 2), and the spread of lengths' logarithms that is drawn with. */
  readonly meanTokens: number;
  readonly spread: number;
  readonly reasons: boolean;
  /** On MMLU-Pro, of round-robin workers' times (figure 2b) by their prompts and loads. */
  readonly secondsPerPrompt: number;
  readonly loadSeconds: number;
}

/** Reasoning answers lie between 1,500 and 6,000 tokens mostly (section 3); of short ones nothing is said but their mean, and that their shards lose 40 to 60 %. */
const LONG = { spread: 0.42, reasons: true } as const;
const SHORT = { spread: 1, reasons: false } as const;

/** In the order in which MMLU-Pro's questions first name them: of four workers Gemma and Exaone share one, QwenR1 and GLM another (section 3). */
export const sourceExperts: readonly SourceExpert[] = [
  { name: "Gemma", card: "gemma-2-9b", meanTokens: 200, ...SHORT, secondsPerPrompt: 0.17, loadSeconds: 45 },
  { name: "QwenR1", card: "deepseek-r1-distill-qwen-7b", meanTokens: 3734, ...LONG, secondsPerPrompt: 1.73, loadSeconds: 42 },
  { name: "Qwen", card: "qwen2.5-7b", meanTokens: 200, ...SHORT, secondsPerPrompt: 0.129, loadSeconds: 38 },
  { name: "LlamaR1", card: "llama-3.1-8b", meanTokens: 3146, ...LONG, secondsPerPrompt: 2.34, loadSeconds: 42 },
  { name: "Exaone", card: "exaone-3.5-7.8b", meanTokens: 200, ...SHORT, secondsPerPrompt: 0.12, loadSeconds: 40 },
  { name: "GLM", card: "glm-4-9b", meanTokens: 200, ...SHORT, secondsPerPrompt: 0.1, loadSeconds: 40 },
];

/** One of the source's benchmarks: what it asks, and what the source measured (section 5, appendix A.3). Seconds of wall time. */
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

export const mmluPro: SourceInstance = {
  name: "MMLU-Pro",
  questions: 2100,
  prompts: [1632, 1428, 956, 1070, 547, 667],
  expertStage: { roundRobin: 2635, placed: 1557, speedUp: 1.69 },
  aggregator: { always: 1514.7, gated: 870.5, speedUp: 1.74 },
  endToEnd: { roundRobin: 4149.9, placed: 2427.6, speedUp: 1.71 },
  skipped: { unanimous: 0.4571, majority: 0.8462 },
};

export const sourceInstances: readonly SourceInstance[] = [
  mmluPro,
  {
    name: "MedMCQA",
    questions: 4183,
    prompts: [4195, 144, 5682, 620, 625, 1283],
    expertStage: { roundRobin: 805, placed: 526, speedUp: 1.53 },
    aggregator: { always: 516.5, gated: 122.1, speedUp: 4.23 },
    endToEnd: { roundRobin: 1321, placed: 648.6, speedUp: 2.04 },
    skipped: { unanimous: 0.4748, majority: 0.9018 },
  },
  {
    name: "GPQA",
    questions: 198,
    prompts: [4, 158, 0, 429, 3, 0],
    expertStage: { roundRobin: 2348, placed: 925, speedUp: 2.54 },
    aggregator: { always: 348, gated: 227.7, speedUp: 1.53 },
    endToEnd: { roundRobin: 2696.4, placed: 1153.1, speedUp: 2.34 },
    skipped: { unanimous: 0.3737, majority: 0.8737 },
  },
];

/** GPUs that the source has, each a worker, and models that each may load. */
export const sourceWorkers = 4;
export const sourceK = 2;

/** Mean answer of an instance's experts at MMLU-Pro's lengths, over its prompts, tokens. */
export function meanAnswerTokens({ prompts }: SourceInstance): number {
  const all = prompts.reduce((sum, count) => sum + count, 0);
  return sourceExperts.reduce((sum, { meanTokens }, at) => sum + (meanTokens * (prompts[at] ?? 0)) / all, 0);
}
