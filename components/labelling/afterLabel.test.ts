import { expect, it } from "vitest";
import { afterLabel } from "./afterLabel";

const task = (index: number) => ({ index, messages: [{ role: "user", text: "?" }], reference: null, answers: ["!"] });

it("goes on to the task that is known to come next, and counts", () => {
  const first = afterLabel({ task: task(3), after: task(7), labelled: 4, advised: 50 });
  expect(first).toEqual({ task: task(7), after: null, labelled: 5, advised: 50 });
  const second = afterLabel(first);
  expect(second).toEqual({ task: null, after: null, labelled: 6, advised: 50 });
  expect(afterLabel(second)).toBe(second);
});
