import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Decoder } from "./decoder";
import { deepened } from "./deepen";
import { prepareRealModels } from "./prepareRealModels";
import { readSafetensors } from "./safetensors";
import { decoderFiles, randomDecoder } from "./testing/randomDecoder";
import { readGguf } from "./testing/readGguf";

let root = "";
const [weights, target] = [() => join(root, "models"), () => join(root, "prepared")];

function storeWeights(name: string, decoder: Decoder): void {
  const { configJson, weights: bytes } = decoderFiles(decoder);
  mkdirSync(join(weights(), name), { recursive: true });
  writeFileSync(join(weights(), name, "config.json"), configJson);
  writeFileSync(join(weights(), name, "model.safetensors"), bytes);
}

const small = randomDecoder(1);
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "weir-models-"));
  storeWeights("arith-small", small);
  storeWeights("arith-large", randomDecoder(2));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const prepare = () => prepareRealModels(target(), ["gguf", "hugging-face"], weights());

/** Every file of a folder with its content, and when it was written. */
const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => ({ name, writtenMs: statSync(join(folder, name)).mtimeMs, content: readFileSync(join(folder, name), "base64") }));

test("both models are written in both formats, deepened, and the trained one as GGUF beside them", async () => {
  const prepared = await prepare();
  expect(prepared).toMatchObject({ ok: true, models: [{ name: "arith-small" }, { name: "arith-large" }] });
  if (!prepared.ok) return;
  const { gguf, trainedGguf, huggingFace } = prepared.models[0]!;
  const blocks = (path: string | null) => readGguf(readFileSync(path!)).header.get("llama.block_count");
  expect([blocks(gguf), blocks(trainedGguf)]).toEqual([12, 2]);
  expect(JSON.parse(readFileSync(join(huggingFace!, "config.json"), "utf8"))).toMatchObject({
    architectures: ["LlamaForCausalLM"],
    num_hidden_layers: 12,
    eos_token_id: 1,
  });
  expect(readSafetensors(readFileSync(join(huggingFace!, "model.safetensors")))).toEqual(deepened(small, 10).tensors);
});

test("only the formats that are asked for are written", async () => {
  const prepared = await prepareRealModels(target(), ["gguf"], weights());
  expect(prepared).toMatchObject({ ok: true, models: [{ huggingFace: null }, { huggingFace: null }] });
  expect(filesOf(target()).filter(({ name }) => name.endsWith(".safetensors"))).toEqual([]);
});

test("a second call writes nothing; a file that was cut or changed since is made again", async () => {
  await prepare();
  const long = new Date(1_000_000);
  for (const { name } of filesOf(target())) utimesSync(join(target(), name), long, long);
  const whole = filesOf(target());
  await prepare();
  expect(filesOf(target())).toEqual(whole);

  truncateSync(join(target(), "arith-small.gguf"), 100);
  writeFileSync(join(target(), "arith-large", "config.json"), "{}");
  await prepare();
  const texts = (files: ReturnType<typeof filesOf>) => files.map(({ name, content }) => ({ name, content }));
  expect(texts(filesOf(target()))).toEqual(texts(whole));
});

test("what a killed preparation left without its record is made again", async () => {
  mkdirSync(join(target(), "arith-small"), { recursive: true });
  writeFileSync(join(target(), "arith-small", "model.safetensors"), "half");
  await prepare();
  expect(readSafetensors(readFileSync(join(target(), "arith-small", "model.safetensors"))).size).toBe(3 + 9 * 12);
});

test("other weights replace the prepared ones", async () => {
  await prepare();
  const other = randomDecoder(7);
  storeWeights("arith-small", other);
  await prepare();
  expect(readSafetensors(readFileSync(join(target(), "arith-small", "model.safetensors")))).toEqual(deepened(other, 10).tensors);
});

test("four preparations at once leave whole files and nothing else", async () => {
  await Promise.all([prepare(), prepare(), prepare(), prepare()]);
  const names = filesOf(target()).map(({ name }) => name);
  expect(names).toHaveLength(2 * (2 + 5 + 2));
  const before = filesOf(target());
  await prepare();
  expect(filesOf(target())).toEqual(before);
});

test("missing and damaged weights, and a folder that is a file, are each refused in one sentence", async () => {
  writeFileSync(join(root, "file"), "");
  expect(await prepareRealModels(join(root, "file"), ["gguf"], weights())).toMatchObject({
    ok: false,
    message: expect.stringMatching(/^The models cannot be written to .*file: /),
  });
  truncateSync(join(weights(), "arith-large", "model.safetensors"), 500);
  expect(await prepare()).toMatchObject({
    ok: false,
    message: expect.stringMatching(/^The weights of arith-large under .* are damaged: /),
  });
  writeFileSync(join(weights(), "arith-small", "config.json"), "{");
  expect(await prepare()).toMatchObject({
    ok: false,
    message: expect.stringMatching(/^The weights of arith-small under .* are damaged: /),
  });
  rmSync(join(weights(), "arith-small"), { recursive: true });
  expect(await prepare()).toMatchObject({
    ok: false,
    message: expect.stringMatching(/^The weights in .*arith-small cannot be read: .*WEIR_ROOT/),
  });
});
