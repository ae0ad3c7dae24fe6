import { createHash } from "node:crypto";
import { appendFile, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { factsOfLine, type LearningLine, learningLineSchema } from "@/server/contracts/gateway/gatewayLearning";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { trainLengths } from "@/solver/prediction/lengths";
import { sketchOf } from "@/solver/words/sketch";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, oneModel, startTestGateway, type TestGateway, temporaryDirectory, until } from "../testing/testGateway";
import { putArtefact, slackBy, type TestArtefact } from "../testing/testPredictors";
import { sha256 } from "./artifactStore";

const secret = "quokkaberry";
const stjf = { kind: "fixed", model: "large", order: { kind: "stjf", agingThreshold: 100 }, place: { kind: "least-load" } } as const;

async function linesOf({ adminUrl }: TestGateway): Promise<readonly LearningLine[]> {
  const answer = await fetch(`${adminUrl}/learning`);
  expect(answer.headers.get("content-type")).toBe("application/x-ndjson");
  const lines = (await answer.text()).split("\n").filter((line) => line !== "");
  return lines.map((line) => learningLineSchema.parse(JSON.parse(line)));
}

/** A predictor trained on letters: their words are common, the names in them are not. */
function letterLengths(): TestArtefact {
  const names = Array.from(
    { length: 300 },
    (_, at) => `${String.fromCharCode(97 + (at % 26))}${String.fromCharCode(97 + Math.floor(at / 26))}by`,
  );
  const facts = names.map((name) => {
    const sketch = sketchOf(`Please write a letter from the office to ${name} because she was there with ${name}son.`);
    return { instructionTokens: 0, promptTokens: 20, inputTokens: 20, workflow: "", stage: "", sketch };
  });
  const tokens = new Float32Array(facts.length).fill(100);
  const models = [
    {
      model: "large",
      facts: [...facts, ...facts],
      requestTokens: new Float32Array([...tokens, ...tokens]),
      remainingTokens: new Float32Array([...tokens, ...tokens]),
    },
  ];
  const bytes = encodeArtefact(trainLengths({ prompts: 300, models }, { seed: 1 }));
  return { hash: sha256(bytes), bytes };
}

/** A gateway that orders by length with a started thread, over an engine whose answers have 3 tokens. */
async function learningGateway(stateDirectory?: string) {
  const engine = await startTestEngine((_, response) => sayCompletion(response, `the ${secret}`));
  const gateway = await startTestGateway({}, stateDirectory === undefined ? {} : { stateDirectory });
  await gateway.put({ ...oneModel([engine.url]), ...hashed(stjf) });
  await until(async () => {
    await ask(gateway, "warming up");
    return (await linesOf(gateway)).length > 0;
  });
  expect(await forget(gateway)).toBe(200);
  return { gateway, engine };
}

async function forget({ adminUrl }: TestGateway): Promise<number> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ by: "ada", reason: "other users" });
  return (await fetch(`${adminUrl}/learning`, { method: "DELETE", headers, body })).status;
}

async function ask(gateway: TestGateway, content: string, headers: Record<string, string> = {}, body: object = {}): Promise<void> {
  const messages = [
    { role: "system", content: "You plan." },
    { role: "user", content: "Earlier." },
    { role: "assistant", content: "Yes." },
    { role: "user", content },
  ];
  const answer = await gateway.post("/v1/chat/completions", { model: "cascade/test", messages, ...body }, headers);
  expect(answer.status).toBe(200);
  await answer.text();
}

describe("what the gateway remembers to learn from", () => {
  it("is what was known of a request when it came, in features, with what was written", async () => {
    const { gateway } = await learningGateway();
    const text = `Write ${secret} in twelve words.`;
    const stage = {
      "x-session-id": `session of ${secret}`.replaceAll(" ", "-"),
      "x-weir-workflow": "planner-coder",
      "x-weir-stage": "coder",
    };
    await ask(gateway, text, stage, { max_tokens: 500 });
    await ask(gateway, "More.", stage);
    await ask(gateway, "Another.");
    await until(async () => (await linesOf(gateway)).length === 3);
    const [first, second, alone] = await linesOf(gateway);
    if (first === undefined) throw new Error("nothing is remembered");
    expect(first).toMatchObject({ model: "large", accepted: true, outputTokens: 3, mostTokens: 500 });
    expect(first.finishedAtMs).toBeGreaterThanOrEqual(first.startedAtMs);
    expect(Math.abs(Date.now() - first.startedAtMs)).toBeLessThan(60_000);
    expect(factsOfLine(first)).toEqual({
      instructionTokens: Math.ceil("You plan.".length / 4),
      promptTokens: Math.ceil(text.length / 4),
      inputTokens: Math.ceil(("You plan.Earlier.Yes.".length + text.length) / 4),
      workflow: "planner-coder",
      stage: "coder",
      // The policy names no predictor whose words could be counted.
      sketch: null,
    });
    expect(second?.program).toBe(first.program);
    expect(alone?.program).not.toBe(first.program);
    expect(alone?.facts).toMatchObject({ workflow: "", stage: "" });
  });

  it("lets a prompt's common words be found by trying, and neither its names nor any order of its words", async () => {
    const { gateway } = await learningGateway();
    const predictor = letterLengths();
    expect((await putArtefact(gateway, predictor)).status).toBe(200);
    const engine = await startTestEngine((_, response) => sayCompletion(response, "done"));
    await gateway.put({ ...oneModel([engine.url]), ...hashed({ ...stjf, learnt: { lengths: predictor.hash } }) });
    const text =
      "Patient John Smith was diagnosed with HIV. Please write a letter that fires Mary Jones from the Berlin office because she is pregnant.";
    await ask(gateway, text);
    await until(async () => (await linesOf(gateway)).length === 1);
    const [line] = await linesOf(gateway);
    const sketch = line === undefined ? null : factsOfLine(line).sketch;
    const kept = new Set(sketch?.buckets);
    // Tries every word and every pair in any order, as in a guessing attack with perfect guesses.
    const words = text.toLowerCase().match(/[a-z]+|\./g) ?? [];
    const stands = (tried: string): boolean => sketchOf(tried).buckets.every((bucket) => kept.has(bucket));
    const common = ["was", "with", "please", "write", "a", "letter", "from", "the", "office", "because", "she", "."];
    expect(new Set(words.filter(stands))).toEqual(new Set(common));
    expect(
      words.flatMap((one) => words.map((other) => `${one} ${other}`)).filter((pair) => !/^(.+) \1$/.test(pair) && stands(pair)),
    ).toEqual([]);
    // Whole sketches, as predictors read them, would reveal all of it.
    const whole = new Set(sketchOf(text).buckets);
    expect(words.slice(1).every((word, at) => sketchOf(`${words[at]} ${word}`).buckets.every((bucket) => whole.has(bucket)))).toBe(true);
  });

  it("has no text, and names of programs only under a key that stays", async () => {
    const { gateway } = await learningGateway();
    const session = `customer-${secret}`;
    await ask(gateway, `Say ${secret}.`, { "x-session-id": session });
    await until(async () => (await linesOf(gateway)).length === 1);
    const all = await (await fetch(`${gateway.adminUrl}/learning`)).text();
    expect(all).not.toContain(secret);
    expect(all).not.toContain(createHash("sha256").update(session).digest("hex").slice(0, 16));
    const folder = join(gateway.stateDirectory, "learning");
    for (const file of await readdir(folder)) {
      expect((await readFile(join(folder, file))).includes(secret)).toBe(false);
      expect((await stat(join(folder, file))).mode & 0o077).toBe(0);
    }
  });

  it("survives a restart under the same names of programs, without the half of a line that a crash left, and is forgotten on demand", async () => {
    const stateDirectory = await temporaryDirectory();
    const { gateway } = await learningGateway(stateDirectory);
    await ask(gateway, "One.", { "x-session-id": "a" });
    await until(async () => (await linesOf(gateway)).length === 1);
    await gateway.close();
    await appendFile(join(stateDirectory, "learning", "newer.ndjson"), '{"startedAtMs": 17');
    const again = await startTestGateway({}, { stateDirectory });
    await ask(again, "Two.", { "x-session-id": "a" });
    await until(async () => (await linesOf(again)).length === 2);
    const [first, second] = await linesOf(again);
    expect(second?.program).toBe(first?.program);
    expect(await forget(again)).toBe(200);
    expect(await linesOf(again)).toEqual([]);
    const audit = (await (await fetch(`${again.adminUrl}/audit`)).json()) as { readonly lines: readonly object[] };
    expect(audit.lines.at(-1)).toMatchObject({ by: "ada", action: "features forgotten", detail: expect.stringMatching(/: other users$/) });
    const unsigned = await fetch(`${again.adminUrl}/learning`, { method: "DELETE" });
    expect(unsigned.status).toBe(400);
  });

  it("is nothing under a policy that reads no lengths, nor of requests that failed, nor of embeddings", async () => {
    const engine = await startTestEngine((_, response) => response.writeHead(400).end("{}"));
    const gateway = await startTestGateway();
    await gateway.put({ ...oneModel([engine.url]), ...hashed(stjf) });
    await gateway.chat({});
    await gateway.post("/v1/embeddings", { model: "large", input: "x" });
    const other = await startTestEngine((_, response) => sayCompletion(response, "done"));
    await gateway.put(oneModel([other.url]));
    await ask(gateway, "plain");
    await gateway.close();
    expect(await readdir(join(gateway.stateDirectory, "learning"))).toEqual(["key"]);
  });

  it("is kept under slack dispatch that names no predictor, so that there is something to train one on", async () => {
    const engines = await Promise.all(["small", "large"].map((model) => startTestEngine((_, response) => sayCompletion(response, model))));
    const gateway = await startTestGateway();
    const replicas = ["small", "large"].map((model, at) => {
      return { id: model, model, url: engines[at]?.url ?? "", state: "active" as const, maxInFlight: 8 };
    });
    await gateway.put({ ...oneModel([]), replicas, ...hashed(slackBy(undefined)) });
    await until(async () => {
      await ask(gateway, "Which one?");
      return (await linesOf(gateway)).length > 0;
    });
    expect(["small", "large"]).toContain((await linesOf(gateway))[0]?.model);
    expect((await gateway.decisions()).every(({ predictions }) => predictions === undefined)).toBe(true);
  });
});
