import type { StepTime } from "@/solver/engine/replicaModel";
import { mixSeed, seededRandom } from "@/solver/numeric/random";

/** A lognormal factor of median 1 deviates by about sigma * sqrt(2 / pi) on average; this is its sigma for a mean deviation. */
const sigmaFor = (meanDeviation: number): number => meanDeviation / Math.sqrt(2 / Math.PI);

/**
 * How far real engines lie from an analytic step-time model: a nine-coefficient fit missed time per output token by 6.4 % and
 * time to first token by 9.9 % on average, on measured rows it had not seen (end to end 5.5 %, since the two partly cancel).
 */
const DECODE_SIGMA = sigmaFor(0.064);
const PREFILL_SIGMA = sigmaFor(0.099);

/** Spread of single steps, and of decode spans, which average many steps. Chosen, not measured: public data holds means only. */
const STEP_JITTER_SIGMA = 0.05;
const SPAN_JITTER_SIGMA = 0.01;

/** Pauses of the host (garbage collection, a neighbour's burst): about one in 500 prefill steps, 0.1 s long in the median. Chosen. */
const HICCUP_PROBABILITY = 1 / 500;
const HICCUP_MEDIAN_SECONDS = 0.1;
const HICCUP_SIGMA = 0.5;

/**
 * The step time an emulated engine really has: the planner's model times factors of its own, with jitter and rare pauses. All
 * of it follows from the seed and the engine's id, and none of it is visible to the planner.
 */
export function hiddenTruth(model: StepTime, truth: { readonly seed: number; readonly engineId: string }): StepTime {
  const random = seededRandom(mixSeed(truth.seed, truth.engineId));
  const decodeFactor = random.lognormal(0, DECODE_SIGMA);
  const prefillFactor = random.lognormal(0, PREFILL_SIGMA);
  return {
    // Asked once per decode span and once per mixed step, so that each draw holds for one of them.
    decodeBaseSeconds: (sequences) => model.decodeBaseSeconds(sequences) * decodeFactor * random.lognormal(0, SPAN_JITTER_SIGMA),
    secondsPerKvToken: model.secondsPerKvToken * decodeFactor,
    mixedStepSeconds(load) {
      const pause = random.next() < HICCUP_PROBABILITY ? random.lognormal(Math.log(HICCUP_MEDIAN_SECONDS), HICCUP_SIGMA) : 0;
      return model.mixedStepSeconds(load) * prefillFactor * random.lognormal(0, STEP_JITTER_SIGMA) + pause;
    },
    provenance: model.provenance,
  };
}
