import { engineTitle } from "@/solver/hardware/engineProfile";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import type { MeasuredProfile } from "@/solver/hardware/measuredProfile";
import { formatCount } from "../ui/format";

/** A figure of a measured engine as displayed. */
export interface MeasuredLine {
  readonly words: string;
  readonly value: string;
}

/** The engines of a profile, each with the title of its table: two softwares may have the same model on the same GPU. */
export const measuredTables = ({ engine: last, engines }: Pick<MeasuredProfile, "engine" | "engines">) =>
  engines.map((engine) => {
    const { model, gpu, shape, engine: software = last } = engine;
    return { engine, title: `${model} on ${gpu} with ${engineTitle(software)}, tp ${shape.tp}, pp ${shape.pp}` };
  });

/** Seconds as ms or µs. */
export const shortSeconds = (seconds: number): string =>
  seconds === 0
    ? "0 ms"
    : seconds >= 1e-3
      ? `${Number((1e3 * seconds).toPrecision(3))} ms`
      : `${Number((1e6 * seconds).toPrecision(3))} µs`;

const ORIGINS: Readonly<Record<MeasuredEngine["limits"]["kvTokens"]["origin"], string>> = {
  reported: "as the engine says",
  observed: "as the runs show",
  assumed: "assumed",
};

/** The times and limits of a measured engine, in the order in which a request meets them. */
export function measuredLines({ step, request, limits }: MeasuredEngine): readonly MeasuredLine[] {
  const limit = (words: string, { value, origin }: MeasuredEngine["limits"]["kvTokens"]): MeasuredLine => ({
    words,
    value: `${formatCount(value)} (${ORIGINS[origin]})`,
  });
  return [
    { words: "Front end, each request", value: shortSeconds(request.seconds) },
    { words: "Front end, 1,000 prompt tokens", value: shortSeconds(1000 * request.secondsPerInputToken) },
    { words: "Front end, 1,000 generated tokens", value: shortSeconds(1000 * request.secondsPerOutputToken) },
    { words: "Outside front end and engine, each request", value: shortSeconds(request.delaySeconds) },
    ...step.decode.map(({ at, seconds }) => ({ words: `A step with ${formatCount(at)} decoding sequences`, value: shortSeconds(seconds) })),
    ...step.prefill
      .slice(1)
      .map(({ at, seconds }) => ({ words: `With ${formatCount(at)} prompt tokens, further`, value: shortSeconds(seconds) })),
    { words: "With each prompt, further", value: shortSeconds(step.secondsPerPrompt) },
    { words: "With 1,000 cached tokens, further", value: shortSeconds(1000 * step.secondsPerKvToken) },
    limit("Sequences at once", limits.maxSequences),
    limit("Tokens a step", limits.maxBatchedTokens),
    limit("Cached tokens", limits.kvTokens),
  ];
}

/** The noise of repeated runs in a sentence. */
export function noiseText({ noise }: Pick<MeasuredEngine, "noise">): string {
  if (noise === null) return "No run was repeated: the noise is not known.";
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  return `Over ${noise.repeats} repeated ${noise.repeats === 1 ? "run" : "runs"} means differ by ${percent(noise.ttft)} (TTFT), ${percent(noise.tpot)} (TPOT), ${percent(noise.endToEnd)} (end to end), and the p95 by ${percent(noise.p95)}.`;
}
