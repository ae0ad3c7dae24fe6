import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflows } from "@/solver/workflow/templates";
import type { OutcomeTable } from "@/solver/workload/workload";
import { confidencePredictor, trainConfidence } from "./confidence";
import { lengthPredictor, trainLengths } from "./lengths";
import type { LengthPredictor } from "./predictor";
import { factsOf, inputTokensOn, predictionsOf } from "./programFacts";
import { confidenceRowsOf, lengthRowsOf } from "./programRows";
import { testPrompts } from "./testing/testRows";

const prompts = testPrompts(80, 1);
const texts = {
  sketches: prompts.map(({ sketch }, row) => (row % 7 === 0 ? null : sketch)),
  promptTokens: Int32Array.from(prompts, ({ tokens }) => tokens),
};
const outcomes: OutcomeTable = {
  promptIds: prompts.map((_, row) => `prompt-${row}`),
  categories: prompts.map(() => "any"),
  inputTokens: texts.promptTokens,
  models: ["small", "large"].map((model, index) => ({
    model,
    tableName: model,
    outputTokens: Int32Array.from(prompts, ({ steps }) => (40 + 30 * steps) * (index + 1)),
    label: Float64Array.from(prompts, ({ isHard }) => (isHard && index === 0 ? 0 : 100)),
    judged: new Float64Array(prompts.length),
  })),
};
const rows = Int32Array.from(prompts.keys());

const samples = fc
  .record({ programs: fc.integer({ min: 1, max: 40 }), correlation: fc.constantFrom(0, 0.5, 1), seed: fc.nat() })
  .map(({ programs, correlation, seed }) =>
    drawPrograms({
      outcomes,
      prompts: rows,
      mix: workflows.map((workflow) => ({ workflow, share: 1 })),
      correlation,
      arrivalSeconds: Float64Array.from({ length: programs }, (_, at) => at),
      seed,
    }),
  );

describe("facts of a request", () => {
  it("are its program's prompt, its stage, and input with the answers it reads", () => {
    fc.assert(
      fc.property(samples, fc.nat(), fc.integer({ min: 0, max: 1 }), (sample, pick, model) => {
        const request = pick % sample.program.length;
        const program = sample.program[request]!;
        const first = sample.firstRequest[program]!;
        const workflow = sample.workflows[sample.workflow[program]!]!;
        const stage = workflow.stages[request - first]!;
        const facts = factsOf(sample, texts, request, inputTokensOn(sample, request, model));
        const read = stage.reads.reduce((sum, before) => sum + sample.outputTokens[model]![first + before]!, 0);
        expect(facts).toEqual({
          instructionTokens: stage.instructionTokens,
          promptTokens: texts.promptTokens[sample.prompt[program]!],
          inputTokens: sample.givenTokens[request]! + read,
          workflow: workflow.name,
          stage: stage.role,
          sketch: texts.sketches[sample.prompt[program]!],
        });
      }),
    );
  });
});

describe("predictions of a sample", () => {
  const sample = fc.sample(samples, { numRuns: 1, seed: 4 })[0]!;
  const lengths = lengthPredictor(trainLengths(lengthRowsOf(sample, texts), { seed: 1 }));
  const confidence = confidencePredictor(trainConfidence(confidenceRowsOf(outcomes, rows, texts), { seed: 1 }));

  it("are the predictors' own, request by request, of the input that each really has", () => {
    fc.assert(
      fc.property(samples, fc.nat(), fc.integer({ min: 0, max: 1 }), (drawn, pick, model) => {
        const request = pick % drawn.program.length;
        const said = predictionsOf(drawn, texts, { lengths, confidence });
        for (const inputTokens of [inputTokensOn(drawn, request, model), inputTokensOn(drawn, request, 1 - model), 1]) {
          const [alone] = lengths.predict([factsOf(drawn, texts, request, inputTokens)], drawn.models[model]!) ?? [];
          for (const time of ["first", "again"]) {
            expect(said.requestTokens?.(request, model, inputTokens), time).toBe(alone?.requestTokens);
            expect(said.remainingTokens?.(request, model, inputTokens), time).toBe(alone?.remainingTokens);
          }
        }
        const facts = factsOf(drawn, texts, request, inputTokensOn(drawn, request, model));
        expect(said.confidence?.(request, model)).toBe(confidence.predict([facts])[model]);
      }),
      { numRuns: 30 },
    );
  });

  it("go by the answers that a request reads, not by those that the model asked about would have given in their place", () => {
    const byInput: LengthPredictor = {
      models: outcomes.models.map(({ model }) => model),
      predict: (facts) => facts.map(({ inputTokens }) => ({ requestTokens: inputTokens, remainingTokens: 2 * inputTokens })),
    };
    fc.assert(
      fc.property(samples, fc.nat(), fc.integer({ min: 0, max: 1 }), (drawn, pick, model) => {
        const { requestTokens, remainingTokens } = predictionsOf(drawn, texts, { lengths: byInput });
        const request = pick % drawn.program.length;
        for (const by of [model, 1 - model, model]) {
          const inputTokens = inputTokensOn(drawn, request, by);
          expect(requestTokens?.(request, model, inputTokens)).toBe(inputTokens);
          expect(remainingTokens?.(request, model, inputTokens)).toBe(2 * inputTokens);
        }
      }),
    );
  });

  it("say nothing of what no predictor was trained for", () => {
    const nobody: LengthPredictor = { models: ["other"], predict: () => null };
    const said = predictionsOf(sample, texts, { lengths: nobody });
    expect(said.requestTokens?.(0, 0, 100)).toBeUndefined();
    expect(said.confidence).toBeUndefined();
    const swapped = { ...sample, models: ["large", "other"] };
    const confident = predictionsOf(swapped, texts, { confidence });
    expect(confident.confidence?.(0, 1)).toBeUndefined();
    expect(confident.confidence?.(0, 0)).toBe(predictionsOf(sample, texts, { confidence }).confidence?.(0, 1));
  });
});
