import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSeriesRing } from "./seriesRing";

const ROWS = 7;

/** One round: its time, and which of some series have which value in it. */
const round = fc.record({
  stepMs: fc.integer({ min: -3, max: 5 }).filter((step) => step !== 0),
  values: fc.uniqueArray(
    fc.record({
      subject: fc.constantFrom("engine:a", "gpu:n/0"),
      quantity: fc.constantFrom("running", "kvUse"),
      value: fc.option(fc.integer()),
    }),
    { minLength: 1, selector: ({ subject, quantity }) => `${subject} ${quantity}` },
  ),
});

describe("series ring", () => {
  it("holds the last rounds as they came, with a gap wherever a series had no value, also where the clock was set back", () => {
    fc.assert(
      fc.property(fc.array(round, { maxLength: 40 }), (rounds) => {
        const ring = createSeriesRing({ rows: ROWS, maxSeries: 4 });
        const seen: { atMs: number; values: Map<string, number> }[] = [];
        let atMs = 1000;
        for (const { stepMs, values } of rounds) {
          atMs += stepMs;
          const known = new Map<string, number>();
          for (const { subject, quantity, value } of values) {
            ring.append(atMs, subject, quantity, value);
            known.set(`${subject} ${quantity}`, value === null ? Number.NaN : Math.fround(value));
          }
          seen.push({ atMs, values: known });
        }
        const kept = seen.slice(-ROWS);
        expect(ring.times()).toEqual(kept.map((one) => one.atMs));
        expect(ring.sinceMs()).toBe(Math.min(...kept.map((one) => one.atMs)));
        for (const key of ring.keys()) {
          const naive = kept.map(({ values }) => values.get(`${key.subject} ${key.quantity}`) ?? Number.NaN);
          expect([...ring.values(key)]).toEqual(naive);
        }
      }),
    );
  });

  it("gives up the series that was silent longest when there is no room for a new one, and counts it", () => {
    const ring = createSeriesRing({ rows: 20, maxSeries: 2 });
    ring.append(1, "engine:old", "running", 1);
    for (let at = 1; at < 20; at += 1) ring.append(at, "engine:alive", "running", at);
    ring.append(20, "engine:new", "running", 5);
    expect(ring.keys().map(({ subject }) => subject)).toEqual(["engine:alive", "engine:new"]);
    expect(ring.dropped()).toEqual({ series: 1, values: 0 });
    expect(ring.has({ subject: "engine:old", quantity: "running" })).toBe(false);
  });

  it("does not give up a series that is alive: what there is no room for is counted and not taken", () => {
    const ring = createSeriesRing({ rows: 20, maxSeries: 2 });
    for (let at = 1; at < 30; at += 1) for (const subject of ["engine:c", "engine:a", "engine:b"]) ring.append(at, subject, "running", at);
    expect(ring.keys().map(({ subject }) => subject)).toEqual(["engine:c", "engine:a"]);
    expect(ring.dropped()).toEqual({ series: 0, values: 29 });
  });

  it("keeps no more memory than its bound, however many series come and go", () => {
    const ring = createSeriesRing({ rows: 100, maxSeries: 16 });
    for (let at = 0; at < 2_000; at += 1) ring.append(at, `engine:${Math.floor(at / 20)}`, `quantity${at % 3}`, at);
    expect(ring.bytes()).toBe(100 * 8 + 16 * 100 * 4);
    expect(ring.dropped().series).toBeGreaterThan(200);
  });

  it("has no value of an earlier turn where a series vanished and came back", () => {
    const ring = createSeriesRing({ rows: 4, maxSeries: 2 });
    for (let at = 0; at < 20; at += 1) {
      ring.append(at, "gateway", "requestsPerSecond", at);
      if (at < 3 || at === 17) ring.append(at, "engine:a", "running", at);
    }
    expect([...ring.values({ subject: "engine:a", quantity: "running" })]).toEqual([Number.NaN, 17, Number.NaN, Number.NaN]);
  });
});
