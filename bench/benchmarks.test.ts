import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { budgetTable } from "./benchmarks";

it("every budget has its line in bench/results/budgets.md, with what makes the benchmark miss it", () => {
  expect(readFileSync(join(import.meta.dirname, "results", "budgets.md"), "utf8")).toContain(budgetTable());
});
