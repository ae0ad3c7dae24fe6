import { expect, it } from "vitest";
import type { LiveEvent, SeriesRange } from "@/server/contracts/studio";
import { createStreamStore, MAX_DECISIONS } from "./streamStore";

type DecisionsEvent = Extract<LiveEvent, { readonly kind: "decisions" }>;

const SPAN_MS = 60_000;

function range(second: number, value: number): SeriesRange {
  const columns = { min: [value], max: [value], mean: [value], last: [value], count: [1] };
  return {
    bucketMs: 1000,
    atMs: [second * 1000],
    series: [{ subject: "gateway", quantity: "requestsPerSecond", ...columns }],
    problems: [],
  };
}
const decisions = (...sequences: readonly number[]): DecisionsEvent => ({
  kind: "decisions",
  records: sequences.map((sequence) => ({ sequence }) as DecisionsEvent["records"][number]),
  matched: sequences.length,
  looked: 100,
});

function open() {
  const store = createStreamStore();
  return { ...store.getState().actions, state: () => store.getState() };
}

it("shows columns and decisions as they come, each record once and the newest first", () => {
  const { takeColumns, takeDecisions, state } = open();
  takeColumns("a", range(1, 5), SPAN_MS);
  takeColumns("a", range(2, 6), SPAN_MS);
  takeDecisions("all", decisions(3, 2));
  takeDecisions("all", decisions(4, 3));
  expect(state().shown.columns?.range.series[0]?.mean).toEqual([5, 6]);
  expect(state().shown.tail?.records.map(({ sequence }) => sequence)).toEqual([4, 3, 2]);
});

it("drops what another question was answered with, once the first answer to the new one is there and not before", () => {
  const { takeColumns, takeDecisions, state } = open();
  takeColumns("a", range(1, 5), SPAN_MS);
  takeDecisions("all", decisions(1));
  expect(state().shown.columns?.wanted).toBe("a");
  takeColumns("b", range(2, 6), SPAN_MS);
  takeDecisions("failed", decisions(2));
  expect(state().shown.columns?.range).toEqual(range(2, 6));
  expect(state().shown.tail?.records.map(({ sequence }) => sequence)).toEqual([2]);
});

it("stands still while paused, fills behind it, and shows all of it when resumed", () => {
  const { takeColumns, takeDecisions, pause, resume, state } = open();
  takeColumns("a", range(1, 5), SPAN_MS);
  takeDecisions("all", decisions(1));
  pause();
  const before = state().shown;
  takeColumns("a", range(2, 6), SPAN_MS);
  takeDecisions("all", decisions(2));
  expect(state().shown).toEqual(before);
  resume();
  expect(state().shown.columns?.range.atMs).toEqual([1000, 2000]);
  expect(state().shown.tail?.records).toHaveLength(2);
});

it("answers another question while paused, and then stands still with that", () => {
  const { takeColumns, pause, state } = open();
  takeColumns("a", range(1, 5), SPAN_MS);
  pause();
  takeColumns("b", range(2, 6), SPAN_MS);
  takeColumns("b", range(3, 7), SPAN_MS);
  expect(state().shown.columns?.range.atMs).toEqual([2000]);
});

it("keeps so many records and no more", () => {
  const { takeDecisions, state } = open();
  for (let sequence = 0; sequence < MAX_DECISIONS + 50; sequence++) takeDecisions("all", decisions(sequence));
  expect(state().newest.tail?.records).toHaveLength(MAX_DECISIONS);
  expect(state().newest.tail?.records[0]?.sequence).toBe(MAX_DECISIONS + 49);
});
