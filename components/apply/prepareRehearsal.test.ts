import { expect, it } from "vitest";
import type { ApplyStep } from "@/server/contracts/studio";
import { prepareRehearsal } from "./prepareRehearsal";

const step = (id: string): ApplyStep => ({
  ...{ id, kind: "start", text: `Start ${id}`, state: "waiting", detail: "", startedAt: null, endedAt: null, engineId: null },
});

it("puts what would fail first and counts it, and says that nothing was written", () => {
  const shown = prepareRehearsal(
    [
      { stepId: "1", ok: true, says: "accepted" },
      { stepId: "2", ok: false, says: "the node is full" },
    ],
    [step("1"), step("2")],
  );
  expect(shown.steps.map(({ name, ok }) => [name, ok])).toEqual([
    ["Step 2", false],
    ["Step 1", true],
  ]);
  expect(shown.says).toBe("1 of 2 steps would fail. Nothing was written.");
});

it("says so where nothing stands in the way, and where there is nothing to do", () => {
  expect(prepareRehearsal([{ stepId: "1", ok: true, says: "" }], [step("1")]).says).toContain("1 step rehearsed");
  expect(prepareRehearsal([], []).says).toContain("nothing changes");
});
