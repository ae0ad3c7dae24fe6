import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { WorkloadSummary } from "@/server/contracts/studio";
import { openStore } from "@/server/store/store";
import { emulatedWorkload, emulationProblem } from "./emulatedWorkload";

it("finds the newest workload that has all models, and says which models engines that replay another have no answers of", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-outcomes-"));
  const store = openStore(folder);
  const keep = (id: string, day: number, models: readonly string[]): void =>
    store.workloads.insert(
      {
        id,
        name: id,
        createdAt: `2026-01-0${day}T00:00:00.000Z`,
        models: models.map((model) => ({ model })),
      } as unknown as WorkloadSummary,
      Buffer.from(""),
    );
  expect(emulationProblem(store, { outcomes: null }, ["a", "b"])).toMatch(/no workload has answers of a, b/);
  keep("whole", 1, ["a", "b"]);
  keep("wider", 2, ["c", "b", "a"]);
  keep("other", 3, ["a"]);
  expect(emulatedWorkload(store, ["a", "b"])).toBe("wider");
  expect(emulationProblem(store, { outcomes: null }, ["a", "b"])).toBeNull();
  expect(emulationProblem(store, { outcomes: "whole" }, ["a", "b"])).toBeNull();
  expect(emulationProblem(store, { outcomes: "other" }, ["a", "b"])).toMatch(
    /^Its emulated engines replay "other", which has no answers of b:/,
  );
  // A removed workload is unknown here: engines report the problem themselves.
  expect(emulationProblem(store, { outcomes: "gone" }, ["a", "b"])).toBeNull();
  store.close();
  rmSync(folder, { recursive: true });
});
