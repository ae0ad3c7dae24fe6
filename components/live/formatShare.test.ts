import { expect, it } from "vitest";
import { formatShare } from "./formatShare";

it("calls a share none only where it is none", () => {
  expect([0, 0.0004, 0.0049, 0.005, 0.714, null].map(formatShare)).toEqual([
    "0\u00a0%",
    "<1\u00a0%",
    "<1\u00a0%",
    "1\u00a0%",
    "71\u00a0%",
    "–",
  ]);
});
