import { expect, it } from "vitest";

interface Read {
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number };
  readonly files: readonly { readonly file: string; readonly seconds: number }[];
  readonly failed: readonly string[];
  readonly notRun?: readonly string[];
  readonly failures: readonly { readonly file: string; readonly test: string; readonly why: string }[];
}
const { readVitest, readPlaywright, afterSecondRun, listFailures, slowestFiles } = (await import("./testReports.mjs" as string)) as {
  readVitest: (report: object, root: string) => Read;
  readPlaywright: (report: object, folder: string) => Read;
  afterSecondRun: (first: Read["counts"], second: Read["counts"]) => Read["counts"];
  listFailures: (failures: Read["failures"]) => string;
  slowestFiles: (files: Read["files"], most?: number) => string;
};

it("counts a file that does not load as one failed test", () => {
  const broken = { status: "failed", fullName: "b is even", failureMessages: ["\n\u001b[31mexpected 1 to be 2\u001b[39m\n  at b.ts"] };
  const sound = { status: "passed", fullName: "b is odd", failureMessages: [] };
  const report = {
    ...{ numPassedTests: 3, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1 },
    testResults: [
      { name: "/repo/a.test.ts", status: "failed", message: "No such module", assertionResults: [], startTime: 1000, endTime: 1500 },
      { name: "/repo/b/b.test.ts", status: "failed", assertionResults: [broken, sound], startTime: 1000, endTime: 3000 },
    ],
  };
  expect(readVitest(report, "/repo")).toEqual({
    counts: { passed: 3, failed: 2, skipped: 3 },
    files: [
      { file: "a.test.ts", seconds: 0.5 },
      { file: "b/b.test.ts", seconds: 2 },
    ],
    failed: ["a.test.ts", "b/b.test.ts"],
    failures: [
      { file: "a.test.ts", test: "does not load", why: "No such module" },
      { file: "b/b.test.ts", test: "b is even", why: "expected 1 to be 2" },
    ],
  });
});

it("adds the seconds of a browser file's tests, those in groups too, counts a flaky test as failed, and names those that did not run", () => {
  const spec = (duration: number, ok = true) => ({
    ...{ ok, title: `takes ${duration} ms` },
    tests: [{ status: ok ? "expected" : "unexpected", results: [{ duration, ...(ok ? {} : { error: { message: "Too late" } }) }] }],
  });
  const flaky = { ok: true, title: "is flaky", tests: [{ status: "flaky", results: [{ duration: 0, error: { message: "Once" } }] }] };
  const late = { ok: true, title: "comes too late", tests: [{ status: "skipped", results: [] }] };
  const cut = { ok: true, title: "is cut off", tests: [{ status: "skipped", results: [{ status: "interrupted", duration: 0 }] }] };
  const report = {
    stats: { expected: 4, unexpected: 1, flaky: 1, skipped: 2 },
    suites: [{ file: "a.spec.ts", specs: [spec(1000), spec(500), flaky, late, cut], suites: [{ specs: [spec(250, false)] }] }],
  };
  expect(readPlaywright(report, "e2e")).toEqual({
    notRun: ["e2e/a.spec.ts > comes too late", "e2e/a.spec.ts > is cut off"],
    counts: { passed: 4, failed: 2, skipped: 2 },
    files: [{ file: "e2e/a.spec.ts", seconds: 1.75 }],
    failed: ["e2e/a.spec.ts"],
    failures: [
      { file: "e2e/a.spec.ts", test: "is flaky", why: "Once" },
      { file: "e2e/a.spec.ts", test: "takes 250 ms", why: "Too late" },
    ],
  });
});

it("counts a test as failed after a second run only where it failed in both", () => {
  const counts = { passed: 10, failed: 3, skipped: 1 };
  expect(afterSecondRun(counts, { passed: 5, failed: 1, skipped: 0 })).toEqual({ passed: 12, failed: 1, skipped: 1 });
});

it("lists a failed test by its file and name, with the cause below", () => {
  expect(listFailures([{ file: "a.test.ts", test: "adds", why: "expected 1 to be 2" }])).toBe("  a.test.ts > adds\n    expected 1 to be 2");
});

it("lists the slowest files first", () => {
  const files = [
    { file: "fast.test.ts", seconds: 0.1 },
    { file: "slow.test.ts", seconds: 12.34 },
    { file: "middle.test.ts", seconds: 3 },
  ];
  expect(slowestFiles(files, 2)).toBe("   12.3 s  slow.test.ts\n    3.0 s  middle.test.ts");
});
