// Reads the JSON reports of Vitest and Playwright: counts of tests, and seconds of each file.

/** @returns {{ counts: Counts, files: { file: string, seconds: number }[] }} of a report of Vitest. */
export function readVitest(report, root) {
  const unloaded = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
  return {
    counts: {
      passed: report.numPassedTests,
      // A file that fails to load has no failed test of its own.
      failed: report.numFailedTests + unloaded.length,
      skipped: report.numPendingTests + report.numTodoTests,
    },
    files: report.testResults.map(({ name, startTime, endTime }) => ({
      file: name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name,
      seconds: (endTime - startTime) / 1000,
    })),
  };
}

/** @returns {{ counts: Counts, files: { file: string, seconds: number }[] }} of a report of Playwright; a flaky test failed. */
export function readPlaywright({ stats, suites }, folder) {
  const secondsOf = ({ specs = [], suites: inner = [] }) =>
    specs.flatMap(({ tests }) => tests.flatMap(({ results }) => results)).reduce((all, { duration }) => all + duration / 1000, 0) +
    inner.reduce((all, suite) => all + secondsOf(suite), 0);
  return {
    counts: { passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped },
    files: suites.map((suite) => ({ file: `${folder}/${suite.file}`, seconds: secondsOf(suite) })),
  };
}

/** @returns {string} the slowest files, a line each. */
export function slowestFiles(files, most = 20) {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, most);
  return slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`).join("\n");
}
