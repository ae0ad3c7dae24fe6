import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Ensemble, ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import type { AnswerSample } from "@/solver/ensemble/replay/answerSample";
import { ensembleLengths, sampleLengths } from "./ensembleLengths";
import { promptsByExpert, recruitment } from "./recruitment";

const ensemble = (change: Partial<Ensemble> = {}): Ensemble =>
  ensembleSchema.parse({
    ...{ name: "vote", experts: ["a", "b", "c"], expertsPerQuestion: 2, aggregator: { model: "z" } },
    ...{ extraction: { kind: "choice" }, confidence: { kind: "plurality" }, tau: 1, quorum: 2, deadlineSeconds: 60 },
    skills: { math: { a: 0.9, b: 0.8, c: 0.1 }, law: { a: 0.1, b: 0.8, c: 0.9 } },
    ...change,
  });

const sampled = (model: string, tokens: readonly number[], votes: readonly (string | null)[], asked = tokens.map(() => 1)) => ({
  ...{
    model,
    answers: votes,
    outputTokens: Int32Array.from(tokens),
    asked: Uint8Array.from(asked),
    correct: new Uint8Array(tokens.length),
  },
});

const sample = (models: AnswerSample["models"]): AnswerSample => ({ questionIds: ["q0", "q1"], categories: ["math", "law"], models });

const three = [sampled("a", [10, 11], ["A", "A"]), sampled("b", [20, 21], ["A", "B"]), sampled("c", [30, 31], ["B", "C"])];

const of = (models: AnswerSample["models"], of: Ensemble = ensemble()) => {
  const lengths = ensembleLengths(of, sampleLengths("night", sample(models)));
  if (typeof lengths === "string") throw new Error(lengths);
  return lengths;
};

const numbers = (values: ArrayLike<number> | undefined) => Array.from(values ?? []);

describe("lengths of an ensemble's answers", () => {
  it("are those of the questions that each expert is recruited for, and the aggregator reads what these experts wrote", () => {
    const { lengths, aggregated, lengthsSource } = of([...three, sampled("z", [5, 6], ["A", "B"])]);
    expect(["a", "b", "c", "z"].map((model) => numbers(lengths[model]?.outputTokens))).toEqual([[10], [20, 21], [31], [5, 6]]);
    expect(numbers(aggregated?.answerTokens)).toEqual([30, 52]);
    expect(numbers(aggregated?.outputTokens)).toEqual([5, 6]);
    // Both voted A on one question, and disagree on the other.
    expect(numbers(aggregated?.confidence ?? undefined)).toEqual([1, 0.5]);
    expect(lengthsSource).toContain('the sample "night"');
    // Experts with a lower output limit leave less to read.
    const bounded = of([...three, sampled("z", [5, 6], ["A", "B"])], ensemble({ maxTokens: 25 }));
    expect(numbers(bounded.aggregated?.answerTokens)).toEqual([30, 46]);
  });

  it("of an aggregator that was not asked are taken to be as long as the experts', and it is said", () => {
    const { lengths, aggregated, lengthsSource } = of(three);
    expect(numbers(lengths.z?.outputTokens).sort()).toEqual([10, 20, 21, 31]);
    expect(aggregated).toBeNull();
    expect(lengthsSource).toContain("the aggregator's as long as the experts'");
  });

  it("leave out what an expert was not asked, and are of all its answers where it is recruited for none of them", () => {
    const { lengths } = of([sampled("a", [10, 11], ["A", "A"], [0, 1]), three[1]!, three[2]!]);
    expect(numbers(lengths.a?.outputTokens)).toEqual([11]);
  });

  it("are told to be missing by the name of the model", () => {
    const missing = ensembleLengths(ensemble(), sampleLengths("night", sample(three.slice(0, 2))));
    expect(missing).toBe('Nothing tells how long answers of c are: the sample "night" has those of a, b.');
    const unasked = ensembleLengths(
      ensemble(),
      sampleLengths("night", sample([sampled("a", [1, 1], ["A", "A"], [0, 0]), three[1]!, three[2]!])),
    );
    expect(unasked).toContain("it was asked nothing");
  });

  it("are of few thousand questions, spread over all of a table however large it is", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), (rows) => {
        const column = (model: string) => ({ model, outputTokens: Int32Array.from({ length: rows }, (_, at) => at + 1) });
        const table = {
          name: "a table",
          categories: Array<string>(rows).fill("math"),
          inputTokens: new Int32Array(rows).fill(1),
          models: ["a", "b", "c"].map(column),
          voted: null,
        };
        const lengths = ensembleLengths(ensemble(), table);
        if (typeof lengths === "string") throw new Error(lengths);
        const own = numbers(lengths.lengths.a?.outputTokens);
        expect(own.length).toBe(Math.min(rows, 4000));
        expect(new Set(own).size).toBe(own.length);
        expect(own[0]).toBe(1);
        expect(own.at(-1)).toBeGreaterThan(rows - Math.ceil(rows / 4000) - 1);
      }),
      { numRuns: 30 },
    );
  });
});

describe("recruitment", () => {
  const questions = [
    { id: "q0", category: "math" },
    { id: "q1", category: "law" },
    { id: "q2", category: "other" },
  ];

  it("goes by category, or by the assignments where there are some", () => {
    const recruited = recruitment(ensemble(), questions, null);
    if (!recruited.ok) throw new Error(recruited.message);
    expect(recruited.experts).toEqual([
      ["a", "b"],
      ["b", "c"],
      ["a", "b"],
    ]);
    expect(promptsByExpert(["a", "b", "c"], recruited.experts)).toEqual([2, 3, 1]);
    const assigned = new Map([
      ["q0", ["c"]],
      ["q1", ["a", "c"]],
      ["q2", ["c"]],
    ]);
    expect(recruitment(ensemble(), questions, assigned)).toEqual({ ok: true, experts: [["c"], ["a", "c"], ["c"]] });
  });

  it("says which question is assigned nobody, or a stranger", () => {
    expect(recruitment(ensemble(), questions, new Map([["q0", ["a"]]]))).toMatchObject({
      ok: false,
      message: expect.stringContaining("question q1"),
    });
    expect(recruitment(ensemble(), questions.slice(0, 1), new Map([["q0", ["x"]]]))).toMatchObject({
      ok: false,
      message: expect.stringContaining("to x, which is no expert"),
    });
  });
});
