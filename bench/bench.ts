import { budgetTable, onlyWanted, wholeRun } from "./benchmarks";
import { budgetText, verdict } from "./lib/benchmark";
import { machine, writeResults, writeTables } from "./lib/results";

const wanted = process.argv[2] ?? "";
if (wanted === "--budgets") {
  writeTables("budgets", [budgetTable()]);
  process.exit(0);
}
const benchmarks = [...wholeRun, ...Object.entries(onlyWanted).flatMap(([key, own]) => (wanted.includes(key) ? own : []))].filter(
  ({ name }) => name.includes(wanted),
);
if (benchmarks.length === 0) {
  process.stderr.write(`No benchmark's name contains "${wanted}".\n`);
  process.exit(2);
}

const header = "| what | figure | budget | | on what |\n|---|---|---|---|---|\n";
process.stdout.write(`${machine}\n\n${header}`);
const rows = [];
let lines = header;
for (const { name, budget, run } of benchmarks) {
  const measured = await run();
  const { figure, unit, detail } = measured;
  const kept = verdict(measured, budget);
  rows.push({ name, figure, unit, budget, verdict: kept, detail });
  const shown = figure >= 1000 ? Math.round(figure).toLocaleString("en") : figure.toPrecision(3);
  const line = `| ${name} | ${shown} ${unit} | ${budgetText(budget)} | ${kept} | ${detail} |\n`;
  lines += line;
  process.stdout.write(line);
}

// A subset of the benchmarks does not replace the day's whole run.
const file = writeResults(`${new Date().toISOString().slice(0, 10)}${wanted === "" ? "" : "-part"}`, rows);
if (wanted !== "") writeTables(`rows-${wanted.match(/[a-z0-9]+/gi)?.join("-")}`, [lines]);
process.stdout.write(`\nWritten to ${file}\n`);
// Upstreams and agents of the gateway benchmarks may keep sockets open.
process.exit(0);
