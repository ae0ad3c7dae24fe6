import { expect, it } from "vitest";
import { compareWorkloads } from "@/solver/workload/compareWorkloads";
import { generatedWorkload } from "@/solver/workload/generated";
import { commonText, onlyApart, prepareComparison } from "./prepareComparison";

const workload = generatedWorkload({ prompts: 300, seed: 1 });
const [first, ...rest] = workload.outcomes.models;
if (first === undefined) throw new Error("there are models");
const better = {
  ...workload,
  outcomes: { ...workload.outcomes, models: [{ ...first, label: first.label.map(() => 100) }, ...rest] },
  arrivalSeconds: workload.arrivalSeconds.map((at) => at / 4),
};
const content = compareWorkloads(workload, better);
const sections = prepareComparison({ content });

it("tells apart, the same and within noise in words", () => {
  const quality = sections.find(({ key }) => key === "quality")?.rows;
  expect(quality?.map(({ verdict }) => verdict)).toEqual(["apart", ...rest.map(() => "the same")]);
  expect(quality?.[0]?.difference).toMatch(/^\+\d+\.\d ±\d+\.\d points$/);
  expect(quality?.[1]?.difference).toBeNull();
  const other = prepareComparison({ content: compareWorkloads(workload, generatedWorkload({ prompts: 300, seed: 2 })) });
  expect(other.flatMap(({ rows }) => rows).some(({ verdict }) => verdict === "within noise")).toBe(true);
});

it("keeps only what is more than noise where that is asked, and no empty section", () => {
  const apart = onlyApart(sections);
  expect(apart.map(({ key, rows }) => [key, rows.map((row) => row.key)])).toEqual([
    ["quality", [first.model]],
    ["arrivals", ["rate"]],
  ]);
});

it("marks a model that only one of them has", () => {
  const without = { ...workload, outcomes: { ...workload.outcomes, models: rest } };
  const row = prepareComparison({ content: compareWorkloads(without, workload) })[0]?.rows.find(({ key }) => key === first.model);
  expect(row).toMatchObject({ a: "–", difference: null, verdict: "only in one" });
});

it("says what both have in common, and what that does to the intervals", () => {
  expect(commonText({ content: compareWorkloads(workload, workload) })).toMatch(/same content/);
  expect(commonText({ content: compareWorkloads(workload, { ...workload, arrivalSeconds: better.arrivalSeconds }) })).toMatch(
    /other arrivals/,
  );
  expect(commonText({ content })).toMatch(/same 300 prompts.*prompt by prompt/);
  const renamed = { ...workload.outcomes, promptIds: workload.outcomes.promptIds.map((id, at) => (at < 100 ? id : `${id}'`)) };
  expect(commonText({ content: compareWorkloads(workload, { ...workload, outcomes: renamed }) })).toMatch(/^100 prompts in both/);
});
