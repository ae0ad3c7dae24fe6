import { describe, expect, it } from "vitest";
import { createOutcomeBook, type OutcomeTable } from "./outcomeTable";

const model = { model: "llama-3.1-8b", outputTokens: [10, 20], label: [100, 0], judged: [80, 30] };
const outcomes = { name: "w", promptIds: ["gsm-1", "gsm 2"], inputTokens: [5, 6], models: [model] };

function book(): OutcomeTable {
  const result = createOutcomeBook(outcomes);
  if (!result.ok) throw new Error(result.message);
  return result.book;
}

describe("createOutcomeBook", () => {
  it("finds the row a prompt names, blanks in the id included", () => {
    expect(book().row("llama-3.1-8b", "[prompt gsm 2] How many?")).toMatchObject({ promptId: "gsm 2", inputTokens: 6, outputTokens: 20 });
  });

  it("picks the same row for the same text when it names none, and different rows for different texts", () => {
    const pick = (text: string) => book().row("llama-3.1-8b", text)?.promptId;
    expect(pick("hello")).toBe(pick("hello"));
    expect(new Set(["a", "b", "c", "d", "e", "f"].map(pick)).size).toBe(2);
    expect(pick("[prompt unknown] hello")).toBeDefined();
  });

  it("has no row for a model it does not know", () => {
    expect(book().row("gemma-2-2b", "[prompt gsm-1]")).toBeNull();
    expect(book().judged("gsm-1", "gemma-2-2b")).toBeNull();
    expect(book().judged("gsm-9", "llama-3.1-8b")).toBeNull();
    expect(book().judged("gsm 2", "llama-3.1-8b")).toBe(30);
  });

  it("gives models that are right one letter to a prompt, and those that are wrong another", () => {
    const promptIds = Array.from({ length: 60 }, (_, index) => `q${index}`);
    const column = (value: number) => promptIds.map(() => value);
    const of = (name: string, label: number) => ({ model: name, outputTokens: column(5), label: column(label), judged: column(0) });
    const models = [of("a", 50), of("b", 100), of("c", 49), of("d", 0)];
    const made = createOutcomeBook({ name: "w", promptIds, inputTokens: column(5), models });
    if (!made.ok) throw new Error(made.message);
    const letters = (name: string) => promptIds.map((id) => made.book.row(name, `[prompt ${id}]`)?.answer);
    const right = letters("a");
    expect(letters("b")).toEqual(right);
    expect(new Set(right)).toEqual(new Set(["A", "B", "C", "D"]));
    for (const wrong of [letters("c"), letters("d")]) expect(wrong.filter((letter, at) => letter === right[at])).toEqual([]);
    expect(letters("c")).not.toEqual(letters("d"));
  });

  it.each([
    ["a missing value", { ...outcomes, inputTokens: [5] }, "Outcomes field inputTokens: 1 values for 2 prompts"],
    [
      "a short column of a model",
      { ...outcomes, models: [{ ...model, judged: [1] }] },
      "Outcomes field models.llama-3.1-8b.judged: 1 values for 2 prompts",
    ],
    [
      "a short column of answers",
      { ...outcomes, models: [{ ...model, answer: ["7"] }] },
      "Outcomes field models.llama-3.1-8b.answer: 1 values for 2 prompts",
    ],
    ["an id given twice", { ...outcomes, promptIds: ["a", "a"] }, "Outcomes field promptIds: an id occurs twice"],
    [
      "an id that would end its tag early",
      { ...outcomes, promptIds: ["a", "b]"] },
      'Outcomes field promptIds: "b]" is empty or holds "]" or a line break',
    ],
    ["a body of another kind", { name: 3 }, "Outcomes field name: Invalid input: expected string, received number"],
  ])("refuses %s with the field", (_, body, message) => {
    expect(createOutcomeBook(body)).toEqual({ ok: false, message });
  });
});
