import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { machine, writeRows } from "../lib/results";
import { keptOrRun } from "./keptOrRun";

let folder = "";
let runs = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-kept-"));
  runs = 0;
  vi.stubEnv("WEIR_ROOT", folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
});

const keep = (rows: readonly number[], on = machine) => {
  mkdirSync(join(folder, "bench", "results"), { recursive: true });
  writeFileSync(join(folder, "bench", "results", "race.json"), JSON.stringify({ machine: on, at: "a day", rows }));
};
const read = () =>
  keptOrRun<number>({
    name: "race",
    isWhole: (rows) => rows.length === 2,
    run: async () => {
      runs += 1;
      writeRows("race", [7, 8]);
    },
  });

test("the rows of a whole run on this machine are used, and the source names that run", async () => {
  keep([1, 2]);
  expect(await read()).toEqual({
    rows: [1, 2],
    source: "rows of the whole run of a day on this machine, kept in bench/results/race.json",
  });
  expect(runs).toBe(0);
});

test("without rows, with those of a stopped run or of another machine, or when told so, it is measured", async () => {
  const measured = { rows: [7, 8], source: "measured by this run" };
  expect(await read()).toEqual(measured);
  keep([1]);
  expect(await read()).toEqual(measured);
  keep([1, 2], "another machine");
  expect(await read()).toEqual(measured);
  keep([1, 2]);
  vi.stubEnv("WEIR_BENCH_KEPT", "0");
  expect(await read()).toEqual(measured);
  expect(runs).toBe(4);
});
