import { formatScore, formatSeconds } from "@/components/ui/format";
import { significantText } from "@/solver/wording/wording";
import type { Decision } from "./prepareDecision";

type Gain = NonNullable<Decision["startGain"]>;

/** The terms of a choice by expected gain, a line each; none where the policy does not choose so. */
export function gainFacts(gain: Gain | undefined): readonly { readonly name: string; readonly text: string }[] {
  if (gain === undefined) return [];
  const { quality, pointsPerGpuSecond, options } = gain;
  const rate = (value: number): string => `${significantText(value)} a GPU-second`;
  const optionText = (option: Gain["options"][number]): string => {
    const cost = `${formatScore(option.quality)} after ${formatSeconds(option.gpuSeconds)} of GPU time`;
    return quality === null
      ? `${option.model} ${cost}`
      : `${option.model} ${cost}, a gain of ${rate((option.quality - quality) / option.gpuSeconds)}`;
  };
  return [
    ...(quality === null ? [] : [{ name: "Expected quality of this answer", text: formatScore(quality) }]),
    ...(options.length === 0 ? [] : [{ name: "Expected of each model, going on from there", text: options.map(optionText).join("; ") }]),
    { name: "Least gain for each GPU-second", text: significantText(pointsPerGpuSecond) },
  ];
}
