// Reads the JSON reports of Vitest and Playwright: counts of tests, seconds of each file, and which tests failed or were skipped why.

/**
 * @typedef {{ counts: Counts, files: { file: string, seconds: number }[], failed: string[], failures: Failure[], skips: Skip[], notRun?: string[] }} Read
 *   `failed`: files; `notRun`: tests that the time did not reach.
 * @typedef {{ file: string, test: string, lacks: string[] }} Skip one test that was skipped, and what it says that it lacks.
 * @typedef {{ file: string, test: string, why: string }} Failure one test that failed, with the first line of its error.
 */

/** @returns {Read} of a report of Vitest. */
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
    failures: [
      ...unloaded.map(({ name, message }) => ({ file: relative(name), test: "does not load", why: firstLine(message) })),
      ...report.testResults.flatMap(({ name, assertionResults }) =>
        assertionResults
          .filter(({ status }) => status === "failed")
          .map(({ fullName, failureMessages }) => ({ file: relative(name), test: fullName, why: firstLine(failureMessages?.[0]) })),
      ),
    ],
    skips: report.testResults.flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status !== "passed" && status !== "failed")
        .map(({ fullName, meta }) => ({ file: relative(name), test: fullName, lacks: meta?.lacks ?? [] })),
    ),
  };
}

/** @returns {Read} of a report of Playwright; a flaky test failed. */
export function readPlaywright({ stats, suites }, folder) {
  const secondsOf = ({ specs = [], suites: inner = [] }) =>
    specs.flatMap(({ tests }) => tests.flatMap(({ results }) => results)).reduce((all, { duration }) => all + duration / 1000, 0) +
    inner.reduce((all, suite) => all + secondsOf(suite), 0);
  const failuresOf = ({ specs = [], suites: inner = [] }, file) => [
    ...specs
      .filter(({ ok, tests }) => !ok || tests.some(({ status }) => status === "flaky"))
      .map(({ title, tests }) => ({
        file,
        test: title,
        why: firstLine(tests.flatMap(({ results }) => results).find(({ error }) => error !== undefined)?.error.message),
      })),
    ...inner.flatMap((suite) => failuresOf(suite, file)),
  ];
  // A test that is cut off counts as skipped, but nobody wanted that of it.
  const isNotRun = ({ expectedStatus, results }) =>
    expectedStatus !== "skipped" && results.every(({ status }) => status === "interrupted" || status === "skipped");
  const notRunOf = ({ specs = [], suites: inner = [] }, file) => [
    ...specs.filter(({ tests }) => tests.some(isNotRun)).map(({ title }) => `${file} > ${title}`),
    ...inner.flatMap((suite) => notRunOf(suite, file)),
  ];
  const skipsOf = ({ specs = [], suites: inner = [] }, file) => [
    ...specs.flatMap(({ title, tests }) =>
      tests
        .filter((test) => test.status === "skipped" && !isNotRun(test))
        .map(({ annotations = [] }) => ({ file, test: title, lacks: lacksIn(annotations) })),
    ),
    ...inner.flatMap((suite) => skipsOf(suite, file)),
  ];
  const failures = suites.flatMap((suite) => failuresOf(suite, `${folder}/${suite.file}`));
  return {
    notRun: suites.flatMap((suite) => notRunOf(suite, `${folder}/${suite.file}`)),
    counts: { passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped },
    files: suites.map((suite) => ({ file: `${folder}/${suite.file}`, seconds: secondsOf(suite) })),
    failed: [...new Set(failures.map(({ file }) => file))],
    failures,
    skips: suites.flatMap((suite) => skipsOf(suite, `${folder}/${suite.file}`)),
  };
}

/** What a skipped browser test lacks: the reason that it gave, one thing after the other. */
const lacksIn = (annotations) =>
  annotations
    .filter(({ type, description = "" }) => type === "skip" && description !== "")
    .flatMap(({ description }) => description.split(", "));

/**
 * Skipped tests that fail the run: those that do not say what they lack, and those that lack only what is there. After a failure the runners
 * skip other tests of the same file, which counts for nothing here.
 *
 * @param {(what: string) => boolean | null} isThere null where only the test can tell
 * @returns {Failure[]}
 */
export function wrongSkips({ skips, failed }, isThere) {
  return skips
    .filter(({ file, lacks }) => !failed.includes(file) && lacks.every((what) => isThere(what) === true))
    .map(({ file, test, lacks }) => ({
      file,
      test,
      why: lacks.length === 0 ? "It is skipped and does not say what it lacks." : `It is skipped, but there is ${lacks.join(", ")}.`,
    }));
}

/** @returns {string} a line for each thing that is missing, with the number of tests skipped for it, the most first. */
export function listSkips(skips) {
  const counts = new Map();
  for (const { lacks } of skips) {
    const reason = lacks.length === 0 ? "for no stated reason" : `no ${lacks.join(", no ")}`;
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${count} skipped: ${reason}`)
    .join("\n");
}

/** @returns {string} the first line of an error that says something, without the terminal's colours. */
function firstLine(message = "") {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal begin with the escape character.
  const lines = message.replace(/\u001b\[[0-9;]*m/g, "").split("\n");
  return lines.find((line) => line.trim() !== "")?.trim() ?? "";
}

/**
 * Counts after the files that failed ran a second time.
 * @returns {Counts} a test that passed in either run passed.
 */
export function afterSecondRun(first, second) {
  return { ...first, passed: first.passed + first.failed - second.failed, failed: second.failed };
}

/** @returns {string} the failed tests, two lines each. */
export function listFailures(failures) {
  return failures.map(({ file, test, why }) => `  ${file} > ${test}\n    ${why}`).join("\n");
}

/** @returns {string} the slowest files, a line each. */
export function slowestFiles(files, most = 20) {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, most);
  return slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`).join("\n");
}
