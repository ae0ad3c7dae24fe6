import { describe, expect, it } from "vitest";
import { encodeArtefact } from "./artefact";
import { heldOutLengths } from "./heldOut";
import { lengthPredictor, trainLengths } from "./lengths";
import { testLengthRows } from "./testing/testRows";

const rows = testLengthRows(700, 1);
const few = testLengthRows(60, 1);
const fresh = testLengthRows(200, 2);
const artefact = trainLengths(rows, { seed: 1 });

describe("a trained length predictor", () => {
  it("orders requests of prompts that it was not trained on far better than their input length does", () => {
    const { prompts, lengths = [] } = heldOutLengths(artefact, fresh);
    expect(prompts).toBe(200);
    for (const { requestTau, remainingTau, inputLengthTau } of lengths) {
      expect(requestTau).toBeLessThan(0.2);
      expect(remainingTau).toBeLessThan(0.2);
      expect(inputLengthTau).toBeGreaterThan(0.3);
    }
  });

  it("predicts the median of each model and stage", () => {
    const predictor = lengthPredictor(artefact);
    for (const { model, facts, requestTokens, remainingTokens } of fresh.models) {
      const predicted = predictor.predict(facts, model) ?? [];
      const above = (of: readonly number[], truth: Float32Array) => of.filter((value, at) => truth[at]! > value).length / of.length;
      expect(
        Math.abs(
          above(
            predicted.map((each) => each.requestTokens),
            requestTokens,
          ) - 0.5,
        ),
      ).toBeLessThan(0.1);
      expect(
        Math.abs(
          above(
            predicted.map((each) => each.remainingTokens),
            remainingTokens,
          ) - 0.5,
        ),
      ).toBeLessThan(0.1);
    }
  });

  it("knows a stage in a workflow it has not met, and says something of any request", () => {
    const predictor = lengthPredictor(artefact);
    const known = fresh.models[0]!.facts[0]!;
    const ask = (workflow: string, stage: string) => predictor.predict([{ ...known, workflow, stage }], "model-1")![0]!.requestTokens;
    expect(ask("other", "planner")).toBeLessThan(0.6 * ask("other", "coder"));
    const nothing = { instructionTokens: 0, promptTokens: 0, inputTokens: 0, workflow: "", stage: "", sketch: null };
    expect(predictor.predict([nothing], "model-1")![0]!.remainingTokens).toBeGreaterThan(0);
  });

  it("learns from lengths and counts alone where there are no texts", () => {
    const bare = (of: typeof rows) => ({
      ...of,
      models: of.models.map((model) => ({ ...model, facts: model.facts.map((facts) => ({ ...facts, sketch: null })) })),
    });
    const { lengths = [] } = heldOutLengths(trainLengths(bare(rows), { seed: 1 }), bare(fresh));
    // Both stages of a program have the same input length here: the input length without the stage orders half as well.
    for (const { requestTau, inputLengthTau } of lengths) expect(requestTau).toBeLessThan(inputLengthTau - 0.1);
  });

  it("has nothing to say of a model it was not trained for", () => {
    expect(lengthPredictor(artefact).predict(fresh.models[0]!.facts, "another")).toBeNull();
  });

  it("is the same for the same rows and seed, to the byte", () => {
    const bytesOf = (seed: number) => Buffer.from(encodeArtefact(trainLengths(few, { seed })));
    expect(bytesOf(1).equals(bytesOf(1))).toBe(true);
    expect(bytesOf(2).equals(bytesOf(1))).toBe(false);
  });

  it("says which model has nothing to learn from", () => {
    const empty = { model: "idle", facts: [], requestTokens: new Float32Array(), remainingTokens: new Float32Array() };
    expect(() => trainLengths({ prompts: 1, models: [empty] }, { seed: 1 })).toThrow("No request of idle");
  });
});
