import { execFileSync } from "node:child_process";
import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { condition, needs } from "@/scripts/needs.mjs";
import { temporaryDirectory } from "../testing/testGateway";
import { CaptureFiles } from "./captureFiles";

const DAY_MS = 86_400_000;
const NOON = Date.UTC(2026, 0, 15, 12);
const room = { retentionDays: 30, mostBytes: 10_000_000 };

let stateDirectory: string;
let files: CaptureFiles;
beforeEach(async () => {
  stateDirectory = await temporaryDirectory();
  files = new CaptureFiles(stateDirectory);
});

const lines = async (kept: CaptureFiles): Promise<readonly string[]> => (await kept.page(""))?.lines ?? [];

describe("how long captured prompts stay", () => {
  it("is what was promised at their capture, or less where a later one promises less", async () => {
    await files.append(["a day"], NOON, { ...room, retentionDays: 1 });
    await files.append(["a year"], NOON, { ...room, retentionDays: 365 });
    await files.sweep(NOON + DAY_MS, 365);
    expect(await lines(files)).toEqual(["a year"]);
    const again = new CaptureFiles(stateDirectory);
    await again.load();
    await again.sweep(NOON + 6 * DAY_MS, 7);
    expect(await lines(again)).toEqual(["a year"]);
    await again.sweep(NOON + 7 * DAY_MS, 7);
    expect(again.summary).toEqual({ prompts: 0, bytes: 0, oldestDay: null });
  });
});

describe("a write that fails half way", needs(condition("Linux", process.platform === "linux")), () => {
  const limit = (bytes: string): void => {
    execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:`]);
  };
  const nothing = (): void => undefined;
  beforeEach(() => void process.on("SIGXFSZ", nothing));
  afterEach(() => {
    limit("unlimited");
    process.off("SIGXFSZ", nothing);
  });

  it("leaves nothing of itself, and what comes later whole", async () => {
    const line = (name: string): string => name.repeat(600);
    expect(await files.append([line("a")], NOON, room)).toBe(1);
    limit("1000");
    await expect(files.append([line("b")], NOON, room)).rejects.toThrow(/EFBIG/);
    limit("unlimited");
    expect(await files.append([line("c")], NOON, room)).toBe(1);
    expect(await lines(files)).toEqual([line("a"), line("c")]);
    expect(files.summary).toMatchObject({ prompts: 2, bytes: 1202 });
  });
});

it("closes a folder and files of earlier starts that others could read", async () => {
  const folder = join(stateDirectory, "captured");
  await mkdir(folder);
  await chmod(folder, 0o755);
  const path = join(folder, "2026-01-15.30.jsonl");
  await writeFile(path, "{}\n", { mode: 0o644 });
  await files.load();
  expect([(await stat(folder)).mode & 0o777, (await stat(path)).mode & 0o777]).toEqual([0o700, 0o600]);
});
