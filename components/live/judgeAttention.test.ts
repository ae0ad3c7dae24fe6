import { expect, it } from "vitest";
import type { JudgeHealth, LiveFrame } from "@/server/contracts/studio";
import { prepareAttention } from "./engines/prepareAttention";
import { testFrame } from "./testing/testFrame";

const NOW = 1_000_000;
const health: JudgeHealth = {
  ...{ model: "our-judge", state: "answering", reason: "", scored: 10, failed: 0 },
  ...{ lastScoreAt: new Date(NOW).toISOString(), lastFailureAt: null },
};
const frameOf = (judge: JudgeHealth | null, agoMs = 0): LiveFrame => {
  const frame = testFrame({ atMs: NOW - agoMs, engines: [] });
  return { ...frame, gateway: { ...frame.gateway, judge } };
};

it("names a judge that is not called any more, since when and why, and none that gives scores", () => {
  expect(prepareAttention([frameOf(null)])).toEqual([]);
  expect(prepareAttention([frameOf(health)])).toEqual([]);
  expect(prepareAttention([frameOf({ ...health, state: "failing", reason: "the judge answered 500" })])).toEqual([]);
  const open = { ...health, state: "circuit-open", reason: "the judge answered 500" } as const;
  const [problem] = prepareAttention([frameOf(health, 60_000), frameOf(open, 30_000), frameOf(open)]);
  expect(problem).toMatchObject({ subject: "our-judge", tone: "bad", word: "not called", when: { text: "for 30\u00a0s" } });
  expect(problem?.text).toContain("the judge answered 500");
});
