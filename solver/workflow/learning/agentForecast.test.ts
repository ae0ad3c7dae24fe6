import { expect, test } from "vitest";
import { reports } from "../testing/testReports";
import { PublishedForecasts } from "./agentForecast";
import { WorkflowLearner } from "./workflowLearner";

test("all calls of an agent have one forecast at a time: what is learnt counts from the next publication on", () => {
  const learner = new WorkflowLearner();
  const published = new PublishedForecasts((agentKey, model) => learner.forecast(agentKey, model));
  const writer = () => published.of("report/writer", "model");
  expect(writer()).toBeUndefined();
  reports(learner, 40);
  learner.refreshLine();
  expect(writer()).toBeUndefined();
  const before = published.revision;
  published.publish();
  expect(published.revision).toBeGreaterThan(before);
  const first = writer();
  expect(first).toMatchObject({ agent: "report/writer", requestSeconds: 3 });
  reports(learner, 600, { from: 10_000, slower: 4 });
  expect(writer()).toBe(first);
  published.publish();
  expect(writer()).toMatchObject({ requestSeconds: 12 });
  expect(published.of("report/writer", "other-model")).not.toEqual(writer());
});
