import { expect, it } from "vitest";
import { choiceOf, labelChoices } from "./labelChoices";

it("gives five steps from 0 to 100 by the digits, and the two ends by letters too", () => {
  expect(["1", "2", "3", "4", "5", "w", "r"].map((key) => choiceOf("one", key)?.quality)).toEqual([0, 25, 50, 75, 100, 0, 100]);
  expect(choiceOf("one", "ArrowLeft")).toBeNull();
});

it("gives 100 where the first of two is better, which stands left", () => {
  expect(["ArrowLeft", "=", "ArrowRight"].map((key) => choiceOf("two", key)?.quality)).toEqual([100, 50, 0]);
  expect(choiceOf("two", "1")).toBeNull();
});

it("gives no key two meanings", () => {
  for (const choices of Object.values(labelChoices)) {
    const presses = choices.flatMap((choice) => choice.presses);
    expect(new Set([...presses, "s", "u"]).size).toBe(presses.length + 2);
  }
});
