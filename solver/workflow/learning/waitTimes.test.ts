import fc from "fast-check";
import { expect, test } from "vitest";
import { type WaitingRecord, waitTimes } from "./waitTimes";

const record = (agent: string | undefined, queued: number, dispatched: number, model = "m"): WaitingRecord => ({
  agent,
  stages: [{ model, at: { queued, dispatched } }],
});

test("each piece of a wait counts for the one whose dispatch ends it, and the last for room", () => {
  const { pairs, waitedSeconds, roomSeconds } = waitTimes([record("a", 0, 10), record("b", 2, 3), record("c", 1, 7), record("b", 9, 12)]);
  const of = (waiter: string, ahead: string) => pairs.find((pair) => pair.waiter === waiter && pair.ahead === ahead);
  expect(of("a", "b")).toMatchObject({ passes: 1, seconds: 3 });
  expect(of("a", "c")).toMatchObject({ passes: 1, seconds: 4 });
  expect(of("c", "b")).toMatchObject({ passes: 1, seconds: 2 });
  expect(of("b", "a")).toMatchObject({ passes: 1, seconds: 1 });
  expect(pairs).toHaveLength(4);
  expect(waitedSeconds).toBe(10 + 1 + 6 + 3);
  expect(roomSeconds).toBe(3 + 1 + 4 + 2);
});

test("only dispatches to the same model count", () => {
  expect(waitTimes([record("a", 0, 10, "small"), record("b", 1, 2, "large")]).pairs).toEqual([]);
});

test("records without times or agents are counted, and unnamed agents stand in line like others", () => {
  const found = waitTimes([record("a", 0, 4), record(undefined, 1, 2), { agent: "b", stages: [{ model: "m" }] }, { stages: [] }]);
  expect(found).toMatchObject({ untimed: 2, unnamed: 2, pairs: [{ waiter: "a", ahead: null, passes: 1, seconds: 2 }] });
});

test("pieces and waiting for room add up to all waiting, and no pair is charged below zero", () => {
  const time = fc.integer({ min: 0, max: 60 });
  const any = fc
    .record({ agent: fc.constantFrom("a", "b", "c", undefined), model: fc.constantFrom("m", "n"), from: time, wait: time })
    .map(({ agent, model, from, wait }) => record(agent, from, from + wait, model));
  fc.assert(
    fc.property(fc.array(any, { maxLength: 40 }), (records) => {
      const { pairs, waitedSeconds, roomSeconds } = waitTimes(records);
      for (const { seconds, passes } of pairs) {
        expect(seconds).toBeGreaterThanOrEqual(0);
        expect(passes).toBeGreaterThan(0);
      }
      expect(pairs.reduce((sum, { seconds }) => sum + seconds, roomSeconds)).toBeCloseTo(waitedSeconds, 9);
      const within = records.flatMap((one) =>
        records.filter((other) => {
          const [own, its] = [one.stages[0], other.stages[0]];
          if (own?.at === undefined || its?.at === undefined || own.model !== its.model) return false;
          return its.at.dispatched > own.at.queued && its.at.dispatched < own.at.dispatched;
        }),
      );
      expect(pairs.reduce((sum, { passes }) => sum + passes, 0)).toBe(within.length);
    }),
  );
});
