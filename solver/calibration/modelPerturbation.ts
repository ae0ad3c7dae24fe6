import type { ReplicaModel } from "@/solver/engine/replicaModel";
import type { ProfileErrors } from "@/solver/hardware/engineProfile";
import { mixSeed, seededRandom } from "@/solver/numeric/random";

/** A lognormal factor of median 1 deviates by about sigma * sqrt(2 / pi) on average; this is its sigma for a mean deviation. */
const sigmaFor = (meanDeviation: number): number => meanDeviation / Math.sqrt(2 / Math.PI);

/** Mean deviations of a nine-coefficient fit on held-out runs, for a profile whose own errors are unknown. */
const USUAL_DEVIATION = { tpot: 0.064, ttft: 0.099 } as const;

/** Spread of single steps, and of decode spans, which average many steps. Chosen, not measured: public data holds means only. */
const STEP_JITTER_SIGMA = 0.05;
const SPAN_JITTER_SIGMA = 0.01;

/** Pauses of the host (garbage collection, a neighbour's burst): about one in 500 prefill steps, 0.1 s long in the median. Chosen. */
const HICCUP_PROBABILITY = 1 / 500;
const HICCUP_MEDIAN_SECONDS = 0.1;
const HICCUP_SIGMA = 0.5;

/**
 * The true replica of an emulated engine: the planner's model times its own factors, with jitter and rare pauses. The factors deviate as
 * much as real engines deviate from the profile of the model, according to its errors on held-out runs: one factor for decoding, one for
 * everything that a first token waits for. They follow from the seed and the engine's id; the planner does not see them.
 */
export function modelPerturbation(
  model: ReplicaModel,
  errors: ProfileErrors | null,
  noise: { readonly seed: number; readonly engineId: string },
): ReplicaModel {
  const { stepTime } = model;
  const random = seededRandom(mixSeed(noise.seed, noise.engineId));
  const decodeFactor = random.lognormal(0, sigmaFor(errors?.tpot.meanAbsolute ?? USUAL_DEVIATION.tpot));
  const firstTokenFactor = random.lognormal(0, sigmaFor(errors?.ttft.meanAbsolute ?? USUAL_DEVIATION.ttft));
  return {
    ...model,
    stepTime: {
      // Called once per decode span and once per mixed step, so that each draw applies to one of them.
      decodeBaseSeconds: (sequences) => stepTime.decodeBaseSeconds(sequences) * decodeFactor * random.lognormal(0, SPAN_JITTER_SIGMA),
      secondsPerKvToken: stepTime.secondsPerKvToken * decodeFactor,
      mixedStepSeconds(load) {
        const pause = random.next() < HICCUP_PROBABILITY ? random.lognormal(Math.log(HICCUP_MEDIAN_SECONDS), HICCUP_SIGMA) : 0;
        return stepTime.mixedStepSeconds(load) * firstTokenFactor * random.lognormal(0, STEP_JITTER_SIGMA) + pause;
      },
      provenance: stepTime.provenance,
    },
    requestSeconds: (inputTokens) => model.requestSeconds(inputTokens) * firstTokenFactor,
    tokenSeconds: (model.tokenSeconds ?? 0) * firstTokenFactor,
    delaySeconds: (model.delaySeconds ?? 0) * firstTokenFactor,
  };
}
