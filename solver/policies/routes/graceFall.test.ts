import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Grace } from "../../plan/grace";
import { fallAfter, type GraceFall, noFall } from "./graceFall";

const someGrace = fc
  .record({
    waiting: fc.integer({ min: 1, max: 40 }),
    calmShare: fc.double({ min: 0, max: 0.99, noNaN: true }),
    holdSeconds: fc.double({ min: 1, max: 20, noNaN: true }),
    pointsPerSecond: fc.integer({ min: 1, max: 10 }),
  })
  .map(({ calmShare, ...rest }): Grace => ({ ...rest, calm: Math.floor(calmShare * rest.waiting) }));
const someMost = fc.integer({ min: 0, max: 60 });

interface Span {
  readonly waiting: number;
  readonly seconds: number;
}
const someSpans = fc.array(fc.record({ waiting: fc.integer({ min: 0, max: 80 }), seconds: fc.double({ min: 0, max: 15, noNaN: true }) }), {
  minLength: 1,
  maxLength: 40,
});

/** The falls after each span, the first of which begins at 0. */
function fallsOf(spans: readonly Span[], grace: Grace, most: number): readonly GraceFall[] {
  let fall = fallAfter(noFall, { waiting: 0, untilSeconds: 0 }, grace, most);
  let untilSeconds = 0;
  return spans.map(({ waiting, seconds }) => {
    untilSeconds += seconds;
    fall = fallAfter(fall, { waiting, untilSeconds }, grace, most);
    return fall;
  });
}

/** Spans of at most so many seconds, with the same queues. */
const cutInto = (spans: readonly Span[], seconds: number): readonly Span[] =>
  spans.flatMap((span) => {
    const pieces = Math.max(1, Math.ceil(span.seconds / seconds));
    return Array.from({ length: pieces }, () => ({ waiting: span.waiting, seconds: span.seconds / pieces }));
  });

describe("the fall of a threshold under overload", () => {
  it("is never negative, never beyond the approved range, and says since when unless it is 0", () => {
    fc.assert(
      fc.property(someGrace, someMost, someSpans, (grace, most, spans) => {
        for (const { points, sinceSeconds } of fallsOf(spans, grace, most)) {
          expect(points).toBeGreaterThanOrEqual(0);
          expect(points).toBeLessThanOrEqual(most);
          expect(sinceSeconds === null).toBe(points === 0);
        }
      }),
    );
  });

  it("moves by no more than its points each second, and one step more", () => {
    fc.assert(
      fc.property(someGrace, someMost, someSpans, (grace, most, spans) => {
        let before = 0;
        for (const [at, { points }] of fallsOf(spans, grace, most).entries()) {
          const steps = Math.floor(spans[at]?.seconds ?? 0) + 1;
          expect(Math.abs(points - before)).toBeLessThanOrEqual(steps * grace.pointsPerSecond);
          before = points;
        }
      }),
    );
  });

  it("is no smaller where at every moment at least as many wait", () => {
    const pairs = fc.array(
      fc.record({
        waiting: fc.integer({ min: 0, max: 80 }),
        more: fc.integer({ min: 0, max: 40 }),
        seconds: fc.double({ min: 0, max: 15, noNaN: true }),
      }),
      { minLength: 1, maxLength: 60 },
    );
    fc.assert(
      fc.property(someGrace, someMost, pairs, (grace, most, spans) => {
        const short = fallsOf(spans, grace, most);
        const long = fallsOf(
          spans.map(({ waiting, more, seconds }) => ({ waiting: waiting + more, seconds })),
          grace,
          most,
        );
        for (const [at, { points }] of short.entries()) expect(long[at]?.points).toBeGreaterThanOrEqual(points);
      }),
      { numRuns: 500 },
    );
  });

  it("is 0 again once queues have been short for long enough, whatever was before", () => {
    fc.assert(
      fc.property(someGrace, someMost, someSpans, (grace, most, spans) => {
        const seconds = grace.holdSeconds + most + 1;
        const last = fallsOf([...spans, { waiting: grace.calm, seconds }], grace, most).at(-1);
        expect(last).toMatchObject({ points: 0, sinceSeconds: null });
      }),
    );
  });

  it("stays while the queue is between its two bounds", () => {
    fc.assert(
      fc.property(someGrace, someMost, someSpans, (grace, most, spans) => {
        const [before, after] = fallsOf([...spans, { waiting: grace.waiting, seconds: 1000 }], grace, most).slice(-2);
        if (before !== undefined && after !== undefined && grace.calm < grace.waiting) expect(after.points).toBe(before.points);
      }),
    );
  });

  it("returns no sooner after a step down than the hold time", () => {
    fc.assert(
      fc.property(someGrace, someMost, someSpans, (grace, most, spans) => {
        const fine = cutInto(spans, 0.25);
        let [atSeconds, fellAtSeconds, before] = [0, Number.NEGATIVE_INFINITY, 0];
        for (const [at, { points }] of fallsOf(fine, grace, most).entries()) {
          const begunSeconds = atSeconds;
          atSeconds += fine[at]?.seconds ?? 0;
          if (points < before) expect(atSeconds - fellAtSeconds).toBeGreaterThanOrEqual(grace.holdSeconds - 1e-9);
          if (points > before) fellAtSeconds = begunSeconds;
          before = points;
        }
      }),
    );
  });

  it("does not depend on how often it is asked", () => {
    // Times that add up without rounding.
    const whole = someSpans.map((spans) => spans.map((span) => ({ ...span, seconds: Math.round(4 * span.seconds) / 4 })));
    const wholeGrace = someGrace.map((grace) => ({ ...grace, holdSeconds: Math.ceil(grace.holdSeconds) }));
    fc.assert(
      fc.property(wholeGrace, someMost, whole, (grace, most, spans) => {
        const pieces = spans.flatMap(({ waiting, seconds }) =>
          seconds === 0 ? [{ waiting, seconds }] : Array.from({ length: 4 * seconds }, () => ({ waiting, seconds: 0.25 })),
        );
        expect(fallsOf(pieces, grace, most).at(-1)).toEqual(fallsOf(spans, grace, most).at(-1));
      }),
    );
  });
});
