import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { record, redo, type SettingsHistory, startHistory, undo } from "./settingsHistory";

interface Settings {
  readonly floor: number;
  readonly slack: number | null;
}
const start: Settings = { floor: 80, slack: null };
const changes = fc.array(
  fc.record({
    settings: fc.record({ floor: fc.integer({ min: 0, max: 3 }), slack: fc.option(fc.integer({ min: 0, max: 3 })) }),
    waitMs: fc.integer({ min: 0, max: 3000 }),
  }),
  { maxLength: 30 },
);

function played(steps: readonly { readonly settings: Settings; readonly waitMs: number }[]): SettingsHistory<Settings> {
  let history = startHistory(start);
  let atMs = 0;
  for (const { settings, waitMs } of steps) {
    atMs += waitMs;
    history = record(history, settings, atMs);
  }
  return history;
}

describe("history of the settings", () => {
  it("leads back to the first settings by undoing, and forward to the last by redoing", () => {
    fc.assert(
      fc.property(changes, (steps) => {
        const last = played(steps);
        let back = last;
        for (let previous = undo(back); previous !== null; previous = undo(back)) back = previous;
        expect(back.present).toEqual(start);
        let forth = back;
        for (let next = redo(forth); next !== null; next = redo(forth)) forth = next;
        expect(forth.present).toEqual(last.present);
        expect(forth.past).toEqual(last.past);
      }),
    );
  });

  it("takes steps of one slider in quick succession as one change, and a step of another as a new one", () => {
    const history = played([
      { settings: { floor: 81, slack: null }, waitMs: 0 },
      { settings: { floor: 82, slack: null }, waitMs: 200 },
      { settings: { floor: 82, slack: 10 }, waitMs: 200 },
      { settings: { floor: 82, slack: 11 }, waitMs: 5000 },
    ]);
    expect(history.past).toEqual([start, { floor: 82, slack: null }, { floor: 82, slack: 10 }]);
  });

  it("starts a new change after an undo, which ends what could be redone", () => {
    const one = played([{ settings: { floor: 81, slack: null }, waitMs: 0 }]);
    const undone = undo(one)!;
    expect(redo(undone)?.present.floor).toBe(81);
    const other = record(undone, { floor: 81.5, slack: null }, 100);
    expect(redo(other)).toBeNull();
    expect(undo(other)?.present).toEqual(start);
  });

  it("keeps no step for settings that are as they were", () => {
    const history = startHistory(start);
    expect(record(history, { ...start }, 5)).toBe(history);
    expect(undo(history)).toBeNull();
    expect(redo(history)).toBeNull();
  });
});
