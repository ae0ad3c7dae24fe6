import { expect, it } from "vitest";
import { erasedSentence, prepareErasure } from "./prepareErasure";

const draft = { of: "user", name: " carol ", typed: "Erase ", reason: "she asked" } as const;

it("asks for an erasure once a name is given and the word is typed", () => {
  expect(prepareErasure(draft)).toEqual({ of: { user: " carol " }, reason: "she asked" });
  expect(prepareErasure({ ...draft, of: "key", name: "ann" })).toEqual({ of: { key: "ann" }, reason: "she asked" });
  for (const missing of [{ typed: "" }, { typed: "erase all" }, { name: " " }]) expect(prepareErasure({ ...draft, ...missing })).toBeNull();
});

it("says what was deleted, and which samples are left because they are in use", () => {
  expect(erasedSentence({ prompts: 1200, samples: ["a"], inUse: [] })).toBe("1,200 prompts at the gateway and 1 sample deleted.");
  expect(erasedSentence({ prompts: 1, samples: [], inUse: ["b", "c"] })).toBe(
    "1 prompt at the gateway and 0 samples deleted. Still in use, and not deleted: b, c. End what asks them, and erase again.",
  );
});
