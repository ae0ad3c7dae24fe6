import { expect, it } from "vitest";
import type { DeclaredWorkflow, PlanSummary } from "@/server/contracts/studio";
import { testModels, testVoting } from "../testing/testRounds";
import { chosenText, declaredRows, planInView, planOptions, predictorOptions } from "./prepareDeclaredList";

const declared: DeclaredWorkflow = {
  ...{ document: testVoting(4), version: 2, createdAt: "2026-01-01T00:00:00.000Z", actor: "ada", origin: "langgraph" },
  predictors: [{ hash: "f".repeat(64), version: 3, workloadName: "maths" }],
};
const plan = (id: string, running: boolean) => ({ id: id.repeat(64), name: `plan ${id}`, running }) as PlanSummary;

it("tells a workflow's configurations over the plan's models, and why it has none", () => {
  const [row] = declaredRows([declared], testModels);
  expect(row).toMatchObject({ name: "voting", agents: "5", configurations: "243", version: "v2", origin: "LangGraph graph" });
  expect(declaredRows([declared], null)[0]?.configurations).toBe("–");
  expect(declaredRows([{ ...declared, document: testVoting(10) }], testModels)[0]?.refused).toContain("more than 6,561");
});

it("opens over the plan in force, else the newest, and offers the one in force first", () => {
  const plans = [plan("a", false), plan("b", true), plan("c", false)];
  expect(planInView(plans, null)?.name).toBe("plan b");
  expect(planInView(plans, "c".repeat(64))?.name).toBe("plan c");
  expect(planInView([plan("a", false)], "gone")?.name).toBe("plan a");
  expect(planInView([], null)).toBeNull();
  expect(planOptions(plans).map(({ text }) => text)).toEqual(["in force: plan b, bbbbbbbb", "plan a, aaaaaaaa", "plan c, cccccccc"]);
});

it("offers a workflow's predictors and none, and says what none means", () => {
  expect(predictorOptions(declared).map(({ text }) => text)).toEqual(["v3 of maths, ffffffff", "none: the largest models alone"]);
  const [one, other] = [
    { name: "voting", predictor: "f".repeat(64) },
    { name: "refine", predictor: null },
  ];
  expect(chosenText([one])).toContain("predicted");
  expect(chosenText([one, other])).toContain("refine without a predictor");
  expect(chosenText([other])).toMatch(/^refine without a predictor: only/);
  expect(chosenText([])).toContain("at least one");
});
