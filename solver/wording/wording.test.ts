import { expect, it } from "vitest";
import { PLANNED_LOAD } from "../engine/plannedLoad";
import { boundText, cascadeText, exactSecondsText, loadSays, secondsText, significantText, tokenPriceText } from "./wording";

it("says of a load what it means for a plan: planned for, over what is, or more than there can be", () => {
  expect(loadSays(0.754)).toBe("75 %");
  expect(loadSays(PLANNED_LOAD)).toBe("90 %");
  expect(loadSays(0.93)).toBe("93 %: over the 90 % that is planned for");
  expect(loadSays(1.01)).toBe("unstable: overloaded");
});

it("words times below a tenth of a second in milliseconds, where hundredths of a second would tell nothing", () => {
  expect([0.031, 0.0043, 0.0996, 0.1, 1.236, 14.26].map(secondsText)).toEqual(["31 ms", "4.3 ms", "100 ms", "0.10 s", "1.24 s", "14.3 s"]);
  // A value that is offered for a setting is worded exactly.
  expect([0.0326, 0.4, 12].map(exactSecondsText)).toEqual(["32.6 ms", "0.4 s", "12 s"]);
});

it("gives three digits of a number, however small or large, without an exponent", () => {
  expect([0, 0.012345, 0.0000001234, 2.5, 86.14, 1234.5].map(significantText)).toEqual([
    "0",
    "0.0123",
    "0.000000123",
    "2.5",
    "86.1",
    "1230",
  ]);
});

it("never says of a lower bound more than is held", () => {
  expect([61.99, 62, 62.04].map(boundText)).toEqual(["61.9", "62.0", "62.0"]);
});

it("writes a cascade as its models with the thresholds between them, and models without thresholds as a list", () => {
  expect(cascadeText({ stages: ["8b", "70b"], thresholds: [84] })).toBe("8b <84→ 70b");
  expect(cascadeText({ stages: ["8b", "70b"], thresholds: [] })).toBe("8b, 70b");
});

it("words prices of tokens with what they are planned for", () => {
  const models = [
    { model: "small", secondsPerToken: 0.00021, waiting: 0.1 },
    { model: "large", secondsPerToken: 0.00345, waiting: 1.2345 },
  ];
  expect(tokenPriceText(models)).toBe("small 0.21 ms and large 3.45 ms a token while 0.1 and 1.23 requests wait");
});
