import { expect, it } from "vitest";

interface Skip {
  readonly file: string;
  readonly test: string;
  readonly lacks: readonly string[];
}

interface Read {
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number };
  readonly files: readonly { readonly file: string; readonly seconds: number }[];
  readonly failed: readonly string[];
  readonly notRun?: readonly string[];
  readonly skips: readonly Skip[];
  readonly failures: readonly { readonly file: string; readonly test: string; readonly why: string }[];
}
const { readVitest, readPlaywright, afterSecondRun, listFailures, listSkips, slowestFiles, wrongSkips } = (await import(
  "./testReports.mjs" as string
)) as {
  readVitest: (report: object, root: string) => Read;
  readPlaywright: (report: object, folder: string) => Read;
  afterSecondRun: (first: Read["counts"], second: Read["counts"]) => Read["counts"];
  listFailures: (failures: Read["failures"]) => string;
  listSkips: (skips: readonly Skip[]) => string;
  wrongSkips: (read: Pick<Read, "skips" | "failed">, isThere: (what: string) => boolean | null) => Read["failures"];
  slowestFiles: (files: Read["files"], most?: number) => string;
};

it("counts a file that does not load as one failed test", () => {
  const broken = { status: "failed", fullName: "b is even", failureMessages: ["\n\u001b[31mexpected 1 to be 2\u001b[39m\n  at b.ts"] };
  const sound = { status: "passed", fullName: "b is odd", failureMessages: [] };
  const skipped = { status: "skipped", fullName: "b is prime", failureMessages: [], meta: { lacks: ["file ../data"] } };
  const report = {
    ...{ numPassedTests: 3, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1 },
    testResults: [
      { name: "/repo/a.test.ts", status: "failed", message: "No such module", assertionResults: [], startTime: 1000, endTime: 1500 },
      { name: "/repo/b/b.test.ts", status: "failed", assertionResults: [broken, sound, skipped], startTime: 1000, endTime: 3000 },
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
    skips: [{ file: "b/b.test.ts", test: "b is prime", lacks: ["file ../data"] }],
  });
});

it("adds the seconds of a browser file's tests, those in groups too, counts a flaky test as failed, and names those that did not run", () => {
  const spec = (duration: number, ok = true) => ({
    ...{ ok, title: `takes ${duration} ms` },
    tests: [{ status: ok ? "expected" : "unexpected", results: [{ duration, ...(ok ? {} : { error: { message: "Too late" } }) }] }],
  });
  const flaky = { ok: true, title: "is flaky", tests: [{ status: "flaky", results: [{ duration: 0, error: { message: "Once" } }] }] };
  const late = { ok: true, title: "comes too late", tests: [{ status: "skipped", expectedStatus: "passed", results: [] }] };
  const annotations = [{ type: "skip", description: "program a, variable B" }];
  const poor = {
    ok: true,
    title: "lacks much",
    tests: [{ status: "skipped", expectedStatus: "skipped", annotations, results: [{ status: "skipped", duration: 0 }] }],
  };
  const cut = {
    ok: true,
    title: "is cut off",
    tests: [{ status: "skipped", expectedStatus: "passed", results: [{ status: "skipped", duration: 0 }] }],
  };
  const report = {
    stats: { expected: 4, unexpected: 1, flaky: 1, skipped: 3 },
    suites: [{ file: "a.spec.ts", specs: [spec(1000), spec(500), flaky, late, cut, poor], suites: [{ specs: [spec(250, false)] }] }],
  };
  expect(readPlaywright(report, "e2e")).toEqual({
    notRun: ["e2e/a.spec.ts > comes too late", "e2e/a.spec.ts > is cut off"],
    counts: { passed: 4, failed: 2, skipped: 3 },
    files: [{ file: "e2e/a.spec.ts", seconds: 1.75 }],
    failed: ["e2e/a.spec.ts"],
    failures: [
      { file: "e2e/a.spec.ts", test: "is flaky", why: "Once" },
      { file: "e2e/a.spec.ts", test: "takes 250 ms", why: "Too late" },
    ],
    skips: [{ file: "e2e/a.spec.ts", test: "lacks much", lacks: ["program a", "variable B"] }],
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

it("fails a skipped test that does not say what it lacks, or that lacks only what is there, unless its file failed", () => {
  const skip = (test: string, ...lacks: readonly string[]): Skip => ({ file: "a.test.ts", test, lacks });
  const skips = [
    skip("says nothing"),
    skip("has all", "file a"),
    skip("lacks one of two", "file a", "file b"),
    skip("knows itself", "a user other than root"),
    { ...skip("comes after a failure"), file: "b.test.ts" },
  ];
  const there: Readonly<Record<string, boolean>> = { "file a": true, "file b": false };
  expect(wrongSkips({ skips, failed: ["b.test.ts"] }, (what) => there[what] ?? null)).toEqual([
    { file: "a.test.ts", test: "says nothing", why: "It is skipped and does not say what it lacks." },
    { file: "a.test.ts", test: "has all", why: "It is skipped, but there is file a." },
  ]);
});

it("lists skipped tests by what they lack, the most first", () => {
  const skips = [["file a"], ["program b", "variable C"], ["program b", "variable C"], []].map((lacks) => ({ file: "", test: "", lacks }));
  expect(listSkips(skips)).toBe("2 skipped: no program b, no variable C\n1 skipped: no file a\n1 skipped: for no stated reason");
});
