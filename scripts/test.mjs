// `npm test`: the one command that says whether the tree is good. Installs what is missing, then lint, types, unit and
// integration tests, a production build and the browser tests; closes with `N passed, N failed, N skipped`.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkNode, ensureBundled, ensureInstalled, ensureStudioBuilt, refuse, root, runLoud, say } from "./prepare.mjs";

checkNode();
ensureInstalled();
const chromium = findChromium() ?? installChromium();
// The tests that have a real Prometheus scrape are skipped without one.
if (!existsSync(process.env.PROMETHEUS_PATH ?? "/usr/bin/prometheus")) install("Prometheus", ["prometheus"]);

const results = mkdtempSync(join(tmpdir(), "weir-test-"));
const total = { passed: 0, failed: 0, skipped: 0 };
const bin = (name) => join(root, "node_modules", ".bin", name);

check("lint", bin("biome"), ["ci", "."]);
// The route types that `tsc` needs are generated, so a clean clone lacks them.
check("route types", bin("next"), ["typegen"]);
check("types", bin("tsc"), ["--noEmit"]);
const unit = join(results, "unit.json");
runLoud(bin("vitest"), ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${unit}`]);
count("unit and integration tests", unit, (report) => ({
  passed: report.numPassedTests,
  // A file that fails to load has no failed test of its own.
  failed:
    report.numFailedTests + report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length,
  skipped: report.numPendingTests + report.numTodoTests,
}));
await ensureBundled();
await ensureStudioBuilt();
const browser = join(results, "browser.json");
runLoud(bin("playwright"), ["test", "-c", "e2e", "--reporter=list,json"], {
  CHROMIUM_PATH: chromium,
  PLAYWRIGHT_JSON_OUTPUT_NAME: browser,
});
count("browser tests", browser, ({ stats }) => ({
  passed: stats.expected,
  failed: stats.unexpected + stats.flaky,
  skipped: stats.skipped,
}));

rmSync(results, { recursive: true, force: true });
process.stdout.write(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
process.exit(total.failed === 0 ? 0 : 1);

/** Runs one whole-tree check; it counts as one test. */
function check(name, command, args) {
  say(`\n== ${name}`);
  const ok = runLoud(command, args) === 0;
  total[ok ? "passed" : "failed"] += 1;
  if (!ok) say(`${name}: failed`);
}

/** Adds a runner's own counts; a runner that left no report, or ran nothing, failed. */
function count(name, file, read) {
  const found = existsSync(file) ? read(JSON.parse(readFileSync(file, "utf8"))) : { passed: 0, failed: 1, skipped: 0 };
  if (found.passed + found.failed === 0) found.failed = 1;
  say(`${name}: ${found.passed} passed, ${found.failed} failed, ${found.skipped} skipped`);
  for (const key of Object.keys(total)) total[key] += found[key];
}

/** @returns {string | undefined} the Chromium to drive: CHROMIUM_PATH, else a system one. */
function findChromium() {
  return [process.env.CHROMIUM_PATH, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
    (path) => path !== undefined && existsSync(path),
  );
}

/** Installs Debian's Chromium where this user may; else says what to install. */
function installChromium() {
  install("Chromium", ["chromium", "fonts-dejavu-core"]);
  return findChromium() ?? refuse("The browser tests need Chromium: install the package `chromium`, or set CHROMIUM_PATH to one.");
}

/** Installs packages of the system; does nothing where this user may not. */
function install(name, packages) {
  if (process.getuid?.() !== 0 || spawnSync("apt-get", ["--version"]).status !== 0) return;
  say(`Installing ${name} ...`);
  runLoud("apt-get", ["update"]);
  runLoud("apt-get", ["install", "-y", "--no-install-recommends", ...packages], { DEBIAN_FRONTEND: "noninteractive" });
}
