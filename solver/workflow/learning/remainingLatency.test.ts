import fc from "fast-check";
import { expect, test } from "vitest";
import { testCall } from "../testing/testCall";
import { remainingLatency } from "./remainingLatency";

const call = (arrivedSeconds: number, dispatchedSeconds: number, finishedSeconds: number) =>
  testCall({ agent: "a", arrivedSeconds, dispatchedSeconds, finishedSeconds });

test("it runs from dispatch to the program's last answer; what the client does between calls counts, waiting in queues does not", () => {
  expect([...remainingLatency([call(0, 2, 5), call(5, 9, 10), call(13, 13, 14)])]).toEqual([14 - 2 - 4, 14 - 9, 1]);
});

test("waiting counts while another call of the program is served, and while the client is busy with nothing under way", () => {
  // The second waits from 1 to 8: to 4 in parallel with the first, which is served, then alone.
  expect([...remainingLatency([call(0, 0, 4), call(1, 8, 10)])]).toEqual([10 - 4, 2]);
  // Nothing is in flight from 4 to 6.
  expect([...remainingLatency([call(0, 0, 4), call(6, 8, 10)])]).toEqual([10 - 2, 2]);
});

test("whatever the order of calls, it is what the seconds of the program add up to", () => {
  const anyCall = fc.tuple(fc.nat(20), fc.nat(6), fc.nat(6)).map(([at, wait, length]) => call(at, at + wait, at + wait + length));
  fc.assert(
    fc.property(fc.array(anyCall, { minLength: 1, maxLength: 8 }), (calls) => {
      const last = Math.max(...calls.map(({ finishedSeconds }) => finishedSeconds));
      const held = (second: number): boolean => {
        const underWay = calls.filter(({ arrivedSeconds, finishedSeconds }) => arrivedSeconds <= second && second < finishedSeconds);
        return underWay.length > 0 && underWay.every(({ dispatchedSeconds }) => second < dispatchedSeconds);
      };
      const counted = (from: number): number => {
        let seconds = 0;
        for (let second = from; second < last; second += 1) if (!held(second)) seconds += 1;
        return seconds;
      };
      expect([...remainingLatency(calls)]).toEqual(calls.map(({ dispatchedSeconds }) => counted(dispatchedSeconds)));
    }),
  );
});
