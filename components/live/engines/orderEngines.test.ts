import { describe, expect, it } from "vitest";
import { identifyModels } from "@/components/ui/modelIdentity";
import type { EngineFrame } from "@/server/contracts/studio";
import { testEngine, testFrame, testReadings } from "../testing/testFrame";
import { drawsAlike, type EngineOrder, nextOrder, orderEngines } from "./orderEngines";
import { type EngineRow, engineRows } from "./prepareEngines";

const identities = identifyModels(["small-8b"]);
const running = (value: number | null) => ({ readings: testReadings({ running: { state: "value", value } }) });
const rowsOf = (...engines: readonly Partial<EngineFrame>[]) =>
  engineRows([testFrame({ engines: engines.map((change, at) => testEngine(`e${at + 1}`, change)) })], identities);
const idsBy = (rows: readonly EngineRow[], order: EngineOrder) => orderEngines(rows, order).map(({ engine }) => engine.id);

describe("orderEngines", () => {
  it("puts the largest or the smallest first, and those without a value last either way", () => {
    const rows = rowsOf(running(2), running(null), running(9));
    expect(idsBy(rows, { by: "running", descending: true })).toEqual(["e3", "e1", "e2"]);
    expect(idsBy(rows, { by: "running", descending: false })).toEqual(["e1", "e3", "e2"]);
    expect(idsBy(rows, null)).toEqual(["e1", "e2", "e3"]);
  });

  it("goes by the newest KV use, and orders names as numbers count", () => {
    const rows = rowsOf({ kvUse: 0.1 }, { id: "e10", kvUse: 0.9 }, { kvUse: null });
    expect(idsBy(rows, { by: "kv", descending: true })).toEqual(["e10", "e1", "e3"]);
    expect(idsBy(rows, { by: "engine", descending: false })).toEqual(["e1", "e3", "e10"]);
  });

  it("turns an order round, and lets it go when it is asked for a third time", () => {
    const once = nextOrder(null, "kv");
    const twice = nextOrder(once, "kv");
    expect([once, twice, nextOrder(twice, "kv")]).toEqual([{ by: "kv", descending: true }, { by: "kv", descending: false }, null]);
    expect(nextOrder(once, "engine")).toEqual({ by: "engine", descending: false });
  });
});

describe("drawsAlike", () => {
  const rowOf = (change: Partial<EngineFrame>) => rowsOf(change)[0] as EngineRow;

  it("holds for rows of two frames in which nothing that is drawn has changed", () => {
    expect(drawsAlike(rowOf(running(1)), rowOf({ ...running(1), ageSeconds: 0.4 }))).toBe(true);
  });

  it("sees another figure, another health, another age and another point of the sparkline", () => {
    const row = rowOf(running(1));
    expect(drawsAlike(row, rowOf(running(2)))).toBe(false);
    expect(drawsAlike(row, rowOf({ ...running(1), health: "draining" }))).toBe(false);
    expect(drawsAlike(row, rowOf({ ...running(1), state: "stale", ageSeconds: 5 }))).toBe(false);
    expect(drawsAlike(row, rowOf({ ...running(1), kvUse: 0.6 }))).toBe(false);
  });
});
