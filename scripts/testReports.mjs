// Reads the JSON reports of Vitest and Playwright: counts of tests, and seconds of each file.

/** @returns {{ counts: Counts, files: { file: string, seconds: number }[], failed: string[] }} of a report of Vitest; the files that failed. */
export function readVitest(report, root) {
  const relative = (name) => (name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name);
  const unloaded = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
  return {
    counts: {
      passed: report.numPassedTests,
      // A file that fails to load has no failed tests.
      failed: report.numFailedTests + unloaded.length,
      skipped: report.numPendingTests + report.numTodoTests,
    },
    files: report.testResults.map(({ name, startTime, endTime }) => ({
      file: relative(name),
      seconds: (endTime - startTime) / 1000,
    })),
    failed: report.testResults.filter(({ status }) => status === "failed").map(({ name }) => relative(name)),
  };
}

/** @returns {{ counts: Counts, files: { file: string, seconds: number }[], failed: string[] }} of a report of Playwright; a flaky test failed. */
export function readPlaywright({ stats, suites }, folder) {
  const secondsOf = ({ specs = [], suites: inner = [] }) =>
    specs.flatMap(({ tests }) => tests.flatMap(({ results }) => results)).reduce((all, { duration }) => all + duration / 1000, 0) +
    inner.reduce((all, suite) => all + secondsOf(suite), 0);
  const isFailed = ({ specs = [], suites: inner = [] }) => specs.some(({ ok }) => !ok) || inner.some(isFailed);
  return {
    counts: { passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped },
    files: suites.map((suite) => ({ file: `${folder}/${suite.file}`, seconds: secondsOf(suite) })),
    failed: suites.filter(isFailed).map((suite) => `${folder}/${suite.file}`),
  };
}

/**
 * Counts after the files that failed ran a second time.
 * @returns {Counts} a test that passed in either run passed.
 */
export function afterSecondRun(first, second) {
  return { ...first, passed: first.passed + first.failed - second.failed, failed: second.failed };
}

/** @returns {string} the slowest files, a line each. */
export function slowestFiles(files, most = 20) {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, most);
  return slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`).join("\n");
}
