import type { Measure, UnscoredKind } from "@/server/contracts/studio";

export type MeasureKind = Measure["kind"];

export const measureKinds = ["rubric", "reference", "pairwise", "exact", "unit-test"] as const satisfies readonly MeasureKind[];

/** Descriptions of the kinds of measures for operators. */
export const kindWords: Readonly<Record<MeasureKind, { readonly name: string; readonly says: string }>> = {
  rubric: {
    name: "a judge grades",
    says: "A judge reads prompt and answer and gives 0 to 100, as the gateway's judge does while serving.",
  },
  reference: { name: "a judge grades by the reference", says: "A judge reads the reference answer too. Prompts without one get no score." },
  pairwise: { name: "a judge compares two answers", says: "A judge says which of two answers is better: 100 won, 50 drawn, 0 lost." },
  exact: { name: "equal to the reference", says: "100 where the answer equals the reference after extraction, else 0. No call is made." },
  "unit-test": { name: "passes a test", says: "100 where a command ends with 0, else 0, in a process without network. No call is made." },
};

/** Why a reading gave no score, as continuation of "12 ". */
export const unscoredWords: Readonly<Record<UnscoredKind, string>> = {
  empty: "replied nothing",
  "no-number": "replied without a number",
  "out-of-range": "replied a number outside of 0 to 100",
  "no-reference": "have no reference answer",
  "no-test": "have no test",
  refused: "were refused",
  failed: "failed",
};

export const isJudged = (kind: MeasureKind): kind is "rubric" | "reference" | "pairwise" => kind !== "exact" && kind !== "unit-test";
