import { expect, it } from "vitest";
import { afterTask } from "./useLabelling";

const task = (index: number) => ({ index, messages: [{ role: "user", text: "?" }], reference: null, answers: ["!"] });

it("goes on to the task that is known to come next, and counts", () => {
  const first = afterTask({ task: task(3), after: task(7), labelled: 4, skipped: 0, advised: 50 }, "labelled");
  expect(first).toEqual({ task: task(7), after: null, labelled: 5, skipped: 0, advised: 50 });
  const second = afterTask(first, "skipped");
  expect(second).toEqual({ task: null, after: null, labelled: 5, skipped: 1, advised: 50 });
  expect(afterTask(second, "labelled")).toBe(second);
});
