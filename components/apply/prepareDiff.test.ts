import { expect, it } from "vitest";
import type { DiffLine } from "@/server/contracts/studio";
import { prepareDiff } from "./prepareDiff";

const line = (of: DiffLine["of"], sign: DiffLine["sign"], subject: string): DiffLine => ({ of, sign, subject, text: "" });

it("keeps single engines apart from what the plan changes, so that no change is read twice", () => {
  const shown = prepareDiff([
    line("plan", "~", "small"),
    line("plan", "=", "judge"),
    line("engine", "+", "small-a"),
    line("engine", "+", "small-b"),
    line("engine", "=", "large-a"),
  ]);
  expect(shown.changed.map((each) => each.subject)).toEqual(["small"]);
  expect(shown.unchanged.map((each) => each.subject)).toEqual(["judge"]);
  expect(shown.enginesText).toBe("2 added, 1 unchanged");
});

it("has no words for engines where there are none", () => {
  expect(prepareDiff([line("plan", "=", "judge")])).toMatchObject({ changed: [], engines: [], enginesText: "" });
});
