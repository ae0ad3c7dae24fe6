// `npm test` checks the tree: lint, types, import cycles, dead code, unit and integration tests, a production build and the
// main browser paths. `npm run test:all` adds the slow tests, the pages of the documentation and the other browser tests. Both install what is missing, print the
// 20 slowest files and the failed tests, and end with `N passed, N failed, N skipped`. A few files that start processes and failed run once more, alone:
// other load on the machine may have caused a timeout. Those that pass then are listed. `--minutes N` limits the whole run: browser tests that do not
// begin in time are skipped, counted and listed. Skipped tests are listed by what they lack; one that lacks nothing failed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isThere, program, variable } from "./needs.mjs";
import { checkNode, ensureBundled, ensureInstalled, ensureStudioBuilt, refuse, root, runLoud, say } from "./prepare.mjs";
import { afterSecondRun, listFailures, listSkips, readPlaywright, readVitest, slowestFiles, wrongSkips } from "./testReports.mjs";

const all = process.argv.includes("--all");
const endMs = performance.now() + readMinutes() * 60_000;
checkNode();
ensureInstalled();
const chromium = findChromium() ?? installChromium();
// The tests in which a real Prometheus scrapes are skipped without one.
if (!existsSync(process.env.PROMETHEUS_PATH ?? "/usr/bin/prometheus")) install("Prometheus", ["prometheus"]);
// Tests of several gateways start a server of their own.
if ([variable("WEIR_VALKEY_SERVER"), program("valkey-server"), program("redis-server")].every(({ isThere }) => !isThere))
  install("Redis", ["redis-server"]);

const results = mkdtempSync(join(tmpdir(), "weir-test-"));
const total = { passed: 0, failed: 0, skipped: 0 };
const files = [];
const seconds = [];
/** Files that failed, and passed when they ran once more. */
const secondRuns = [];
/** Browser tests that the time did not reach. */
const notRun = [];
const skips = [];
/** A browser runner needs so long to end its processes. */
const endingMs = 60_000;
const failures = [];
/** If more files than this fail, the cause is not the load. */
const mostSecondRuns = 4;
const bin = (name) => join(root, "node_modules", ".bin", name);
const project = (name) => `--project=${name}`;

check("lint", bin("biome"), ["ci", "."]);
// The route types that `tsc` needs are generated, so a clean clone lacks them.
check("route types", bin("next"), ["typegen"]);
check("types", bin("tsc"), ["--noEmit"]);
check("circles, sizes and entries", process.execPath, [join(root, "scripts", "house.mjs"), "--check"]);
check("dead code", "npm", ["run", "--silent", "dead"]);
const projects = ["unit", "integration", ...(all ? ["slow"] : [])];
timed("tests", () =>
  count(projects.join(", "), {
    run: (files, report) =>
      runLoud(bin("vitest"), [
        ...["run", ...files, ...projects.map(project), "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
        ...(files.length > 0 ? ["--no-file-parallelism"] : []),
      ]),
    read: (report) => readVitest(report, root),
    mayRunAgain: /\.(integration|slow)\.test\.tsx?$/,
  }),
);
await timed("build", async () => {
  await ensureBundled();
  await ensureStudioBuilt();
});
if (all) check("documentation in Chromium", process.execPath, [join(root, "scripts", "docsCheck.mjs")], { CHROMIUM_PATH: chromium });
browserTests("main browser paths", "main", 1);
// Most of their time is waiting; the main job measures how fast its cluster is, so that nothing else may run beside it.
if (all) browserTests("other browser tests", "more", 2);

rmSync(results, { recursive: true, force: true });
process.stdout.write(`\nSlowest files\n${slowestFiles(files)}\n\n${seconds.map(([name, took]) => `${name} ${took} s`).join(", ")}\n`);
if (secondRuns.length > 0) process.stdout.write(`Passed in a second run only\n${secondRuns.map((file) => `  ${file}\n`).join("")}\n`);
if (notRun.length > 0) process.stdout.write(`Not run within the given minutes\n${notRun.map((test) => `  ${test}\n`).join("")}\n`);
if (failures.length > 0) process.stdout.write(`Failed\n${listFailures(failures)}\n`);
if (skips.length > 0) process.stdout.write(`${listSkips(skips)}\n`);
process.stdout.write(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
process.exit(total.failed === 0 ? 0 : 1);

/** Runs one step and notes its seconds. */
function timed(name, run) {
  say(`\n== ${name}`);
  const startedMs = performance.now();
  const note = (result) => {
    seconds.push([name, Math.round((performance.now() - startedMs) / 1000)]);
    return result;
  };
  const result = run();
  return result instanceof Promise ? result.then(note) : note(result);
}

/** Runs one whole-tree check; it counts as one test. */
function check(name, command, args, environment = {}) {
  const ok = timed(name, () => runLoud(command, args, environment)) === 0;
  total[ok ? "passed" : "failed"] += 1;
  if (ok) return;
  say(`${name}: failed`);
  failures.push({ file: name, test: "whole tree", why: `${command} ${args.join(" ")}` });
}

function browserTests(name, of, workers) {
  if (leftMs() < endingMs) {
    say(`\n== ${name}: no time is left`);
    notRun.push(`${name}, all of them`);
    return;
  }
  timed(name, () =>
    count(name, {
      run: (files, report) =>
        runLoud(
          bin("playwright"),
          [
            ...["test", "-c", "e2e", ...files, "--reporter=list,json", project(of), `--workers=${files.length > 0 ? 1 : workers}`],
            ...(Number.isFinite(endMs) ? [`--global-timeout=${Math.max(1, Math.round(leftMs()))}`] : []),
          ],
          { CHROMIUM_PATH: chromium, PLAYWRIGHT_JSON_OUTPUT_NAME: report },
        ),
      read: (report) => readPlaywright(report, "e2e"),
      mayRunAgain: /\.spec\.ts$/,
    }),
  );
}

/** Runs a runner, once more with the files that failed where those may, and adds its counts. */
function count(name, { run, read, mayRunAgain }) {
  const readReport = (report) =>
    existsSync(report)
      ? read(JSON.parse(readFileSync(report, "utf8")))
      : {
          ...{ counts: { passed: 0, failed: 1, skipped: 0 }, files: [], failed: [], skips: [] },
          failures: [{ file: name, test: "all", why: "The runner ended without a report." }],
        };
  const report = join(results, `${name}.json`);
  run([], report);
  const first = readReport(report);
  let { counts, failures: left } = first;
  const { failed } = first;
  const again = failed.length <= mostSecondRuns && leftMs() > 0 ? failed.filter((file) => mayRunAgain.test(file)) : [];
  if (again.length > 0) {
    say(`\nOnce more: ${again.join(", ")}`);
    const secondReport = join(results, `${name}, second run.json`);
    run(again, secondReport);
    const second = readReport(secondReport);
    if (second.counts.passed > 0) {
      const others = left.filter(({ file }) => !again.includes(file));
      counts = afterSecondRun(counts, { ...second.counts, failed: second.counts.failed + others.length });
      left = [...others, ...second.failures];
      secondRuns.push(...again.filter((file) => !second.failed.includes(file)));
    }
  }
  const wrong = wrongSkips(first, isThere);
  counts = { ...counts, failed: counts.failed + wrong.length, skipped: counts.skipped - wrong.length };
  left = [...left, ...wrong];
  skips.push(...first.skips);
  // A runner without any test failed, unless the time ended before the first.
  if (counts.passed + counts.failed === 0 && (first.notRun ?? []).length === 0) {
    counts = { ...counts, failed: 1 };
    left = [{ file: name, test: "all", why: "No test ran." }];
  }
  failures.push(...left);
  notRun.push(...(first.notRun ?? []));
  say(`${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  for (const key of Object.keys(total)) total[key] += counts[key];
  files.push(...first.files);
}

/** Milliseconds that browser tests may still take. */
function leftMs() {
  return endMs - performance.now() - endingMs;
}

/** @returns {number} what `--minutes` says; Infinity without it. */
function readMinutes() {
  const at = process.argv.indexOf("--minutes");
  if (at === -1) return Number.POSITIVE_INFINITY;
  const minutes = Number(process.argv[at + 1]);
  return minutes > 0 ? minutes : refuse("--minutes takes a number of minutes above 0.", 2);
}

/** @returns {string | undefined} the Chromium to drive: CHROMIUM_PATH, else a system one. */
function findChromium() {
  return [process.env.CHROMIUM_PATH, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
    (path) => path !== undefined && existsSync(path),
  );
}

/** Installs Debian's Chromium if this user may; else says what to install. */
function installChromium() {
  install("Chromium", ["chromium", "fonts-dejavu-core"]);
  return findChromium() ?? refuse("The browser tests need Chromium: install the package `chromium`, or set CHROMIUM_PATH to one.");
}

/** Installs system packages; does nothing if this user may not. */
function install(name, packages) {
  if (process.getuid?.() !== 0 || spawnSync("apt-get", ["--version"]).status !== 0) return;
  say(`Installing ${name} ...`);
  runLoud("apt-get", ["update"]);
  runLoud("apt-get", ["install", "-y", "--no-install-recommends", ...packages], { DEBIAN_FRONTEND: "noninteractive" });
}
