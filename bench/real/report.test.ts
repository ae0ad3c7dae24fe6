import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CascadeFigures, noFigures } from "./cascadeFigures";
import type { Records } from "./records";
import { reportOf } from "./report";
import { addMeasured, addPredicted, profile, recordsIn } from "./testing/madeRecords";
import { traffics } from "./traffic";

let folder = "";
let records: Records;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-report-"));
  records = recordsIn(join(folder, "runs.jsonl"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const poisson = () => traffics().filter(({ name }) => name === "poisson");
const lineWith = (text: string, of: string): string => text.split("\n").find((line) => line.startsWith(of)) ?? "";

test("the table of single engines marks refused loads and gives them no band", () => {
  addPredicted(records, "vllm | poisson | 0.5 | 0");
  addMeasured(records, "vllm | poisson | 0.5 | 0", 1);
  addPredicted(records, "vllm | poisson | 0.85 | 0", "The load is too high.");
  addMeasured(records, "vllm | poisson | 0.85 | 0", 7);
  const text = reportOf(records, poisson());
  expect(lineWith(text, "| vllm | poisson | 50 %")).toContain("| 1200 / 1000 | - | - | 900 to 1050 | yes |");
  expect(lineWith(text, "| vllm | poisson | 85 %")).toContain("| 1200 / 7000 | - | - | refused | - |");
  expect(lineWith(text, "| all |")).toMatch(/^\| all \| 2 \| 1 \|.*\| 100.0 % \| 6.3 % \|$/);
  // The p95 error at 50 %: of the plan, and of the same requests, which no profile is at hand for.
  expect(
    text
      .split("\n")
      .filter((line) => line.startsWith("| at 50 % |"))
      .map((line) => line.split(" | ")[5]),
  ).toEqual(["20.0 %", "-"]);
  expect(text).toContain("Too few for the targets: 2 runs");
  expect(text).toContain("commit abc1234 on 2 x cores");
});

test("conditions are the command lines and the cores that were seen", () => {
  const command = ["taskset", "-c", "0", "vllm", "serve", "arith-large"];
  records.add({ kind: "engine", key: "vllm arith-large-0", loadSeconds: 123.4, command, cores: "0" });
  expect(reportOf(records, [])).toContain("- vllm arith-large-0: on core 0, up after 123 s: `taskset -c 0 vllm serve arith-large`");
});

test("what a fit saw is read from its runs, and so is how much of the traffic is within", () => {
  const runs = [
    { inputTokens: 16, outputTokens: 8, concurrency: 1 },
    { inputTokens: 60, outputTokens: 64, concurrency: 32 },
  ];
  records.add({ kind: "fit", key: "vllm arith-large", minutes: 4, report: { runs }, profile: {} });
  const half = { ...(poisson()[0] ?? expect.fail()), known: [60, 90].map((inputTokens) => ({ inputTokens, outputTokens: 10 })) };
  expect(reportOf(records, [half])).toContain("| vllm arith-large | 2 | 16 to 60 | 8 to 64 | 1 to 32 | poisson | 50.0 % |");
});

const figures = (p95: number, quality: number, change: Partial<CascadeFigures> = {}): CascadeFigures => ({
  ...{ ...noFigures, mean: 0.1, p50: 0.1, p95, p99: 1, p95Low: 0.1, p95High: 0.3, quality, escalated: 0.4, cores: 2, requests: 800 },
  ...{ chosen: null, refused: null, ...change },
});

/** Adds a prediction and its run, which began at some time, by default now. */
function addRate(key: string, predicted: CascadeFigures, measured: CascadeFigures, beganMs?: number): void {
  const of = { key, requestsPerSecond: Number(key.split(" | ").at(-1)), profile };
  records.add({ kind: "cascade-predicted", ...of, predicted });
  records.add({ kind: "cascade-measured", ...of, beganMs: beganMs ?? Date.now(), measured });
}

test("the cascade and the larger model alone are compared by p95, quality and cores, beside the planner's own choice", () => {
  addRate("vllm | cascade | 5", figures(0.2, 93.4, { chosen: "alone", thresholds: [61] }), figures(0.15, 92.8, { thresholds: [61] }));
  addRate("vllm | alone | 5", figures(0.1, 99, { escalated: 1, cores: 1 }), figures(0.12, 99.1, { cores: 1 }));
  const text = reportOf(records, []);
  expect(lineWith(text, "| vllm | cascade | 5 |")).toContain(
    "| 61 | 2 | 93.4 / 92.8 | 40.0 / 40.0 | 100 / 100 | 100 / 100 | 200 / 150 | 100 to 300 | yes | 1000 / 1000 |",
  );
  expect(lineWith(text, "| vllm | 5 |")).toBe("| vllm | 5 | alone / alone | alone / alone | alone / alone | both / alone | alone |");
});

test("a rate that the planner refuses has no predicted figures, also after the file was read again", () => {
  const refused = "The load is above what the engines sustain.";
  addRate("vllm | cascade | 100", { ...noFigures, refused, chosen: null }, figures(2, 93, { refused }));
  const again = recordsIn(records.file);
  for (const of of [records, again]) {
    const line = lineWith(reportOf(of, []), "| vllm | cascade | 100 |");
    expect(line).toContain("| - / 93.0 | - / 40.0 | - / 100 | - / 100 | refused / 2000 | - | - | - / 1000 |");
  }
});

test("a run through the gateway that began before its prediction is refused", () => {
  addRate("vllm | cascade | 5", figures(0.2, 93), figures(0.2, 93), Date.now() - 60_000);
  expect(() => reportOf(records, [])).toThrow("began before its prediction");
});
