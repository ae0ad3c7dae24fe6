import { expect, it } from "vitest";
import { prepareDispatchNotes } from "./prepareDispatchNotes";

const nothing = { missing: [], notes: [], refusal: null, error: null } as const;

it("says what slack dispatch lacks, with the page that mends it", () => {
  const [predictor, texts] = prepareDispatchNotes("any", { ...nothing, missing: ["no-predictor", "no-texts"] }, "w 1");
  expect(predictor).toMatchObject({ kind: "no-predictor", link: { to: "/lab?tab=predictors&workload=w%201", text: "Train a predictor" } });
  expect(texts).toMatchObject({ kind: "no-texts", link: { to: "/workloads/profiles" } });
});

it("says why there is none: one model only, or a failure that can be tried again", () => {
  const refusal = { ok: false, kind: "one-model", message: "Only large fits." } as const;
  expect(prepareDispatchNotes("slack", { ...nothing, refusal }, "w")).toEqual([
    { kind: "one-model", says: "Only large fits.", link: { to: "/workloads/profiles", text: "Profile more models" } },
  ]);
  expect(prepareDispatchNotes("slack", { ...nothing, error: { message: "The planner ended." } }, "w")[0]?.kind).toBe("failed");
});

it("says nothing where slack dispatch is not asked for", () => {
  expect(prepareDispatchNotes("cascade", { ...nothing, missing: ["no-predictor"] }, "w")).toEqual([]);
  expect(prepareDispatchNotes("one-model", { ...nothing, error: { message: "x" } }, "w")).toEqual([]);
});
