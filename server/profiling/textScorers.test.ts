import { describe, expect, it } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { generatedWorkload } from "@/solver/workload/generated";
import { type ProfileTexts, withTextScorers } from "./textScorers";

const { outcomes: table, seed } = generatedWorkload({ prompts: 200, seed: 3 });
const [small, middle, large] = table.models;
const row = (id: string): number => table.promptIds.indexOf(id);

/** The small model hedges where it is wrong; what the middle one says has nothing to do with its label. */
const texts: ProfileTexts = {
  prompt: (id) => `user: question ${id}`,
  answersOf: (model) => (id) => {
    if (model === small?.tableName) return (small.label[row(id)] ?? 0) > 50 ? "certainly" : "perhaps";
    return seededRandom(row(id)).next() < 0.5 ? "one" : "two";
  },
};

describe("scorers of a profile's texts", () => {
  it("are trained for models but the largest, where words say more than the columns", () => {
    const { table: scored, scorers } = withTextScorers(table, texts, { seed });
    expect(Object.keys(scorers ?? {})).toEqual([small?.model]);
    const [first, ...others] = scored.models;
    expect(others.every(({ scorer }) => scorer === undefined)).toBe(true);
    const scores = (right: boolean) =>
      table.promptIds.flatMap((id) => ((small?.label[row(id)] ?? 0) > 50 === right ? (first?.scorer?.[row(id)] ?? 0) : []));
    expect(Math.min(...scores(true))).toBeGreaterThan(Math.max(...scores(false)));
  });

  it("report how far their training is, one scorer after the other, and count models without one as done", () => {
    const said: string[] = [];
    withTextScorers(table, texts, { seed }, ({ model, done, of }) => said.push(`${model} ${done} of ${of}`));
    const name = small?.model;
    expect(said.slice(0, 7)).toEqual([0, 1, 2, 3, 4, 5, 6].map((done) => `${name} ${done} of 12`));
    // The words of the middle model say nothing, so that its folds are not trained.
    expect(said.slice(7)).toEqual([6, 7].map((done) => `${middle?.model} ${done} of 12`));
  });

  it("are not trained where a text is not stored", () => {
    const gone = table.promptIds[7] ?? "";
    const withoutPrompt = { ...texts, prompt: (id: string) => (id === gone ? null : texts.prompt(id)) };
    const withoutAnswer = { ...texts, answersOf: (model: string) => (id: string) => (id === gone ? null : texts.answersOf(model)(id)) };
    for (const some of [withoutPrompt, withoutAnswer]) expect(withTextScorers(table, some, { seed })).toEqual({ table });
  });

  it("read no text of the largest model", () => {
    const asked: string[] = [];
    const answersOf = (model: string) => {
      asked.push(model);
      return () => null;
    };
    withTextScorers(table, { ...texts, answersOf }, { seed });
    expect(asked).toEqual([small?.tableName, middle?.tableName]);
    expect(asked).not.toContain(large?.tableName);
  });
});
