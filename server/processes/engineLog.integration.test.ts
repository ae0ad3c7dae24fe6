import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createMask } from "../lib/secrets";
import { endLines, newestLine, openEngineLog, trimEngineLog } from "./engineLog";

let folder: string;
let log: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-log-"));
  log = join(folder, "engine.log");
});
afterEach(() => rmSync(folder, { recursive: true }));

const plain = (text: string): string => text;
const withEscapes = (text: string): string => text.replaceAll("<", String.fromCharCode(27));

it("keeps a log bounded while its writer goes on", async () => {
  const output = openEngineLog(log);
  const lines = "let n = 0; setInterval(() => { for (let i = 0; i < 50; i += 1) console.log('line ' + n++ + ' '.repeat(90)); }, 5)";
  const writer = spawn(process.execPath, ["-e", lines], { stdio: ["ignore", output, output] });
  closeSync(output);
  let trims = 0;
  await expect
    .poll(
      () => {
        if (statSync(log).size > 50_000) trims += 1;
        trimEngineLog(log, 50_000);
        return trims;
      },
      { interval: 10, timeout: 10_000 },
    )
    .toBeGreaterThan(3);
  writer.kill("SIGKILL");
  await once(writer, "exit");
  trimEngineLog(log, 50_000);
  expect(statSync(log).size).toBeLessThanOrEqual(50_000);
  expect(statSync(`${log}.cut`).size).toBe(25_000);
  expect(statSync(`${log}.cut`).mode & 0o777).toBe(0o600);
  const told = endLines(log, plain);
  const numbers = told.map((line) => Number(/^line (\d+)$/.exec(line)?.[1]));
  expect(numbers.every((number, at) => at === 0 || number === numbers[at - 1]! + 1)).toBe(true);
});

it("keeps the log of the run before beside the new one", () => {
  writeFileSync(log, "old\n");
  closeSync(openEngineLog(log));
  expect(readFileSync(`${log}.previous`, "utf8")).toBe("old\n");
  expect(endLines(log, plain)).toEqual([]);
});

it("tells the last lines without colours, empty lines and the frames of a stack", () => {
  const lines = ["one", "<[31mtwo<[0m", "", "Stack:", '  File "a.py", line 1', "    run()", "ValueError: three", "four", "five"];
  writeFileSync(log, withEscapes(lines.join("\r\n")));
  expect(endLines(log, plain)).toEqual(["two", "Stack:", "ValueError: three", "four", "five"]);
  expect(newestLine(log, plain)).toBe("five");
  writeFileSync(log, "    all of it is set in\n");
  expect(endLines(log, plain)).toEqual(["all of it is set in"]);
});

it("never shows a line whose beginning it has not read, which may be the end of a key", () => {
  const mask = createMask(["a-key-that-is-long-enough"]);
  writeFileSync(log, `${"x".repeat(140_000)}a-key-that-is-long-enough\nlast line\n`);
  expect(endLines(log, mask)).toEqual(["last line"]);
  writeFileSync(log, "-long-enough\nlast line\n");
  writeFileSync(`${log}.cut`, "a-key-that-is");
  expect(endLines(log, mask)).toEqual(["last line"]);
  writeFileSync(log, `${"y".repeat(299)}a-key-that-is-long-enough\n`);
  rmSync(`${log}.cut`);
  expect(endLines(log, mask)[0]).toMatch(/^y+\*…$/);
  expect(existsSync(`${log}.cut`)).toBe(false);
});
