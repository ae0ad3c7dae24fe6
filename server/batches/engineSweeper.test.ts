import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createEngineSweeper, SWEEP_MS } from "./engineSweeper";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const itsId = "0a1b2c3d-0000-4000-8000-000000000000";
const ofIt = "batch-0a1b2c3d-experts-w0-0";
const ofAnother = "batch-ffffffff-experts-w0-0";

/** A cluster with an engine of an ended batch and one of another, and the number of observations. */
function ground() {
  const engines = [ofIt, ofAnother];
  let looks = 0;
  let isConnected = false;
  let problem: string | null = null;
  const host = {
    observe: async () => {
      looks += 1;
      return { ok: true, value: { engines: engines.map((id) => ({ id })) } };
    },
    stop: async (id: string) => {
      if (problem !== null) return { ok: false, message: problem };
      engines.splice(engines.indexOf(id), 1);
      return { ok: true, value: "" };
    },
  };
  const sweeper = createEngineSweeper(() => (isConnected ? ({ host } as never) : null));
  return { engines, looks: () => looks, sweeper, connect: () => (isConnected = true), break: (why: string | null) => (problem = why) };
}

it("looks at nothing of a cluster that is not connected, and ends what stands there as soon as it is", async () => {
  const { engines, looks, sweeper, connect } = ground();
  expect(await sweeper.sweep("c", [itsId])).toBe("The cluster is not connected: attach it again.");
  await vi.advanceTimersByTimeAsync(50 * SWEEP_MS);
  expect([engines, looks()]).toEqual([[ofIt, ofAnother], 0]);
  connect();
  await vi.advanceTimersByTimeAsync(SWEEP_MS);
  expect([engines, looks()]).toEqual([[ofAnother], 1]);
  await vi.advanceTimersByTimeAsync(50 * SWEEP_MS);
  expect([looks(), vi.getTimerCount()]).toEqual([1, 0]);
});

it("says why an engine could not be ended, tries again until it can be, and no more once it is closed", async () => {
  const { engines, sweeper, connect, ...its } = ground();
  connect();
  its.break("It does not let go.");
  expect(await sweeper.sweep("c", [itsId])).toBe("It does not let go.");
  expect(engines).toEqual([ofIt, ofAnother]);
  its.break(null);
  await vi.advanceTimersByTimeAsync(SWEEP_MS);
  expect(engines).toEqual([ofAnother]);
  its.break("again");
  engines.push(ofIt);
  await sweeper.sweep("c", [itsId]);
  sweeper.close();
  expect(vi.getTimerCount()).toBe(0);
});

it("tries on for one batch though another of its cluster, asked for since, has no engine left", async () => {
  const { engines, sweeper, connect, ...its } = ground();
  connect();
  its.break("It does not let go.");
  await sweeper.sweep("c", [itsId]);
  expect(await sweeper.sweep("c", ["12345678-0000-4000-8000-000000000000"])).toBeNull();
  its.break(null);
  await vi.advanceTimersByTimeAsync(SWEEP_MS);
  expect([engines, vi.getTimerCount()]).toEqual([[ofAnother], 0]);
});
