import { expect, it } from "vitest";
import { sequenceLimit } from "./engineCounters";

it("takes the most that ran beside waiting requests as the engine's limit only where it was reached twice", () => {
  expect(sequenceLimit([16, 12, 16])).toBe(16);
  expect(sequenceLimit([16, 16, 19])).toBeNull();
  expect(sequenceLimit([19])).toBeNull();
  expect(sequenceLimit([])).toBeNull();
});
