import type { PlacedExpert } from "@/solver/ensemble/placement/placement";
import { linearExperts, simulatedExperts, type Timing, wholeExperts } from "./drawnSessions";
import { scaleOfRoundRobin } from "./placedInstances";
import { mmluPro, type SourceInstance } from "./sourceInstances";

/** A way to time an instance's experts; each seed draws its own lengths. */
export interface CostWay {
  readonly name: string;
  /** Factor on MMLU-Pro's scaled quantity. */
  scale(instance: SourceInstance, seed: number): number;
  experts(instance: SourceInstance, scale: number, seed: number): readonly PlacedExpert[];
}

/** Scaled such that round-robin takes the source's measured time; MMLU-Pro, which defines the engines' slowness, is unscaled. */
function scaledToRoundRobin(
  expertsAt: (instance: SourceInstance, scale: number, seed: number) => readonly PlacedExpert[],
): CostWay["scale"] {
  const scales = new Map<string, number>();
  return (instance, seed) => {
    const key = `${instance.name} ${seed}`;
    const found = scales.get(key) ?? (instance === mmluPro ? 1 : scaleOfRoundRobin(instance, (scale) => expertsAt(instance, scale, seed)));
    scales.set(key, found);
    return found;
  };
}

const timing = (scale: number, seed: number): Timing => ({ scaleOf: () => scale, seed, calibrated: true });
const LESS_SPREAD = 0.42;

/** MMLU-Pro's seconds per prompt, for any number of prompts. */
export const LINEAR: CostWay = {
  name: "constant a prompt, MMLU-Pro's",
  scale: () => 1,
  experts: ({ prompts }, scale) => linearExperts(prompts, scale),
};

/** Simulated sessions at the source's level, with answers as long as round-robin's time requires. */
export const SCALED: CostWay = {
  name: "the same, answers scaled to round-robin's time",
  scale: scaledToRoundRobin(({ prompts }, scale, seed) => wholeExperts(prompts, timing(scale, seed))),
  experts: ({ prompts }, scale, seed) => simulatedExperts(prompts, timing(scale, seed)),
};

/** All ways that are compared. */
export const WAYS: readonly CostWay[] = [
  LINEAR,
  { ...LINEAR, name: "the same, scaled to round-robin's time", scale: scaledToRoundRobin(LINEAR.experts) },
  {
    name: "simulated, vLLM as profiled, MMLU-Pro's lengths",
    scale: () => 1,
    experts: ({ prompts }, scale, seed) => simulatedExperts(prompts, { ...timing(scale, seed), calibrated: false }),
  },
  { ...SCALED, name: "simulated, as slow as on MMLU-Pro, MMLU-Pro's lengths", scale: () => 1 },
  SCALED,
  {
    name: `the same, short answers spread by ${LESS_SPREAD} as long ones are`,
    scale: scaledToRoundRobin(({ prompts }, scale, seed) => wholeExperts(prompts, { ...timing(scale, seed), shortSpread: LESS_SPREAD })),
    experts: ({ prompts }, scale, seed) => simulatedExperts(prompts, { ...timing(scale, seed), shortSpread: LESS_SPREAD }),
  },
];
