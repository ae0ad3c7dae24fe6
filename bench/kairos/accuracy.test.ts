import fc from "fast-check";
import { expect, test } from "vitest";
import { orderAccuracy } from "./accuracy";
import type { ObservedProgram } from "./observedPrograms";

/** Sequential calls, each with an agent and its duration. */
const chain = (programId: string, calls: readonly (readonly [agent: string, seconds: number])[]): ObservedProgram => {
  let atSeconds = 0;
  return calls.map(([agent, seconds], at) => {
    const startSeconds = atSeconds;
    atSeconds += seconds;
    return {
      ...{ id: `${programId}/${at}`, programId, application: "test", agent, upstream: at === 0 ? [] : [calls[at - 1]![0]] },
      ...{ model: "any", failed: false, inputTokens: 10, outputTokens: 10 },
      ...{ arrivedSeconds: startSeconds, dispatchedSeconds: startSeconds, finishedSeconds: atSeconds },
    };
  });
};

test("where every agent's programs have as long to go every time, what is learnt orders all pairs rightly, and arrival about half", () => {
  const programs = Array.from({ length: 200 }, (_, at) =>
    chain(`program ${at}`, [
      ["planner", 1],
      ["writer", 5],
      ["critic", 2],
    ]),
  );
  const { line, mean, median, depth, arrival, trueMean, bound } = orderAccuracy(programs, 1);
  expect([line, mean, median, depth, trueMean, bound]).toEqual([1, 1, 1, 1, 1, 1]);
  expect(Math.abs(arrival - 0.5)).toBeLessThan(0.1);
});

test("an agent that goes on longer the fewer calls it has yet to make is ordered wrongly by their number alone", () => {
  const programs = Array.from({ length: 60 }, (_, at) => [
    chain(`long ${at}`, [["essayist", 30]]),
    chain(`short ${at}`, [
      ["router", 1],
      ["expert", 2],
    ]),
  ]).flat();
  const { line, depth } = orderAccuracy(programs, 1);
  expect(line).toBe(1);
  expect(depth).toBeLessThan(0.7);
});

test("no order of agents exceeds the bound, and every share lies in 0..1", () => {
  const call = fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.integer({ min: 1, max: 50 }));
  fc.assert(
    fc.property(fc.array(fc.array(call, { minLength: 1, maxLength: 6 }), { minLength: 8, maxLength: 20 }), (drawn) => {
      const programs = drawn.map((calls, at) => chain(`program ${at}`, calls));
      const found = orderAccuracy(programs, 1);
      // All calls may be of one agent.
      if (Number.isNaN(found.line)) return;
      for (const share of [found.line, found.mean, found.median, found.depth, found.trueMean]) {
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(found.bound + 1e-9);
      }
    }),
    { numRuns: 100 },
  );
});
