import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

interface Host {
  readonly platform: string;
  readonly arch: string;
  readonly python: string | null;
  readonly freeBytes: number;
  readonly folder: string;
}

const { isVllmThere, vllmObstacle } = (await import("./installVllm.mjs" as string)) as {
  readonly isVllmThere: (folder: string) => boolean;
  readonly vllmObstacle: (host: Host) => string | null;
};

const host = { platform: "linux", arch: "x64", python: "python3", freeBytes: 9e9, folder: "/state/vllm" };

describe("what is in the way of vLLM for processors", () => {
  it("is nothing on Linux with Python and room", () => {
    expect(vllmObstacle(host)).toBeNull();
    expect(vllmObstacle({ ...host, arch: "arm64" })).toBeNull();
  });

  it.each([
    [
      { platform: "darwin", arch: "arm64" },
      /^There is no vLLM for processors for darwin on arm64, .* `npm run studio` runs the same models/,
    ],
    [{ python: null }, /^vLLM needs Python 3\.10 to 3\.13 with its module venv, and none was found\./],
    [
      { freeBytes: 3.21e9 },
      /^vLLM needs 8 GB in \/state\/vllm, where 3\.2 GB are free: free some, or set WEIR_STATE_DIR to another disk\.$/,
    ],
  ])("is said in a sentence with a way out: %j", (change, sentence) => {
    expect(vllmObstacle({ ...host, ...change })).toMatch(sentence);
  });
});

it("takes an installation that was stopped for none, and another's environment for whole", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-vllm-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(isVllmThere(folder)).toBe(false);
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin", "vllm"), "");
  expect(isVllmThere(folder)).toBe(true);
  mkdirSync(join(folder, "parts"));
  expect(isVllmThere(folder)).toBe(false);
  writeFileSync(join(folder, "parts", "whole"), "");
  expect(isVllmThere(folder)).toBe(true);
});
