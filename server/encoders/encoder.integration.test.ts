import { execSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installed, needs } from "@/scripts/needs.mjs";
import { workerFile } from "@/server/threads/workerFile";
import { type Encoder, loadEncoder } from "./encoder";
import { encoderPackage, identifyEncoder } from "./encoderFiles";
import { ENCODED_TOKENS } from "./network";
import { writeTinyEncoder } from "./testing/testEncoder";

const load = (folder: string): Promise<Encoder> => loadEncoder(folder, workerFile("encoderProcess"));

const words = ["alpha", "beta", "gamma"];
const vectorOf = (word: number) => [word + 1, word === 1 ? 1 : 0, -1];

describe("an ONNX encoder", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "weir-encoder-"));
    writeTinyEncoder({ folder: join(folder, "tiny"), words, dimensions: 3, vectorOf });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("gives each text the mean of its tokens' vectors, whatever it is batched with", needs(installed(encoderPackage)), async () => {
    const encoder = await load(join(folder, "tiny"));
    const texts = ["Alpha", "alpha beta", "", "gamma ".repeat(40), ...Array.from({ length: 40 }, () => "beta")];
    const told: number[] = [];
    const { dimensions, values } = await encoder.embed(texts, (done) => told.push(done));
    encoder.close();
    expect(dimensions).toBe(3);
    const rows = texts.map((_, at) => Array.from(values.subarray(3 * at, 3 * at + 3)));
    expect(rows.slice(0, 4)).toEqual([
      [1, 0, -1],
      [1.5, 0.5, -1],
      [0, 0, 0],
      [3, 0, -1],
    ]);
    expect(rows.slice(4)).toEqual(Array.from({ length: 40 }, () => [2, 1, -1]));
    expect(told).toEqual([16, 32, 44]);
  });

  it("reads no more of a text than it says", needs(installed(encoderPackage)), async () => {
    const encoder = await load(join(folder, "tiny"));
    const long = `${"alpha ".repeat(ENCODED_TOKENS)}${"gamma ".repeat(5000)}`;
    const { values } = await encoder.embed([long]);
    expect(Array.from(values)).toEqual([1, 0, -1]);
    encoder.close();
  });

  it("is known by its folder's name and by all of its files, as sha256sum reads them", needs(installed(encoderPackage)), async () => {
    const own = join(folder, "tiny");
    const { name, sha256 } = await identifyEncoder(own);
    const files = "config.json tokenizer.json tokenizer_config.json onnx/model.onnx";
    expect({ name, sha256 }).toEqual({
      name: "tiny",
      sha256: execSync(`sha256sum ${files} | sha256sum`, { cwd: own, encoding: "utf8" }).slice(0, 64),
    });
    const seen = new Set([sha256]);
    for (const [at, file] of files.split(" ").entries()) {
      const other = join(folder, `other-${at}`, "tiny");
      cpSync(own, other, { recursive: true });
      appendFileSync(join(other, file), " ");
      seen.add((await identifyEncoder(other)).sha256);
    }
    expect(seen.size).toBe(5);
  });

  it(
    "is its own beside another of the same name in one thread, also where the name holds what names of models may not",
    needs(installed(encoderPackage)),
    async () => {
      for (const [at, parent] of ["a", "b"].entries())
        writeTinyEncoder({ folder: join(folder, parent, "tiny--1"), words, dimensions: 3, vectorOf: () => [0, 0, at + 1] });
      const [one, other] = await Promise.all(["a", "b"].map((parent) => load(join(folder, parent, "tiny--1"))));
      expect(one?.sha256).not.toBe(other?.sha256);
      expect(Array.from((await one?.embed(["beta"]))?.values ?? [])).toEqual([0, 0, 1]);
      expect(Array.from((await other?.embed(["beta"]))?.values ?? [])).toEqual([0, 0, 2]);
      one?.close();
      other?.close();
    },
  );

  it("fails with a sentence when its process is ended, also while it computes", needs(installed(encoderPackage)), async () => {
    writeTinyEncoder({ folder: join(folder, "wide"), words, dimensions: 4096, vectorOf: () => new Array(4096).fill(1) });
    const encoder = await load(join(folder, "wide"));
    const asked = encoder.embed(
      Array.from({ length: 64 }, () => "alpha ".repeat(400)),
      () => encoder.close(),
    );
    await expect(asked).rejects.toThrow(/^The process of the encoder in .*wide has ended\.$/);
    await encoder.ended;
    await expect(encoder.embed(["alpha"])).rejects.toThrow(/has ended\.$/);
  });

  it("says which files its folder lacks", async () => {
    mkdirSync(join(folder, "empty"));
    await expect(load(join(folder, "empty"))).rejects.toThrow(/empty lacks config\.json and .* and onnx\/model\.onnx: an encoder's/);
    await expect(load("models/tiny")).rejects.toThrow(/no whole path/);
  });

  it("says that a network is none", needs(installed(encoderPackage)), async () => {
    writeTinyEncoder({ folder: join(folder, "broken"), words, dimensions: 3, vectorOf });
    writeFileSync(join(folder, "broken", "onnx", "model.onnx"), "not a network");
    await expect(load(join(folder, "broken"))).rejects.toThrow(/^The encoder in .*broken cannot be loaded: [^\n]+\.$/);
  });
});
