import { describe, expect, it } from "vitest";
import type { LiveFrame } from "@/server/contracts/studio";
import { testFrame } from "../testing/testFrame";
import { prepareAttention } from "./prepareAttention";

const { gateway } = testFrame();
type Unscored = NonNullable<NonNullable<LiveFrame["gateway"]["routing"]>["unscoredStages"]>;

const problemsOf = (unscoredStages: Unscored) => {
  const routing = { policy: { kind: "fixed", model: "m" }, controls: null, unscoredStages } as unknown as LiveFrame["gateway"]["routing"];
  return prepareAttention([testFrame({ gateway: { ...gateway, routing } })]);
};

describe("stages whose gate gives no score", () => {
  it("are a line for each cause, with the answers in a row and what to do", () => {
    const problems = problemsOf([
      { model: "small", cause: "no-log-probabilities", answers: 7 },
      { model: "medium", cause: "no-other-answers", answers: 5 },
    ]);
    expect(problems.map(({ subject, word, tone }) => [subject, word, tone])).toEqual([
      ["small", "gate gives no score", "warn"],
      ["medium", "gate gives no score", "warn"],
    ]);
    expect(problems[0]?.text.replaceAll(/\s/g, " ")).toMatch(/^7 answers in a row: its engines report no log probabilities\. /);
    expect(problems[1]?.text).toContain("must stay half empty");
  });

  it("are no line where there are none", () => expect(problemsOf([])).toEqual([]));
});
