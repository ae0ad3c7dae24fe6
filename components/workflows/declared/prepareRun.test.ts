import { expect, it } from "vitest";
import type { WorkflowRun } from "@/server/contracts/studio";
import { prepareRun } from "./prepareRun";

const run: WorkflowRun = {
  ...{ id: "run-1", object: "workflow.run", workflow: "voting", status: "completed", seconds: 4.2, output: "42", error: null },
  stages: [
    { agent: "voter-1", model: "small-8b", decisionId: "d1", seconds: 1.5, inputTokens: 1200, outputTokens: null, output: "41" },
    { agent: "counter", model: "large-70b", decisionId: "d2", seconds: 2.5, inputTokens: 10, outputTokens: 3, output: "42" },
  ],
};

it("tells each stage's model, tokens and seconds, and does not call uncounted tokens none", () => {
  const { word, stages, missing } = prepareRun(run, ["voter-1", "counter"]);
  expect(word).toBe("completed");
  expect(stages.map(({ tokens }) => tokens)).toEqual(["1,200 in, not counted out", "10 in, 3 out"]);
  expect(missing).toEqual([]);
});

it("tells where a run failed, why, and which agents it never came to", () => {
  const error = { message: "No engine of large-70b answers.", code: "unavailable", agent: "counter", status: 503 };
  const { word, says, missing } = prepareRun({ ...run, status: "failed", error, stages: run.stages.slice(0, 1) }, ["voter-1", "counter"]);
  expect(word).toBe("failed");
  expect(says.replaceAll(/\s/g, " ")).toBe("After 4.20 s at counter: No engine of large-70b answers.");
  expect(missing).toEqual(["counter"]);
});
