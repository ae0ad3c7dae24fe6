import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Records } from "./records";

const here = { commit: "abc1234", machine: "2 x cores" };

let file = "";
beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), "weir-records-")), "runs.jsonl");
});
afterEach(() => rmSync(join(file, ".."), { recursive: true, force: true }));

test("records of a stopped bench are there when it continues, and half a line that a kill left is made again", () => {
  const first = new Records(file, here);
  first.add({ kind: "saturation", key: "vllm poisson", requestsPerSecond: 40, each: [39, 41] });
  appendFileSync(file, '{"kind":"satur');
  const second = new Records(file, here);
  expect(second.find("saturation", "vllm poisson")?.requestsPerSecond).toBe(40);
  expect(second.find("saturation", "vllm code")).toBeUndefined();
  second.add({ kind: "saturation", key: "vllm code", requestsPerSecond: 20, each: [20] });
  expect(new Records(file, here).all("saturation").map(({ key }) => key)).toEqual(["vllm poisson", "vllm code"]);
  expect(readFileSync(file, "utf8").split("\n")).toHaveLength(4);
});

test("each record says with which commit and on which machine it was made, and those of another are refused", () => {
  new Records(file, here).add({ kind: "saturation", key: "vllm poisson", requestsPerSecond: 40, each: [39, 41] });
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject(here);
  expect(() => new Records(file, { ...here, commit: "def5678" })).toThrow(
    /records of commit abc1234 .* this is def5678 .* move the file away/,
  );
  expect(() => new Records(file, { ...here, machine: "64 x cores" })).toThrow(/move the file away/);
});
