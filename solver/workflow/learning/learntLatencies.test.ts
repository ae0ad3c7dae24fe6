import { expect, test } from "vitest";
import { testCall } from "../testing/testCall";
import { reports } from "../testing/testReports";
import { WorkflowLearner } from "./workflowLearner";

/** Calls that are each a whole program. */
function alone(learner: WorkflowLearner, agent: string, { count = 1, model = "model", seconds = 1, outputTokens = 10 }): void {
  for (let at = 0; at < count; at += 1)
    learner.finishAlone(testCall({ application: "app", agent, model, arrivedSeconds: 0, finishedSeconds: seconds, outputTokens }));
}

test("an agent is forecast by the times of all agents until its own have converged, and by its own calls from the fourth on", () => {
  const learner = new WorkflowLearner();
  reports(learner, 40);
  for (let count = 1; count <= 8; count += 1) {
    alone(learner, "new", { seconds: 100 });
    const own = learner.forecast("app/new", "model");
    const all = learner.forecast("app/never met", "model");
    if (count < 4) expect(own).toEqual({ ...all, agent: "app/new" });
    else if (count < 8) expect(own).toEqual({ ...all, agent: "app/new", remainingCalls: 1 });
    else expect(own).toMatchObject({ distanceSeconds: 100, remainingCalls: 1, requestSeconds: 100 });
    expect(all?.requestSeconds).toBeLessThan(4);
    expect(all?.remainingCalls).toBeGreaterThan(1);
  }
});

test("at a model where an agent was hardly met it is forecast by what all agents took there, and at a new model by what they took anywhere", () => {
  const learner = new WorkflowLearner();
  alone(learner, "writer", { count: 100, model: "large", seconds: 2 });
  alone(learner, "others", { count: 100, model: "small", seconds: 5 });
  alone(learner, "others", { count: 1000, model: "large", seconds: 1 });
  alone(learner, "writer", { count: 3, model: "small", seconds: 9 });
  const secondsAt = (model: string) => learner.forecast("app/writer", model)?.requestSeconds;
  expect(["large", "small", "new"].map(secondsAt)).toEqual([2, 5, 1]);
  alone(learner, "writer", { count: 5, model: "small", seconds: 9 });
  expect(secondsAt("small")).toBe(9);
});

test("an engine writes as fast as half of its answers came, whatever the fastest and the slowest", () => {
  const learner = new WorkflowLearner();
  for (const outputTokens of [3, 1000, 7, 5, 40]) alone(learner, "writer", { outputTokens });
  expect(learner.forecast("app/writer", "model")?.tokensPerSecond).toBe(7);
});
