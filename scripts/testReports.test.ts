import { expect, it } from "vitest";

interface Read {
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number };
  readonly files: readonly { readonly file: string; readonly seconds: number }[];
  readonly failed: readonly string[];
}
const { readVitest, readPlaywright, afterSecondRun, slowestFiles } = (await import("./testReports.mjs" as string)) as {
  readVitest: (report: object, root: string) => Read;
  readPlaywright: (report: object, folder: string) => Read;
  afterSecondRun: (first: Read["counts"], second: Read["counts"]) => Read["counts"];
  slowestFiles: (files: Read["files"], most?: number) => string;
};

it("counts a file that does not load as one failed test", () => {
  const report = {
    ...{ numPassedTests: 3, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1 },
    testResults: [
      { name: "/repo/a.test.ts", status: "failed", assertionResults: [], startTime: 1000, endTime: 1500 },
      { name: "/repo/b/b.test.ts", status: "failed", assertionResults: [{}], startTime: 1000, endTime: 3000 },
    ],
  };
  expect(readVitest(report, "/repo")).toEqual({
    counts: { passed: 3, failed: 2, skipped: 3 },
    files: [
      { file: "a.test.ts", seconds: 0.5 },
      { file: "b/b.test.ts", seconds: 2 },
    ],
    failed: ["a.test.ts", "b/b.test.ts"],
  });
});

it("adds the seconds of a browser file's tests, those in groups too, and counts a flaky test as failed", () => {
  const spec = (duration: number, ok = true) => ({ ok, tests: [{ results: [{ duration }] }] });
  const report = {
    stats: { expected: 4, unexpected: 1, flaky: 1, skipped: 2 },
    suites: [{ file: "a.spec.ts", specs: [spec(1000), spec(500)], suites: [{ specs: [spec(250, false)] }] }],
  };
  expect(readPlaywright(report, "e2e")).toEqual({
    counts: { passed: 4, failed: 2, skipped: 2 },
    files: [{ file: "e2e/a.spec.ts", seconds: 1.75 }],
    failed: ["e2e/a.spec.ts"],
  });
});

it("counts a test as failed after a second run only where it failed in both", () => {
  const counts = { passed: 10, failed: 3, skipped: 1 };
  expect(afterSecondRun(counts, { passed: 5, failed: 1, skipped: 0 })).toEqual({ passed: 12, failed: 1, skipped: 1 });
});

it("lists the slowest files first", () => {
  const files = [
    { file: "fast.test.ts", seconds: 0.1 },
    { file: "slow.test.ts", seconds: 12.34 },
    { file: "middle.test.ts", seconds: 3 },
  ];
  expect(slowestFiles(files, 2)).toBe("   12.3 s  slow.test.ts\n    3.0 s  middle.test.ts");
});
