import { seededRandom } from "@/solver/numeric/random";
import type { PlanningSample } from "../routing/routing";

/** Probability that a model of an artificial ladder answers a prompt of difficulty 0..1 correctly. */
const rightness = (skill: number, difficulty: number): number => 1 / (1 + Math.exp(8 * (difficulty - skill)));

/**
 * An artificial sample for tests: ladders whose larger models are right more often on the same prompts, with a judge that has a
 * noisy reading of right and wrong. Right is 100, wrong 0.
 */
export function testSample({ prompts, skills, seed }: { prompts: number; skills: readonly number[]; seed: number }): PlanningSample {
  const random = seededRandom(seed);
  const difficulty = Float64Array.from({ length: prompts }, () => random.next());
  const columns = skills.map((skill) => {
    const label = difficulty.map((d) => (random.next() < rightness(skill, d) ? 100 : 0));
    const judged = label.map((right) => Math.round(Math.min(100, Math.max(0, (right > 0 ? 62 : 38) + 20 * random.normal()))));
    return { label, judged, output: Int32Array.from(difficulty, (d) => Math.round(80 + 240 * d + 20 * random.next())) };
  });
  return {
    models: skills.map((_, index) => `model-${index}`),
    prompts,
    inputTokens: Int32Array.from({ length: prompts }, () => 60 + random.int(80)),
    outputTokens: columns.map((column) => column.output),
    label: columns.map((column) => column.label),
    judged: columns.map((column) => column.judged),
  };
}

/** Arrivals that are even at first, with slow bursts of some hundred requests at double the rate in the last half only. */
export function lateBursts(requests: number, seed: number): Float64Array {
  const random = seededRandom(seed);
  let clock = 0;
  return Float64Array.from({ length: requests }, (_, index) => {
    const late = index > requests / 2;
    const burst = Math.floor(index / 600) % 2 === 0;
    clock += random.exponential(late ? (burst ? 1.7 : 0.7) : 1);
    return clock;
  });
}
