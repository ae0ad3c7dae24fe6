import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Records } from "./records";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-records-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("records of a stopped bench are there when it goes on, and half a line that a kill left is made anew", () => {
  const file = join(folder, "runs.jsonl");
  const first = new Records(file);
  first.add({ kind: "saturation", key: "vllm poisson", requestsPerSecond: 40, each: [39, 41] });
  appendFileSync(file, '{"kind":"satur');
  const second = new Records(file);
  expect(second.find("saturation", "vllm poisson")?.requestsPerSecond).toBe(40);
  expect(second.find("saturation", "vllm code")).toBeUndefined();
  second.add({ kind: "saturation", key: "vllm code", requestsPerSecond: 20, each: [20] });
  expect(new Records(file).all("saturation").map(({ key }) => key)).toEqual(["vllm poisson", "vllm code"]);
  expect(readFileSync(file, "utf8").split("\n")).toHaveLength(4);
});
