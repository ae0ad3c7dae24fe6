import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AGGREGATE_ALL, type Confidence, type Ensemble, type Extraction } from "@/solver/ensemble/gate/ensembleDocument";
import { testEnsemble, testKept } from "../testing/testEnsembles";
import { composeEnsemble, type EnsembleForm, ensembleSays, figuresOfSample, formOf, newEnsembleForm, takenName } from "./prepareEnsemble";

const form = (change: Partial<EnsembleForm> = {}): EnsembleForm => ({ ...formOf(testEnsemble()), ...change });
const problemsOf = (made: ReturnType<typeof composeEnsemble>) => ("problems" in made ? made.problems : {});

describe("the editor of an ensemble", () => {
  it("gives back every ensemble it was opened with", () => {
    const { experts } = testEnsemble();
    const percent = fc.integer({ min: 0, max: 1000 }).map((tenths) => tenths / 1000);
    const figures = (value: fc.Arbitrary<number>) =>
      fc.tuple(value, value, value).map((all) => Object.fromEntries(experts.map((each, at) => [each, all[at]!])));
    const confidence: fc.Arbitrary<Confidence> = fc.oneof(
      fc.constant({ kind: "plurality" as const }),
      figures(percent).map((accuracy) => ({ kind: "accuracy-weighted" as const, accuracy })),
      figures(fc.integer({ min: 1, max: 9000 })).map((meanTokens) => ({ kind: "length-aware" as const, meanTokens })),
    );
    const extraction: fc.Arbitrary<Extraction> = fc.oneof(
      fc.constantFrom({ kind: "number" as const }, { kind: "boxed" as const }, { kind: "text" as const }),
      fc.constant({ kind: "pattern" as const, pattern: "Answer: (\\w+)" }),
    );
    const ensemble = fc.record(
      {
        ...{ confidence, extraction, tau: fc.constantFrom(1 / 3, 2 / 3, 1, AGGREGATE_ALL), expertsPerQuestion: fc.constantFrom(2, 3) },
        ...{
          maxTokens: fc.integer({ min: 1, max: 4096 }),
          skills: fc.constant({ "*": { "gemma-2-9b": 0.71 }, maths: { "qwen2.5-7b": 0.9 } }),
        },
        aggregator: fc.constantFrom<Ensemble["aggregator"]>({ model: "a" }, { model: "a", maxTokens: 9, instruction: "Choose." }),
      },
      { requiredKeys: ["confidence", "extraction", "tau", "expertsPerQuestion", "aggregator"] },
    );
    fc.assert(
      fc.property(ensemble, (change) => {
        const made = composeEnsemble(formOf(testEnsemble(change as Partial<Ensemble>)));
        if ("problems" in made) throw new Error(JSON.stringify(made.problems));
        const { confidence: read, ...rest } = made.ensemble;
        const { confidence: put, ...others } = testEnsemble(change as Partial<Ensemble>);
        expect(rest).toEqual(others);
        expect(read.kind).toBe(put.kind);
        if (read.kind === "accuracy-weighted" && put.kind === "accuracy-weighted")
          for (const expert of experts) expect(read.accuracy[expert]).toBeCloseTo(put.accuracy[expert]!, 6);
        else expect(read).toEqual(put);
      }),
      { numRuns: 100 },
    );
  });

  it("says in a sentence of its own what is wrong with each field", () => {
    expect(problemsOf(composeEnsemble(newEnsembleForm))).toEqual({
      name: expect.stringContaining("lower-case"),
      experts: "Name two experts at least, and sixteen at most.",
      aggregator: "Name the model that combines the answers.",
    });
    expect(problemsOf(composeEnsemble(form({ expertsPerQuestion: 5, quorum: 6 })))).toEqual({
      expertsPerQuestion: "The number of experts a question is more than the 3 experts there are.",
      quorum: "The quorum is more than the 5 experts that answer a question.",
    });
    expect(problemsOf(composeEnsemble(form({ experts: ["a", "b", "a"] }))).experts).toBe("The list of experts names a model twice.");
    expect(problemsOf(composeEnsemble(form({ skills: "{" }))).skills).toBe("Skills are not valid JSON.");
    expect(problemsOf(composeEnsemble(form({ skills: '{"*": {"gemma-2-9b": 7}}' }))).skills).toContain("accuracies from 0 to 1");
    expect(problemsOf(composeEnsemble(form({ skills: '{"*": {"stranger": 0.7}}' }))).experts).toContain("has no stranger");
  });

  it("takes no name of another ensemble for a new one, nor for the next version of this", () => {
    const list = [testKept({ name: "a" }), testKept({ name: "b" })];
    expect(takenName("b", list, null)).toContain(`An ensemble b already exists, as version ${list[1]!.version}.`);
    expect(takenName("b", list, "a")).toContain("Choose another name");
    expect(takenName("b", list, "b")).toBeNull();
    expect(takenName("c", list, "b")).toBeNull();
  });

  it("refuses a pattern that cannot be read, and one that is missing", () => {
    expect(problemsOf(composeEnsemble(form({ extraction: "pattern", pattern: "(" }))).extraction).toMatch(/\.$/);
    expect(problemsOf(composeEnsemble(form({ extraction: "pattern", pattern: "" }))).extraction).toContain("Give a pattern");
    expect(composeEnsemble(form({ extraction: "pattern", pattern: "Answer: (\\w+)" }))).toHaveProperty("ensemble");
  });

  it("gives every expert a figure where votes are weighed, a sample's where one was taken", () => {
    const taken = figuresOfSample({ models: [{ model: "gemma-2-9b", accuracy: 0.8123, voted: 1, meanTokens: 0.2 }] });
    expect(taken).toEqual({ accuracy: { "gemma-2-9b": 81.23 }, meanTokens: { "gemma-2-9b": 1 } });
    const made = composeEnsemble(form({ confidence: "accuracy-weighted", ...taken }));
    expect(made).toMatchObject({ ensemble: { confidence: { accuracy: { "gemma-2-9b": 0.8123, "qwen2.5-7b": 0.7 } } } });
  });
});

it("says what an ensemble is in sentences", () => {
  expect(ensembleSays(testEnsemble({ expertsPerQuestion: 2, tau: 2 / 3 }))).toMatch(
    /^2 of 3 experts answer a question \(gemma-2-9b, .*below 0\.667, llama-3\.1-70b combines their.*2 answers or more, after 60\.0.s/,
  );
  expect(ensembleSays(testEnsemble({ tau: 2 / 3 }))).toContain("where confidence is below 2/3, ");
  expect(ensembleSays(testEnsemble({ tau: AGGREGATE_ALL }))).toContain("; of every question llama-3.1-70b combines their answers.");
});
