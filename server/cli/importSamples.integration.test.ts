import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { testOrder, testPrompt } from "@/server/batches/testing/testOrder";
import { keepPrompts } from "@/server/profiling/testing/testProfileStudio";
import { decodeSample } from "@/server/store/answerSampleCodec";
import { openStore } from "@/server/store/store";
import { weirIn } from "./testing/testWeir";

const folder = mkdtempSync(join(tmpdir(), "weir-import-results-"));
const state = join(folder, "state");
const weir = weirIn(folder);
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => {
  mkdirSync(state);
  const store = openStore(state);
  const { ensemble } = testOrder(4);
  store.ensembles.put({ ensemble, createdAt: new Date(0).toISOString(), actor: "ada" });
  keepPrompts(
    store,
    ["A", "B", null, "C"].map((reference, at) => ({ ...testPrompt(at), reference, category: "letters" })),
  );
  store.close();
});

const answer = (id: string, model: string, text: string) =>
  JSON.stringify({
    ...{ id: `vllm-${id}`, custom_id: id, error: null },
    response: {
      status_code: 200,
      request_id: "r",
      body: { model, choices: [{ message: { role: "assistant", content: text } }], usage: { completion_tokens: 7 } },
    },
  });
const failure = (id: string) =>
  JSON.stringify({ custom_id: id, error: null, response: { status_code: 400, request_id: "r", body: { error: { message: "too long" } } } });
const put = (name: string, ...lines: readonly string[]): string => {
  writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
  return join(folder, name);
};
const importing = (...files: readonly string[]) =>
  weir("import", "results", "--prompts", "set", "--ensemble", "vote", "--sample", "night", ...files);

const [small, large] = ["qwen2.5-3b", "qwen2.5-7b"];

it("keeps what workers wrote as a sample, right or wrong by the prompts' references, and tells what was left out", async () => {
  const files = [
    put("w0-s0.jsonl", answer("p0", small, "Answer: A"), answer("p1", small, "Answer: A"), answer("p2", small, "Answer: A"), failure("p3")),
    put("w0-s1.jsonl", answer("p0", large, "Answer: A"), answer("p1", large, "I cannot say")),
    put("w1-s0.jsonl", answer("p3", large, "Answer: C"), answer("p0", large, "Answer: D")),
  ];
  const { code, stdout, stderr } = await importing(...files);
  expect([code, stderr]).toEqual([0, expect.stringContaining("failed and were left out: 1.")]);
  const store = openStore(state);
  const kept = store.answerSamples.stored(stdout.trim());
  const audited = store.audit.list(10).map(({ actor, action }) => [actor, action]);
  store.close();
  expect(audited).toEqual([["command line", "keep sample of answers"]]);
  expect(kept?.summary).toMatchObject({ name: "night", origin: "batch", questions: 3, categories: ["letters"] });
  expect(kept?.summary.notes).toContain("1 of its 4 questions have no reference and were left out.");
  const sample = decodeSample(kept?.data ?? Buffer.of());
  expect(sample.questionIds).toEqual(["p0", "p1", "p3"]);
  expect(sample.models).toEqual([
    {
      model: small,
      answers: ["A", "A", null],
      correct: Uint8Array.of(1, 0, 0),
      outputTokens: Int32Array.of(7, 7, 0),
      asked: Uint8Array.of(1, 1, 0),
    },
    {
      model: large,
      answers: ["A", null, "C"],
      correct: Uint8Array.of(1, 0, 1),
      outputTokens: Int32Array.of(7, 7, 7),
      asked: Uint8Array.of(1, 1, 1),
    },
  ]);
});

it("keeps a table of labelled answers, packed or not, and says what it does not find in it", async () => {
  const rows = ["p1", "p2"].flatMap((id) => [`${id},small,1,A,10`, `${id},large,0,B,30`]);
  const table = ["prompt_id,model,correct,answer,out_tok", ...rows].join("\n");
  writeFileSync(join(folder, "answers.csv.gz"), gzipSync(table));
  for (const file of [put("answers.csv", table), join(folder, "answers.csv.gz")]) {
    const { code, stdout } = await weir("import", "answers", file, "--of", "small, large", "--sample", "two");
    expect(code).toBe(0);
    const store = openStore(state);
    expect(store.answerSamples.stored(stdout.trim())?.summary).toMatchObject({ name: "two", origin: "uploaded", questions: 2 });
    store.close();
  }
  const alone = await weir("import", "answers", join(folder, "answers.csv"), "--of", "small", "--sample", "one");
  expect([alone.code, alone.stderr]).toEqual([2, "--of names 1 models: name 2 to 17.\n"]);
  const twice = await weir("import", "answers", join(folder, "answers.csv"), "--of", "small, large,small", "--sample", "one");
  expect([twice.code, twice.stderr]).toEqual([2, "--of names small twice: name each model once.\n"]);
  const unknown = await weir("import", "answers", join(folder, "answers.csv"), "--of", "small,none", "--sample", "one");
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("none")]);
});

it("says in a sentence what it cannot read or does not know, and keeps nothing", async () => {
  const broken = await importing(put("broken.jsonl", answer("p0", small, "A"), "{"));
  expect([broken.code, broken.stderr]).toEqual([2, "broken.jsonl line 2: this is no line of results of vllm run-batch.\n"]);
  const missing = await importing(join(folder, "none.jsonl"));
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("There is no file")]);
  const unknown = await weir(
    "import",
    "results",
    "--prompts",
    "set",
    "--ensemble",
    "none",
    "--sample",
    "x",
    put("one.jsonl", failure("p0")),
  );
  expect([unknown.code, unknown.stderr]).toEqual([2, "There is no ensemble none.\n"]);
});
