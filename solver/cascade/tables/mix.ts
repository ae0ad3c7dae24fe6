import type { PlanningSample } from "../routing/routing";

/** The requests that reach a stage: which prompts (positions in the sample), and their share of all. */
export interface Mix {
  readonly prompts: Int32Array;
  readonly share: number;
}

/** Mixes whose mean answer and prompt lengths differ by less than these factors, and whose shares by less than 4, share tables. */
const OUTPUT_STEP = Math.log(1.25);
const INPUT_STEP = Math.log(1.5);
const SHARE_STEP = Math.log(4);

/** Below this share thinned arrivals are practically Poisson, whatever the trace: one table serves all. */
const LEAST_SHARE = 1 / 16;

/** A few prompts do not determine lengths: a smaller mix is extended to this many prompts from the whole sample. */
const MIN_MIX_PROMPTS = 120;

/** Mean tokens of a mix's requests for one model. */
interface MeanLengths {
  readonly input: number;
  readonly output: number;
}

/** @param model index in the sample. */
export function meanLengths(sample: PlanningSample, model: number, { prompts }: Pick<Mix, "prompts">): MeanLengths {
  const outputTokens = sample.outputTokens[model] ?? new Int32Array(sample.prompts);
  let input = 0;
  let output = 0;
  for (const prompt of prompts) {
    input += sample.inputTokens[prompt] ?? 0;
    output += outputTokens[prompt] ?? 0;
  }
  return { input: Math.max(1, input / prompts.length), output: Math.max(1, output / prompts.length) };
}

/** Equal for mixes that share tables. */
export function mixKey({ input, output }: MeanLengths, share: number): string {
  const step = (value: number, size: number): number => Math.round(Math.log(value) / size);
  return `${step(output, OUTPUT_STEP)} ${step(input, INPUT_STEP)} ${step(Math.max(share, LEAST_SHARE), SHARE_STEP)}`;
}

/** The mix with enough prompts to determine lengths. @param all prompts of the sample. */
export function toppedUp({ prompts, share }: Mix, all: number): Mix {
  const missing = Math.min(all, MIN_MIX_PROMPTS) - prompts.length;
  if (missing <= 0) return { prompts, share };
  const stride = Math.max(1, Math.floor(all / missing));
  return { prompts: Int32Array.from([...prompts, ...Array.from({ length: missing }, (_, index) => (index * stride) % all)]), share };
}
