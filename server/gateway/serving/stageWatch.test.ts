import { expect, it } from "vitest";
import { StageWatch } from "./stageWatch";

it("notes a lost stage once, and none any more when it is closed", () => {
  const noted: string[] = [];
  const serving = { cascade: { models: ["small", "large"] }, pool: { isLost: (model: string) => model === "small" } };
  const watch = new StageWatch({
    serving: serving as unknown as ConstructorParameters<typeof StageWatch>[0]["serving"],
    note: ({ action }) => noted.push(action),
  });
  watch.look();
  watch.look();
  expect(noted).toEqual(["stage lost"]);
  watch.close();
  watch.look();
  expect(noted).toEqual(["stage lost"]);
});
