import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { askNvidiaSmi, readNvidiaSmi } from "./nvidiaSmi";

const SAMPLE = join(import.meta.dirname, "../../../shared/data/metrics/nvidia-smi-query.csv");
const MIB = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), "weir-smi-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Installs a program in place of nvidia-smi. */
function program(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const ask = (command: string, timeoutMs = 5000) => askNvidiaSmi({ command, timeoutMs, node: "here" });

describe("nvidia-smi", () => {
  it("reads a sample of its table", needs(file(SAMPLE)), () => {
    const gpu = {
      node: "here",
      instance: null,
      name: "NVIDIA GeForce RTX 3090",
      utilisationOf: "any kernel",
      powerWatts: null,
      containers: [],
    };
    expect(readNvidiaSmi(readFileSync(SAMPLE, "utf8"), "here")).toEqual([
      { ...gpu, index: 0, utilisation: 0.98, memoryUsedBytes: 22000 * MIB, memoryTotalBytes: 24576 * MIB, temperatureCelsius: 65 },
      { ...gpu, index: 1, utilisation: 0.45, memoryUsedBytes: 8000 * MIB, memoryTotalBytes: 24576 * MIB, temperatureCelsius: 52 },
    ]);
  });

  it("says null for what the driver does not tell or tells in another unit, and never zero", () => {
    const header = "index, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W], temperature.gpu";
    const rows = ["0, [N/A], [Not Supported], 24 GiB, 35.69 W, N/A", "1, 0 %, 0 MiB, 80 MiB, [Unknown Error], 30", "[N/A], 1 %, , , , "];
    expect(readNvidiaSmi([header, ...rows].join("\r\n"), "here")).toMatchObject([
      {
        index: 0,
        utilisation: null,
        utilisationOf: null,
        memoryUsedBytes: null,
        memoryTotalBytes: null,
        powerWatts: 35.69,
        temperatureCelsius: null,
      },
      { index: 1, utilisation: 0, memoryUsedBytes: 0, memoryTotalBytes: 80 * MIB, powerWatts: null, temperatureCelsius: 30 },
    ]);
    expect(readNvidiaSmi("No devices were found\n", "here")).toBeNull();
  });

  it("asks the program for a table with its units", async () => {
    const echo = program("echo", 'printf "index, name\\n0, %s %s\\n" "$(echo "$1" | tr , /)" "$2"');
    expect(await ask(echo)).toMatchObject({
      ok: true,
      readings: [{ name: "--query-gpu=index/name/utilization.gpu/memory.used/memory.total/power.draw/temperature.gpu --format=csv" }],
    });
  });

  it("kills one that hangs, also one that does not end when it is asked to", async () => {
    const began = performance.now();
    const hung = program("hung", `trap "" TERM\necho $$ > ${folder}/pid\nexec sleep 600`);
    expect(await ask(hung, 300)).toEqual({ ok: false, kind: "timeout", reason: `${hung} did not answer within 300 ms` });
    // Only a program that was waited for would take this long.
    expect(performance.now() - began).toBeLessThan(50_000);
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    await expect.poll(() => existsSync(`/proc/${pid}/stat`) && !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z")).toBe(false);
  });

  it("gives the reason of one that fails, and tells one that is not there from one that writes something else", async () => {
    const failing = program("failing", 'echo "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver."; exit 9');
    expect(await ask(failing)).toMatchObject({ kind: "status", reason: expect.stringMatching(/ended with 9: NVIDIA-SMI has failed/) });
    expect(await ask(join(folder, "nowhere"))).toEqual({ ok: false, kind: "missing" });
    expect(await ask(program("other", "echo hello"))).toMatchObject({ kind: "unreadable" });
    expect(await ask(program("endless", "yes"))).toMatchObject({ kind: "too-large" });
  });
});
