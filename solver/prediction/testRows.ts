import { seededRandom } from "@/solver/numeric/random";
import type { ConfidenceRows } from "./confidence";
import type { LengthRows } from "./lengths";
import type { RequestFacts } from "./predictor";
import { sketchOf } from "./sketch";

const FILLER = "the of and a to in is that it was for on are with as at be this from".split(" ");

/** Prompts of which the number of `steps` words tells how long answers are, and the word "riddle" how likely they are wrong. */
export function testPrompts(count: number, seed: number) {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const steps = random.int(12);
    const isHard = random.next() < 0.5;
    const filler = Array.from({ length: 5 + random.int(30) }, () => FILLER[random.int(FILLER.length)] ?? "");
    const text = [...filler, ...Array.from({ length: steps }, () => "then"), ...(isHard ? ["riddle"] : [])].join(" ");
    return { steps, isHard, tokens: filler.length + steps, sketch: sketchOf(text), noise: random.normal() };
  });
}

const stages = [
  { stage: "planner", ratio: 0.3, later: 1.3 },
  { stage: "coder", ratio: 1, later: 1 },
];

/** Lengths of both stages of a program a prompt, by two models of which the second writes twice as much. */
export function testLengthRows(count: number, seed: number): LengthRows {
  const prompts = testPrompts(count, seed);
  const rows = prompts.flatMap(({ steps, tokens, sketch, noise }) =>
    stages.map(({ stage, ratio, later }) => {
      const facts: RequestFacts = {
        instructionTokens: 50,
        promptTokens: tokens,
        inputTokens: 50 + tokens,
        workflow: "plan-code",
        stage,
        sketch,
      };
      const whole = (40 + 30 * steps) * Math.exp(0.2 * noise);
      return { facts, request: whole * ratio, remaining: whole * later };
    }),
  );
  return {
    prompts: count,
    models: [1, 2].map((factor) => ({
      model: `model-${factor}`,
      facts: rows.map(({ facts }) => facts),
      requestTokens: Float32Array.from(rows, ({ request }) => Math.round(factor * request)),
      remainingTokens: Float32Array.from(rows, ({ remaining }) => Math.round(factor * remaining)),
    })),
  };
}

/** Whether a small model, which riddles are too hard for, and a large one were right. */
export function testConfidenceRows(count: number, seed: number): ConfidenceRows {
  const random = seededRandom(seed + 1);
  const prompts = testPrompts(count, seed);
  const facts = prompts.map(
    ({ tokens, sketch }): RequestFacts => ({
      instructionTokens: 0,
      promptTokens: tokens,
      inputTokens: tokens,
      workflow: "",
      stage: "",
      sketch,
    }),
  );
  const right = [
    { easy: 0.9, hard: 0.2 },
    { easy: 0.95, hard: 0.7 },
  ].map(({ easy, hard }) => Float32Array.from(prompts, ({ isHard }) => (random.next() < (isHard ? hard : easy) ? 1 : 0)));
  return { models: ["small", "large"], facts, right };
}
