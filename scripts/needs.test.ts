import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { condition, file, installed, isThere, lackOf, needs, program, variable } from "./needs.mjs";

afterEach(() => vi.unstubAllEnvs());

it("a test with all that it needs runs; otherwise it is skipped, with what it lacks", () => {
  const all = [file("package.json"), installed("vitest"), program("node"), condition("a user", true)];
  expect(needs(...all)).toEqual({});
  const lacks = ["file no/such/file", "package no-such-package", "program no-such-program", "a moon"];
  const missing = [file("no/such/file"), installed("no-such-package"), program("no-such-program"), condition("a moon", false)];
  expect(needs(...all, ...missing)).toEqual({ skip: true, meta: { lacks } });
});

it("whether a thing is there can be asked again later, but of a condition only its test can tell", () => {
  vi.stubEnv("WEIR_TEST_NEED", "");
  const [what = ""] = lackOf([variable("WEIR_TEST_NEED")]);
  expect(isThere(what)).toBe(false);
  vi.stubEnv("WEIR_TEST_NEED", "1");
  expect(isThere(what)).toBe(true);
  expect(isThere("file package.json")).toBe(true);
  expect(isThere("a moon")).toBeNull();
});

it("a file beside the repository is named from its root, one elsewhere by its whole path", () => {
  const root = join(import.meta.dirname, "..");
  expect(file(join(root, "../no-such-shared/data.csv")).what).toBe("file ../no-such-shared/data.csv");
  expect(file("/no-such-root/a").what).toBe("file /no-such-root/a");
});
