import { expect, it } from "vitest";
import { MOST_PAIRS, prepareWaitTimes } from "./prepareWaitTimes";

it("tells shares of all waiting, and how many records do not say who or when", () => {
  const pairs = Array.from({ length: 20 }, (_, at) => ({ waiter: `a/w${at}`, ahead: null, passes: 2, seconds: 4 }));
  const told = prepareWaitTimes({ records: 50, waited: { pairs, waitedSeconds: 100, roomSeconds: 20, untimed: 3, unnamed: 7 } }, false);
  expect(told.rows).toHaveLength(MOST_PAIRS);
  expect(told.left).toBe(20 - MOST_PAIRS);
  expect(told.rows[0]).toMatchObject({
    waiter: "w0 of a",
    ahead: "unnamed",
    passes: "2",
    seconds: "4.00\u00a0s",
    share: "4\u00a0%",
    part: 0.04,
  });
  expect(told.says).toContain("20\u00a0% of it for a free slot");
  const none = { pairs: [], waitedSeconds: 0.0002, roomSeconds: 0.0002, untimed: 0, unnamed: 0 };
  expect(prepareWaitTimes({ records: 9, waited: none }, false)).toMatchObject({
    says: "None of the newest 9 requests waited.",
    lacks: null,
  });
  expect(told.lacks).toBe("7 of 50 do not name the agent, 3 have no time.");
});
