import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { budgetTable } from "./benchmarks";

/** Without these there are fewer benchmarks. */
const data = ["quality", "traces", "metrics"].map((name) => file(`../shared/data/${name}`));

it("every budget has its line in bench/results/budgets.md, with what makes the benchmark miss it", needs(...data), () => {
  expect(readFileSync(join(import.meta.dirname, "results", "budgets.md"), "utf8")).toContain(budgetTable());
});
