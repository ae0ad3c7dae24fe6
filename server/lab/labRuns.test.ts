import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { LabCell } from "@/server/contracts/studio/lab";
import { openStore } from "@/server/store/store";
import { createLabRuns } from "./labRuns";
import { testSpec, testTask } from "./testing/testLab";

const folder = mkdtempSync(join(tmpdir(), "weir-lab-runs-"));
const store = openStore(folder);
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const told = { actor: "ada", notes: ["modelled"] };

test("ten runs are under way or wait at most, and one that ends makes room", () => {
  const runs = createLabRuns(store);
  const task = testTask(testSpec(["vLLM balancing"]));
  const start = (at: number) => runs.start(`run ${at}`, task, told);
  for (let at = 0; at < 10; at += 1) expect(start(at)).toEqual({ ok: true, started: true });
  expect(start(10)).toMatchObject({ ok: false, message: expect.stringMatching(/^10 runs are under way or wait/) });
  expect(store.labRuns.get("run 10")).toBeNull();
  expect(start(3)).toEqual({ ok: true, started: false });
  expect(runs.cancel("run 4")).toEqual({ ok: true });
  expect(start(10)).toEqual({ ok: true, started: true });
  runs.close();
  expect(store.labRuns.list().filter(({ state }) => state === "running")).toEqual([]);
});

test("of a run with thousands of cells only those that are asked for are read, and its list reads none", () => {
  const cells = 3000;
  store.atomically(() => {
    for (let at = 0; at < cells; at += 1)
      store.labRuns.addCell("run 1", at, {
        system: at,
        latencyQuantiles: Array.from({ length: 101 }, () => Math.PI),
      } as unknown as LabCell);
  });
  expect(store.labRuns.get("run 1")?.cellsDone).toBe(cells);
  expect(store.labRuns.list().find(({ id }) => id === "run 1")?.cellsDone).toBe(cells);
  expect(store.labRuns.cells("run 1", cells - 2).map(({ system }) => system)).toEqual([cells - 2, cells - 1]);
  /** Of the processor, which other work on the machine does not lengthen. */
  const seconds = (work: () => unknown): number => {
    const began = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1e6;
  };
  const whole = seconds(() => store.labRuns.cells("run 1"));
  const polled = seconds(() => [store.labRuns.list(), store.labRuns.get("run 1"), store.labRuns.cells("run 1", cells - 2)]);
  expect(polled).toBeLessThan(whole / 4);
  store.labRuns.remove("run 1");
  expect(store.labRuns.cells("run 1")).toEqual([]);
});
