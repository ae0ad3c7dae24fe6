import { type Belief, type GateReadings, gateReadings, priorBelief, rightAt, updated } from "./belief";
import type { CascadeRoutingDocument } from "./cascadeRoutingDocument";

/** A model that may answer next, with what is expected of going on with it. */
interface GainOption {
  readonly stage: number;
  /** Expected quality, 0..100, of the answer that is accepted in the end. */
  readonly quality: number;
  /** Expected GPU-seconds until then. */
  readonly gpuSeconds: number;
}

/** A decision of cascade routing with its terms. */
export interface GainDecision {
  /** The stage that answers next; null: the answer at hand is accepted. */
  readonly stage: number | null;
  /** Expected quality, 0..100, of the answer at hand; null: no model has answered. */
  readonly quality: number | null;
  /** λ, in points of quality for each GPU-second. */
  readonly pointsPerGpuSecond: number;
  /** By stage, ascending; all larger models. */
  readonly options: readonly GainOption[];
}

/** An answer so far; its score is null where the gate gave none. */
export interface ScoredAnswer {
  readonly stage: number;
  readonly score: number | null;
}

/** Chooses the model that answers next. Pure: the same inputs give the same choice. */
export interface NextModel {
  /** @param scores router scores, 0..100, one for each stage. @param answers in the order of their stages; none: before any answer. */
  choose(scores: readonly number[], answers: readonly ScoredAnswer[]): GainDecision;
  /**
   * Whether the stage's answer is scored: what a score is expected to gain is worth the GPU-seconds that it takes; where it takes none, some
   * score would send the request on. Else the answer is accepted whatever it is. Known before there is an answer, so that a gate's further
   * answers are asked for beside it. A request that stops at one score stops at every higher one, so the lowest decides for a free gate.
   *
   * @param answers of earlier stages.
   */
  scores(routerScores: readonly number[], answers: readonly ScoredAnswer[], stage: number): boolean;
}

/** Points that count as a gain: less is rounding, by which a request could stop at one score and go on at a higher one. */
const LEAST_GAIN = 1e-9;

/**
 * Cascade routing ("A Unified Approach to Routing and Cascading for LLMs", Dekoninck, Baader and Vechev, ICML 2025, section 4): of all ways to
 * go on, the one with the largest trade-off τ = q - λ c of its section 2,
 *
 *     next = argmax over m of (q_m - λ c_m),   stop where   q_m - q_0 <= λ c_m   for every m,
 *
 * - q_0: expected quality of the answer at hand, from the heads' scores of the prompt and the gates' scores of the answers so far;
 * - q_m: expected quality of the answer that is accepted in the end where model m answers next;
 * - c_m: expected GPU-seconds until then, of models and gates;
 * - λ: points of quality that a GPU-second must gain; the planner searches it.
 *
 * So a request goes on exactly while some model's expected gain for each GPU-second, (q_m - q_0) / c_m, exceeds λ. Of those the largest τ is
 * taken and not the largest ratio, which would always prefer the cheapest model, however little it gains.
 *
 * The source sets q and c of a sequence of models as if all of them ran, and an estimate of a quality costs nothing. Here they are
 * expectations over what the gates will say: after each answer the request stops or goes on by the same rule, and the gate is asked only where
 * its score is expected to gain more than λ times what it takes. Only larger models follow, and the last answer is the one accepted, as in
 * every cascade of this project; no model answers twice.
 */
export function nextModelOf(document: CascadeRoutingDocument): NextModel {
  const { pointsPerGpuSecond: tradeOff, gpuSeconds, gates } = document;
  const last = gpuSeconds.length - 1;
  const readings: readonly (GateReadings | null)[] = gates.map((gate) => (gate === null ? null : gateReadings(gate)));
  const gateSeconds = gates.map((gate) => gate?.gpuSeconds ?? 0);

  const size = 2 ** gpuSeconds.length;
  // A choice looks ahead over all scores of all later gates, so what it computes on the way is written over.
  const weights = gpuSeconds.map(() => new Float64Array(size));
  const quality = new Float64Array(gpuSeconds.length + 1);
  const seconds = new Float64Array(gpuSeconds.length + 1);

  /**
   * What is expected from the stage's answer on, before its gate has scored it, into `quality` and `seconds` at the depth. Linear in the
   * weights of the patterns, which therefore need not sum to 1.
   */
  function lookAhead(stage: number, of: Float64Array, depth: number): void {
    const gate = stage === last ? null : (readings[stage] ?? null);
    let [all, unscored] = [0, 0];
    for (let pattern = 0; pattern < size; pattern += 1) {
      const own = of[pattern] ?? 0;
      all += own;
      if (((pattern >> stage) & 1) === 1) unscored += 100 * own;
    }
    quality[depth] = unscored;
    seconds[depth] = 0;
    if (gate === null) return;
    const scored = weights[depth] ?? new Float64Array(size);
    let [expected, taken] = [0, all * (gateSeconds[stage] ?? 0)];
    for (const { ifRight, ifWrong } of gate.levels) {
      let [mass, right] = [0, 0];
      for (let pattern = 0; pattern < size; pattern += 1) {
        const isRight = ((pattern >> stage) & 1) === 1;
        const own = (of[pattern] ?? 0) * (isRight ? ifRight : ifWrong);
        scored[pattern] = own;
        mass += own;
        if (isRight) right += own;
      }
      let [most, bestQuality, bestSeconds] = [100 * right, 100 * right, 0];
      for (let next = stage + 1; next <= last; next += 1) {
        lookAhead(next, scored, depth + 1);
        const [onward, spent] = [quality[depth + 1] ?? 0, (seconds[depth + 1] ?? 0) + mass * (gpuSeconds[next] ?? 0)];
        if (onward - tradeOff * spent > most) [most, bestQuality, bestSeconds] = [onward - tradeOff * spent, onward, spent];
      }
      expected += bestQuality;
      taken += bestSeconds;
    }
    if (expected - tradeOff * taken - unscored > LEAST_GAIN) [quality[depth], seconds[depth]] = [expected, taken];
  }

  function optionsAfter(belief: Belief, stage: number): readonly GainOption[] {
    const options: GainOption[] = [];
    for (let next = stage + 1; next <= last; next += 1) {
      lookAhead(next, belief, 0);
      options.push({ stage: next, quality: quality[0] ?? 0, gpuSeconds: (gpuSeconds[next] ?? 0) + (seconds[0] ?? 0) });
    }
    return options;
  }

  function beliefAfter(scores: readonly number[], answers: readonly ScoredAnswer[]): Belief {
    let belief = priorBelief(document, scores);
    for (const { stage, score } of answers) {
      const gate = readings[stage];
      if (score !== null && gate != null) belief = updated(belief, stage, gate.of(score));
    }
    return belief;
  }

  return {
    choose(scores, answers) {
      const belief = beliefAfter(scores, answers);
      const own = answers.at(-1)?.stage ?? null;
      const options = optionsAfter(belief, own ?? -1);
      const held = own === null ? null : 100 * rightAt(belief, own);
      const found = best(options, tradeOff);
      const stops = found === null || (held !== null && !exceeds(found, held));
      return { stage: stops ? null : found.stage, quality: held, pointsPerGpuSecond: tradeOff, options };
    },
    scores(routerScores, answers, stage) {
      const gate = readings[stage];
      if (gate == null) return false;
      const belief = beliefAfter(routerScores, answers);
      if (tradeOff * (gateSeconds[stage] ?? 0) > 0) {
        lookAhead(stage, belief, 0);
        return exceeds({ stage, quality: quality[0] ?? 0, gpuSeconds: seconds[0] ?? 0 }, 100 * rightAt(belief, stage));
      }
      // A free score is never a loss, however seldom it sends a request on.
      const scored = updated(belief, stage, gate.lowest);
      const onward = best(optionsAfter(scored, stage), tradeOff);
      return onward !== null && exceeds(onward, 100 * rightAt(scored, stage));
    },
  };

  function exceeds({ quality: expected, gpuSeconds: spent }: GainOption, held: number): boolean {
    return expected - tradeOff * spent - held > LEAST_GAIN;
  }
}

/** The option with the largest trade-off, of equal ones the smallest model; null where there is none. */
function best(options: readonly GainOption[], tradeOff: number): GainOption | null {
  let found: GainOption | null = null;
  let most = Number.NEGATIVE_INFINITY;
  for (const option of options) {
    const own = option.quality - tradeOff * option.gpuSeconds;
    if (own > most) [found, most] = [option, own];
  }
  return found;
}
