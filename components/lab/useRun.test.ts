import { expect, test } from "vitest";
import type { LabRun } from "@/server/contracts/studio";
import { testRun } from "./testRun";
import { joinRun } from "./useRun";

/** A studio that has a run's cells in the order in which they finished, and records for how many of them it was asked. */
function studio(run: LabRun) {
  const sent: number[] = [];
  return {
    sent,
    read: async (since: number) => {
      const cells = run.cells.slice(since);
      sent.push(cells.length);
      return { ...run, cells };
    },
  };
}

test("a run that is asked for again sends only the cells that came meanwhile, and stands in the order of its description", async () => {
  const whole = testRun();
  const came = { ...whole, cells: whole.cells.toReversed() };
  const half = studio({ ...came, state: "running", cells: came.cells.slice(0, 7) });
  const first = await joinRun(null, half.read);
  const later = studio(came);
  const joined = await joinRun(first, later.read);
  expect([half.sent, later.sent]).toEqual([[7], [whole.cells.length - 7]]);
  expect(joined).toEqual(await joinRun(null, studio(came).read));
  expect(joined?.cells).toHaveLength(whole.cells.length);
  expect(joined?.cells.slice(0, 3).map(({ seed, rate, system }) => [seed, rate, system])).toEqual([
    [0, 0, 0],
    [0, 0, 1],
    [0, 0, 2],
  ]);
  const still = studio(came);
  await joinRun(joined, still.read);
  expect(still.sent).toEqual([0]);
});

test("a run that was started again in between is read whole, and one that is gone is none", async () => {
  const whole = testRun();
  const anew = studio({ ...whole, createdAt: "2026-04-01T00:00:00.000Z", cells: whole.cells.slice(0, 2) });
  expect((await joinRun(whole, anew.read))?.cells).toEqual(whole.cells.slice(0, 2).sort((a, b) => a.system - b.system));
  expect(await joinRun(whole, async () => null)).toBeNull();
});
