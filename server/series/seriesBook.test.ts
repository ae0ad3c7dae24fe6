import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SeriesColumns, SeriesRange } from "@/server/contracts/studio/seriesRange";
import { openStore, type Store } from "@/server/store/store";
import { createSeriesBook, type SeriesBookOptions } from "./seriesBook";

/** The longest that a timer takes. */
const NEVER_MS = 2 ** 31 - 1;
const START_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const RUNNING = { subject: "engine:a", quantity: "running" };
const KV_USE = { subject: "engine:a", quantity: "kvUse" };

describe("series book", () => {
  let folder: string;
  let store: Store;
  let nowMs = START_MS;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-series-"));
    store = openStore(folder);
    nowMs = START_MS;
  });
  afterEach(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });

  const open = (options: Partial<SeriesBookOptions> = {}) =>
    createSeriesBook({ clusterId: "c", repository: store.rollUps, now: () => nowMs, flushMs: NEVER_MS, ...options });

  /** A minute and more of seconds, each with its number in it. */
  function fill(book: ReturnType<typeof open>, seconds: number, valueAt: (second: number) => number | null = (second) => second): void {
    const first = (nowMs - START_MS) / 1000;
    for (let second = first; second < first + seconds; second += 1) {
      nowMs = START_MS + second * 1000;
      book.append(nowMs, RUNNING.subject, RUNNING.quantity, valueAt(second));
    }
    nowMs += 1000;
  }

  it("answers as plain lists of samples would, over whatever rounds and range", async () => {
    const rounds = fc.array(
      fc.record({
        stepMs: fc.constantFrom(1000, 1000, 1000, 990, 1010, 20_000, -5_000),
        value: fc.option(fc.integer({ min: -9, max: 9 })),
      }),
      { minLength: 1, maxLength: 60 },
    );
    const window = fc.record({
      fromMs: fc.integer({ min: 0, max: 100_000 }),
      insideMs: fc.integer({ min: 0, max: 999 }),
      lengthMs: fc.integer({ min: 1, max: 300_000 }),
      bucketMs: fc.constantFrom(1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 600_000),
    });
    await fc.assert(
      fc.asyncProperty(rounds, window, async (steps, { fromMs, insideMs, lengthMs, bucketMs }) => {
        const book = open();
        const samples: { atMs: number; value: number | null }[] = [];
        let atMs = START_MS;
        for (const { stepMs, value } of steps) {
          atMs += stepMs;
          book.append(atMs, RUNNING.subject, RUNNING.quantity, value);
          samples.push({ atMs, value });
        }
        const least = Math.min(...samples.map((sample) => sample.atMs));
        const beginMs = Math.ceil((least + fromMs) / bucketMs) * bucketMs + insideMs;
        const range = { fromMs: beginMs, toMs: beginMs + lengthMs, bucketMs };
        const answer = await book.range({ ...range, series: [RUNNING] });
        expect(rowsOf(answer)).toEqual(naive(samples, range));
        expect(answer.atMs.every((startMs) => startMs % bucketMs === 0)).toBe(true);
      }),
    );
  });

  it("shows a target that says nothing as a gap, and a studio that did not collect as one gap, never as zero", async () => {
    const book = open();
    fill(book, 10, (second) => (second === 4 ? null : 7));
    nowMs += 60_000;
    fill(book, 3, () => 8);
    const answer = await book.range({ fromMs: START_MS, toMs: nowMs, bucketMs: 1_000, series: [RUNNING, KV_USE] });
    expect(answer.series[0]?.last).toEqual([7, 7, 7, 7, null, 7, 7, 7, 7, 7, null, 8, 8, 8]);
    expect(answer.series[1]?.last.every((value) => value === null)).toBe(true);
    expect(answer.series[1]?.count.every((count) => count === 0)).toBe(true);
  });

  it.each([
    ["beyond what is kept", START_MS - 3_650 * DAY_MS, START_MS + 3_650 * DAY_MS],
    ["of time yet to come", START_MS + DAY_MS, START_MS + 3_650 * DAY_MS],
  ])("looks up no blocks %s, of a series of which it has none in memory", async (_, fromMs, toMs) => {
    const looked: number[] = [];
    const get: Store["rollUps"]["get"] = (place) => {
      looked.push(place.startMs);
      return store.rollUps.get(place);
    };
    const book = open({ repository: { ...store.rollUps, get } });
    fill(book, 3);
    await book.range({ fromMs, toMs, bucketMs: 10 * DAY_MS, series: [KV_USE] });
    expect(looked.filter((startMs) => startMs < START_MS - 32 * DAY_MS || startMs > START_MS + DAY_MS)).toEqual([]);
  });

  it("lets others have their turn while it looks through a month of which there is nothing", async () => {
    const book = open();
    let turns = 0;
    let turn = setImmediate(function count() {
      turns += 1;
      turn = setImmediate(count);
    });
    const series = ["b", "c", "d", "e"].map((id) => ({ subject: `engine:${id}`, quantity: "running" }));
    await book.range({ fromMs: START_MS - 30 * DAY_MS, toMs: START_MS, bucketMs: DAY_MS, series });
    clearImmediate(turn);
    expect(turns).toBeGreaterThan(10);
  });

  it.each([
    [500, 7_200],
    [1_000, 3_600],
    [5_000, 3_600],
  ])("keeps an hour or more of rounds every %d ms in memory, in the same room", (intervalMs, rows) => {
    const book = open({ intervalMs });
    for (let round = 0; round < 8_000; round += 1) book.append(START_MS + round * intervalMs, RUNNING.subject, RUNNING.quantity, round);
    const { series, bytes } = book.state();
    expect(series).toBe(1);
    expect(bytes).toBe(rows * (8 + 4));
  });

  it("reads on from the roll-ups after a restart, without a seam", async () => {
    const book = open();
    fill(book, 125);
    await book.close();
    store.close();
    store = openStore(folder);
    const again = open();
    fill(again, 100);
    const answer = await again.range({ fromMs: START_MS, toMs: nowMs, bucketMs: 30_000, series: [RUNNING] });
    const coarse = await again.range({ fromMs: START_MS, toMs: START_MS + 225_000, bucketMs: 10_000, series: [RUNNING] });
    const [running] = coarse.series as [SeriesColumns];
    expect(coarse.atMs).toEqual(Array.from({ length: 23 }, (_, at) => START_MS + at * 10_000));
    expect(running.count).toEqual([...Array(22).fill(10), 5]);
    expect(running.min).toEqual(Array.from({ length: 23 }, (_, at) => at * 10));
    expect(running.max).toEqual([...Array.from({ length: 22 }, (_, at) => at * 10 + 9), 224]);
    expect(running.last).toEqual(running.max);
    expect(running.mean.slice(0, 22)).toEqual(Array.from({ length: 22 }, (_, at) => at * 10 + 4.5));
    const total = answer.series[0]?.count.reduce((sum, count) => sum + count, 0);
    expect(total).toBe(225);
  });

  it("leaves out nothing of the first seconds, wherever the range begins", async () => {
    nowMs = START_MS + 3_000;
    const book = open();
    fill(book, 20);
    for (const fromMs of [START_MS, START_MS + 1_000, START_MS + 3_000]) {
      const answer = await book.range({ fromMs, toMs: nowMs, bucketMs: 1_000, series: [RUNNING] });
      expect(answer.series[0]?.count.reduce((sum, count) => sum + count, 0)).toBe(20);
    }
  });

  it("shows each second of a range that begins with the first sample, also where that opens a step of the roll-ups", async () => {
    nowMs = START_MS + 300;
    const book = open();
    const fromMs = nowMs;
    fill(book, 20);
    const answer = await book.range({ fromMs, toMs: nowMs, bucketMs: 1_000, series: [RUNNING] });
    expect(answer.series[0]?.count.slice(0, 20)).toEqual(Array(20).fill(1));
  });

  it("does not look up the hours since 1970", async () => {
    let looked = 0;
    const repository: typeof store.rollUps = {
      ...store.rollUps,
      get(place) {
        looked += 1;
        return store.rollUps.get(place);
      },
    };
    const book = open({ repository });
    fill(book, 5);
    const answer = await book.range({ fromMs: 0, toMs: nowMs, bucketMs: 86_400_000, series: [RUNNING, KV_USE] });
    expect(answer.series[0]?.count).toEqual([5]);
    expect(looked).toBeLessThan(800);
  });

  it("loses at most what came after the last writing when it is killed", async () => {
    const book = open();
    fill(book, 60);
    await book.flush();
    fill(book, 30);
    // No close: the process is gone.
    const again = open();
    fill(again, 1);
    const answer = await again.range({ fromMs: START_MS, toMs: START_MS + 60_000, bucketMs: 10_000, series: [RUNNING] });
    expect(answer.series[0]?.count).toEqual([10, 10, 10, 10, 10, 10]);
  });

  it("chooses the step by the range asked for and by what is kept", async () => {
    const book = open();
    fill(book, 120);
    await book.close();
    const again = open();
    const read = async (bucketMs: number) =>
      (await again.range({ fromMs: START_MS, toMs: START_MS + 120_000, bucketMs, series: [RUNNING] })).series[0];
    expect((await read(60_000))?.count).toEqual([60, 60]);
    expect((await read(10_000))?.count).toEqual(Array(12).fill(10));
    nowMs = START_MS + 3 * 86_400_000;
    // Of three days ago the minutes are left: two buckets, in a grid of twelve.
    expect((await read(10_000))?.count).toEqual([60, 60]);
  });

  it("drops roll-ups when they are older than each step is kept", async () => {
    const book = open();
    fill(book, 60);
    await book.flush();
    nowMs = START_MS + 3 * 86_400_000;
    fill(book, 1);
    await book.flush();
    const place = { clusterId: "c", subject: RUNNING.subject, startMs: START_MS };
    expect(store.rollUps.get({ ...place, stepSeconds: 10 })).toBeNull();
    expect(store.rollUps.get({ ...place, stepSeconds: 60 })).not.toBeNull();
    nowMs = START_MS + 31 * 86_400_000;
    fill(book, 1);
    await book.flush();
    expect(store.rollUps.get({ ...place, stepSeconds: 60 })).toBeNull();
  });

  it("goes on from what is kept when the clock is set back into a block that was closed", async () => {
    const book = open({ rows: 5 });
    fill(book, 20);
    nowMs = START_MS + 3_600_000;
    fill(book, 20);
    await book.flush();
    nowMs = START_MS + 10_000;
    fill(book, 10, () => 1000);
    const range = { fromMs: START_MS, toMs: START_MS + 20_000, bucketMs: 10_000, series: [RUNNING] };
    const both = { count: [10, 20], max: [9, 1000], min: [0, 10], last: [9, 1000] };
    expect((await book.range(range)).series[0]).toMatchObject(both);
    expect((await open().range(range)).series[0]?.count).toEqual([10, 10]);
    await book.flush();
    expect((await open().range(range)).series[0]).toMatchObject(both);
  });

  it("names the subjects of a range, those that are gone among them", async () => {
    const book = open();
    book.append(START_MS, "engine:gone", "running", 1);
    await book.close();
    const again = open();
    nowMs = START_MS + 7_200_000;
    again.append(nowMs, "engine:new", "running", 1);
    expect(await again.subjects(START_MS, START_MS + 60_000)).toEqual(["engine:gone"]);
    expect(await again.subjects(START_MS, nowMs + 1)).toEqual(["engine:gone", "engine:new"]);
    expect(await createSeriesBook({ clusterId: "other", repository: store.rollUps }).subjects(START_MS, nowMs + 1)).toEqual([]);
  });

  it("keeps what cannot be written, says so, and writes it when it can", async () => {
    let broken = true;
    const repository: typeof store.rollUps = {
      ...store.rollUps,
      write(rows, keep) {
        if (broken) throw new Error("database or disk is full");
        store.rollUps.write(rows, keep);
      },
    };
    const book = open({ repository });
    fill(book, 5);
    await book.flush();
    expect(book.state()).toMatchObject({
      waiting: 2,
      lost: 0,
      problem: "Telemetry of the last minutes is not written: database or disk is full.",
    });
    broken = false;
    await book.flush();
    expect(book.state()).toMatchObject({ waiting: 0, problem: null });
    expect((await open().range({ fromMs: START_MS, toMs: nowMs, bucketMs: 60_000, series: [RUNNING] })).series[0]?.count).toEqual([5]);
  });

  it("holds no more blocks than its bound while the store takes nothing", async () => {
    const repository: typeof store.rollUps = {
      ...store.rollUps,
      write() {
        throw new Error("no");
      },
    };
    const book = open({ repository });
    for (let hour = 0; hour < 50; hour += 1) {
      book.append(START_MS + hour * 3_600_000, "engine:a", "running", 1);
      await book.flush();
    }
    expect(book.state().waiting).toBeLessThanOrEqual(8);
    expect(book.state().lost).toBeGreaterThan(80);
  });

  it("takes a block that cannot be unpacked for an empty one", async () => {
    store.rollUps.write(
      [{ clusterId: "c", subject: RUNNING.subject, stepSeconds: 10, startMs: START_MS, data: Buffer.from("rubbish") }],
      [],
    );
    const book = open();
    fill(book, 5);
    await book.close();
    expect((await open().range({ fromMs: START_MS, toMs: nowMs, bucketMs: 60_000, series: [RUNNING] })).series[0]?.count).toEqual([5]);
  });

  it("keeps an hour of two levels of 30 engines in less than a megabyte of store", async () => {
    const book = open();
    for (let second = 0; second < 3_600; second += 1) {
      nowMs = START_MS + second * 1000;
      for (let engine = 0; engine < 30; engine += 1) {
        book.append(nowMs, `engine:${engine}`, "running", Math.floor((second * engine) / 7) % 40);
        book.append(nowMs, `engine:${engine}`, "kvCapacityTokens", 100_000);
      }
      if (second % 60 === 59) await book.flush();
    }
    await book.close();
    store.close();
    expect(statSync(join(folder, "weir.db")).size).toBeLessThan(900_000);
    store = openStore(folder);
  });
});

interface Row {
  readonly atMs: number;
  readonly values: readonly (number | null)[];
}

const rowsOf = ({ atMs, series: [one] }: SeriesRange): Row[] =>
  atMs.map((at, index) => ({
    atMs: at,
    values: [
      one?.count[index] ?? null,
      one?.min[index] ?? null,
      one?.max[index] ?? null,
      one?.mean[index] ?? null,
      one?.last[index] ?? null,
    ],
  }));

/** The same by filtering lists. */
function naive(
  samples: readonly { readonly atMs: number; readonly value: number | null }[],
  { fromMs, toMs, bucketMs: width }: { readonly fromMs: number; readonly toMs: number; readonly bucketMs: number },
): Row[] {
  const rows: Row[] = [];
  let before: number | null = null;
  let empty: number | null = null;
  for (let start = Math.floor(fromMs / width) * width; start < toMs; start += width) {
    const inside = samples.filter(({ atMs }) => atMs >= start && atMs < start + width);
    if (inside.length === 0) {
      empty ??= start;
      continue;
    }
    const first = Math.min(...inside.map(({ atMs }) => atMs));
    if (before !== null && empty !== null && first - before > 3_000) rows.push({ atMs: empty, values: [0, null, null, null, null] });
    const values = inside.flatMap(({ value }) => (value === null ? [] : [value]));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    rows.push({
      atMs: start,
      values:
        values.length === 0
          ? [0, null, null, null, null]
          : [values.length, Math.min(...values), Math.max(...values), mean, values.at(-1) ?? null],
    });
    before = Math.max(...inside.map(({ atMs }) => atMs));
    empty = null;
  }
  return rows;
}
