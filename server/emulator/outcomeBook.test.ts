import { describe, expect, it } from "vitest";
import { createOutcomeBook, type OutcomeBook } from "./outcomeBook";

const model = { model: "llama-3.1-8b", outputTokens: [10, 20], label: [100, 0], judged: [80, 30] };
const outcomes = { name: "w", promptIds: ["gsm-1", "gsm 2"], inputTokens: [5, 6], models: [model] };

function book(): OutcomeBook {
  const result = createOutcomeBook(outcomes);
  if (!result.ok) throw new Error(result.message);
  return result.book;
}

describe("createOutcomeBook", () => {
  it("finds the row a prompt names, blanks in the id included", () => {
    expect(book().row("llama-3.1-8b", "[prompt gsm 2] How many?")).toEqual({ promptId: "gsm 2", inputTokens: 6, outputTokens: 20 });
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

  it.each([
    ["a missing value", { ...outcomes, inputTokens: [5] }, "Outcomes field inputTokens: 1 values for 2 prompts"],
    [
      "a short column of a model",
      { ...outcomes, models: [{ ...model, judged: [1] }] },
      "Outcomes field models.llama-3.1-8b.judged: 1 values for 2 prompts",
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
