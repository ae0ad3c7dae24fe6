import { seededRandom } from "@/solver/numeric/random";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { sketchOf } from "@/solver/words/sketch";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflowOfDocument } from "@/solver/workflow/workflowDocuments";
import type { ConfidenceRows } from "../confidence";
import { type ConfigurationRows, configurationRowsOf } from "../configurationRows";
import type { LengthRows } from "../lengths";
import type { RequestFacts } from "../predictor";

const FILLER = "the of and a to in is that it was for on are with as at be this from".split(" ");

/** Prompts in which the number of `steps` words determines the answers' length, and the word "riddle" the probability of an error. */
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

/** Lengths of both stages of one program per prompt, by two models of which the second writes twice as much. */
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

/** Whether a small model, for which riddles are too hard, and a large one were right. */
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

/** An answer, a check and a revision; the reviser has the model of the answerer. */
export const testWorkflow = workflowDocumentSchema.parse({
  name: "refine",
  agents: [
    { name: "writer" },
    { name: "critic", reads: ["writer"], part: "checks", instructions: "Find what is wrong." },
    { name: "editor", reads: ["writer", "critic"], part: "revises", sameModelAs: "writer" },
    { name: "judge", reads: ["editor"], part: "checks" },
  ],
});

const SUBJECTS = { easy: "sum name list count spell copy".split(" "), hard: "prove derive bound limit norm ring".split(" ") } as const;

/** Prompts whose subjects determine their difficulty. */
export function testSubjects(count: number, seed: number) {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const isHard = random.next() < 0.5;
    const subjects = SUBJECTS[isHard ? "hard" : "easy"];
    const words = Array.from({ length: 12 + random.int(12) }, (_, at) =>
      at < 6 ? (subjects[random.int(6)] ?? "") : (FILLER[random.int(FILLER.length)] ?? ""),
    );
    return { isHard, tokens: words.length, sketch: sketchOf(words.join(" ")) };
  });
}

/** Outcomes of a workflow's configurations over a small model, which fails on hard prompts, a middle one, which often does, and a large. */
export function testConfigurationRows(count: number, seed: number): ConfigurationRows {
  const random = seededRandom(seed + 2);
  const prompts = testSubjects(count, seed);
  const label = ({ easy, hard }: { readonly easy: number; readonly hard: number }): Float64Array =>
    Float64Array.from(prompts, ({ isHard }) => (random.next() < (isHard ? hard : easy) ? 100 : 0));
  const tokens = Int32Array.from(prompts, (prompt) => prompt.tokens);
  const models = [
    { model: "small", right: { easy: 0.98, hard: 0.1 } },
    { model: "middle", right: { easy: 0.99, hard: 0.6 } },
    { model: "large", right: { easy: 0.99, hard: 0.95 } },
  ].map(({ model, right }) => ({ model, tableName: model, outputTokens: tokens, label: label(right), judged: label(right) }));
  const promptIds = prompts.map((_, at) => `p${at}`);
  const sample = drawPrograms({
    outcomes: { promptIds, categories: promptIds, inputTokens: tokens, models },
    ...{ prompts: Int32Array.from(prompts.keys()), mix: [{ workflow: workflowOfDocument(testWorkflow), share: 1 }] },
    ...{ correlation: 0.9, arrivalSeconds: new Float64Array(3 * count), seed },
  });
  const texts = { promptTokens: tokens, sketches: prompts.map(({ sketch }) => sketch) };
  return configurationRowsOf(sample, configurationSpace(testWorkflow, ["small", "middle", "large"]), texts, testWorkflow);
}
