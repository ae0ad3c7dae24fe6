import { execSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installed, needs } from "@/scripts/needs.mjs";
import { type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { loadEncoder } from "@/server/encoders/encoder";
import { encoderPackage, identifyEncoder } from "@/server/encoders/encoderFiles";
import { writeTinyEncoder } from "@/server/encoders/testing/testEncoder";
import { workerFile } from "@/server/threads/workerFile";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { type Embeddings, trainConfidence } from "@/solver/prediction/confidence";
import { trainConfigurations } from "@/solver/prediction/configurations";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, startTestGateway, type TestGateway, temporaryDirectory, testConfig, until } from "../testing/testGateway";
import { putArtefact, slackBy, type TestArtefact, testLengths } from "../testing/testPredictors";
import { askAs, callOf, jitConfig, justInTime, ladder, voting } from "../testing/testRounds";
import { sha256 } from "./artifactStore";
import { encoderRefusal, readEncoderFolders } from "./encoderFolders";

/** An encoder's folder: prompts of "sum" and prompts of "prove" have embeddings on opposite sides. */
function tinyEncoder(folder: string): string {
  writeTinyEncoder({ folder, words: ["sum", "prove"], dimensions: 2, vectorOf: (word) => (word === 0 ? [1, 0] : [0, 1]) });
  return folder;
}

const texts = Array.from({ length: 40 }, (_, row) => (row % 2 === 0 ? "sum" : "prove"));
const facts = texts.map(() => ({ instructionTokens: 0, promptTokens: 1, inputTokens: 1, workflow: "", stage: "", sketch: null }));

async function embeddingsOf(folder: string): Promise<Embeddings> {
  const encoder = await loadEncoder(folder, workerFile("encoderProcess"));
  const { dimensions, values } = await encoder.embed(texts);
  encoder.close();
  return { encoder: { name: encoder.name, sha256: encoder.sha256 }, dimensions, values };
}

const asArtefact = (bytes: Uint8Array): TestArtefact => ({ hash: sha256(bytes), bytes });

/** Heads on its embeddings: confident in the small model for sums, and in the large one for proofs. */
async function headsOn(folder: string): Promise<TestArtefact> {
  const right = ["sum", "prove"].map((own) => Float32Array.from(texts, (text) => (text === own ? 1 : 0)));
  const embeddings = await embeddingsOf(folder);
  return asArtefact(encodeArtefact(trainConfidence({ models: ["small", "large"], facts, right, embeddings }, { seed: 1 })));
}

/** The same for a vote: any configuration is accurate for sums, and only that of the largest models for proofs. */
async function votingHeadsOn(folder: string): Promise<TestArtefact> {
  const space = configurationSpace(voting, ladder);
  const every = texts.flatMap((text) => Array.from({ length: space.size }, (_, at) => text === "sum" || at === space.size - 1));
  const rows = {
    ...{ workflow: voting, space, facts, prompts: Int32Array.from(texts.keys()), programs: new Float32Array(texts.length).fill(1) },
    accurate: Float32Array.from(every, Number),
    loss: Float32Array.from(every, (accurate) => (accurate ? 0 : 100)),
    embeddings: await embeddingsOf(folder),
  };
  return asArtefact(encodeArtefact(trainConfigurations(rows, { seed: 1 })));
}

async function configBy(learnt: { readonly lengths?: string; readonly confidence: string }): Promise<GatewayConfig> {
  const engines = await Promise.all(["small", "large"].map((model) => startTestEngine((_, response) => sayCompletion(response, model))));
  const stages = ["small", "large"].map((model, at) => ({ model, urls: [engines[at]?.url ?? ""] }));
  return { ...testConfig({ stages }), ...hashed(slackBy(learnt)) };
}

/**
 * Sends a request.
 * @returns its model and what its record says about predictors.
 */
async function ask(gateway: TestGateway, content: string) {
  const answer = await gateway.chat({ messages: [{ role: "user", content }] });
  await answer.text();
  expect(answer.status).toBe(200);
  return { model: answer.headers.get("x-weir-model"), predictions: (await gateway.decisions()).at(-1)?.predictions };
}

/** Processes of encoders that run from that folder. */
const processesOf = (folder: string): readonly number[] =>
  execSync("ps -eo pid=,args=", { encoding: "utf8" })
    .split("\n")
    .flatMap((line) => (line.includes(`encoderProcess.mjs ${folder}`) ? [Number.parseInt(line, 10)] : []));

async function refusalOf(answer: Response): Promise<string> {
  expect(answer.status).toBe(400);
  return ((await answer.json()) as { error: { message: string } }).error.message;
}

const send = (gateway: TestGateway, method: string, path: string, config: GatewayConfig): Promise<Response> =>
  fetch(gateway.adminUrl + path, {
    method,
    headers: { "content-type": "application/json", "if-match": "none" },
    body: JSON.stringify(config),
  });

describe("heads on an encoder's embeddings", needs(installed(encoderPackage)), () => {
  let parent: string;
  let folder: string;
  let heads: TestArtefact;
  beforeAll(async () => {
    parent = mkdtempSync(join(tmpdir(), "weir-encoders-"));
    folder = tinyEncoder(join(parent, "tiny"));
    heads = await headsOn(folder);
  });
  afterAll(() => rmSync(parent, { recursive: true }));

  it("serve where the gateway has the encoder: they choose the surer model and stand in the record, beside lengths by words", async () => {
    const lengths = testLengths();
    const gateway = await startTestGateway({ predictionSeconds: 5 }, { encoderFolders: [folder] });
    for (const artefact of [heads, lengths]) expect((await putArtefact(gateway, artefact)).status).toBe(200);
    await gateway.put(await configBy({ confidence: heads.hash, lengths: lengths.hash }));
    const sum = await ask(gateway, "sum");
    expect(sum.model).toBe("small");
    expect(sum.predictions?.absent).toBeUndefined();
    expect(sum.predictions?.confidence).toBe(heads.hash);
    expect(sum.predictions?.models.small?.confidence).toBeGreaterThan(0.8);
    expect(sum.predictions?.models.large?.confidence).toBeLessThan(0.2);
    expect(sum.predictions?.models.large?.remainingTokens).toBeGreaterThan(0);
    // More concurrent requests than one pass of the network takes.
    const asked = Array.from({ length: 24 }, (_, at) => (at % 3 === 0 ? "sum" : "prove"));
    const answers = await Promise.all(asked.map((content) => gateway.chat({ messages: [{ role: "user", content }] })));
    expect(answers.map(({ headers }) => headers.get("x-weir-model"))).toEqual(asked.map((text) => (text === "sum" ? "small" : "large")));
    await Promise.all(answers.map((answer) => answer.text()));
    // A request without text counts as average, which favours neither model.
    const none = await ask(gateway, "");
    expect(none.predictions?.models.small?.confidence).toBeCloseTo(0.5, 1);
  });

  it("tell accurate configurations of a program too, and count as absent where they come too late", async () => {
    const predictor = await votingHeadsOn(folder);
    const engines = await Promise.all(ladder.map((model) => startTestEngine((_, response) => sayCompletion(response, model))));
    const urls = engines.map(({ url }) => url);
    const config = jitConfig(urls, justInTime([{ workflow: voting, predictor: predictor.hash }]));
    const told = async (searchSeconds: number, asked: readonly string[]) => {
      const gateway = await startTestGateway({ predictionSeconds: 20, searchSeconds }, { encoderFolders: [folder] });
      expect((await putArtefact(gateway, predictor)).status).toBe(200);
      await gateway.put(config);
      for (const [at, content] of asked.entries()) await askAs(gateway, callOf(voting, "voter-1", `p${at}`), content);
      return (await gateway.decisions()).map(({ configurations, predictions }) => configurations?.accurate ?? predictions?.absent);
    };
    expect(await told(20, ["sum", "prove", "sum"])).toEqual([81, 1, 81]);
    // By then the encoder's process has not answered, or the search has no time left.
    expect([1, "late"]).toContain((await told(0, ["sum"]))[0]);
  });

  it("are refused before they are in force where the gateway lacks the encoder, or has another of its name", async () => {
    const { name, sha256: own } = await identifyEncoder(folder);
    const config = await configBy({ confidence: heads.hash });
    const path = `/config/validate?with=${heads.hash}&encoder=${own}:${name}`;
    const reads = `The predictor ${heads.hash.slice(0, 12)} reads embeddings of the encoder tiny ${own.slice(0, 12)}`;
    const without = await startTestGateway();
    const lacks = `${reads}, which this gateway does not have: add its folder to WEIR_ENCODER_FOLDERS and restart the gateway.`;
    expect(await refusalOf(await putArtefact(without, heads))).toBe(lacks);
    expect(await refusalOf(await send(without, "POST", path, config))).toBe(lacks);
    expect(await refusalOf(await send(without, "PUT", "/config", config))).toMatch(/which this gateway does not have: PUT it to/);
    expect(gatewayStatusSchema.parse(await (await fetch(`${without.adminUrl}/status`)).json()).planId).toBeNull();

    const other = tinyEncoder(join(parent, "other", "tiny"));
    appendFileSync(join(other, "config.json"), " ");
    const withOther = await startTestGateway({}, { encoderFolders: [other, join(folder, "none")] });
    expect(await refusalOf(await putArtefact(withOther, heads))).toContain(`${reads}, but the files in ${other} have the SHA-256 `);
    const same = tinyEncoder(join(parent, "same", "tiny"));
    const withIt = await startTestGateway({}, { encoderFolders: [same] });
    expect((await send(withIt, "POST", path, config)).status).toBe(200);
    appendFileSync(join(same, "config.json"), " ");
    expect(await refusalOf(await putArtefact(withIt, heads))).toBe(`The encoder tiny in ${same} has changed since the gateway started.`);
  });

  it("come again after their encoder's process was killed, and are absent with the reason where it is gone at a restart, while requests go on", async () => {
    const stateDirectory = await temporaryDirectory();
    const config = await configBy({ confidence: heads.hash });
    const first = await startTestGateway({ predictionSeconds: 5 }, { stateDirectory, encoderFolders: [folder] });
    await putArtefact(first, heads);
    await first.put(config);
    // The trial's process ends.
    await until(() => processesOf(folder).length === 1);
    const [pid = 0] = processesOf(folder);
    process.kill(pid, "SIGKILL");
    await until(() => !processesOf(folder).includes(pid));
    expect((await ask(first, "prove")).predictions?.absent).toMatch(/^(loading|failed)$/);
    await until(async () => (await ask(first, "prove")).predictions?.absent === undefined);
    await first.close();
    await until(() => processesOf(folder).length === 0);
    const bereft = await startTestGateway({ predictionSeconds: 5 }, { stateDirectory, encoderFolders: [join(parent, "none")] });
    expect((await ask(bereft, "prove")).predictions).toEqual({ confidence: heads.hash, models: {}, absent: "no-encoder" });
    const validated = await fetch(`${bereft.adminUrl}/config/validate`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(config),
    });
    expect(await refusalOf(validated)).toMatch(
      /^The predictor .* reads embeddings of the encoder tiny .*, which this gateway does not have/,
    );
  });
});

describe("encoders of a gateway", () => {
  it("are folders that hold one, and why others do not is said of each", async () => {
    const folder = tinyEncoder(join(await temporaryDirectory(), "tiny"));
    const { encoders, problems } = await readEncoderFolders([folder, "tiny", join(folder, "onnx")]);
    expect(encoders).toEqual({ list: [{ ...(await identifyEncoder(folder)), folder }], canRun: installed(encoderPackage).isThere });
    expect(problems).toEqual([expect.stringMatching(/^"tiny" is no whole path/), expect.stringMatching(/onnx lacks config\.json and /)]);
  });

  it("cannot be run without the optional package, which is told with the way out", async () => {
    const folder = tinyEncoder(join(await temporaryDirectory(), "tiny"));
    const { encoders } = await readEncoderFolders([folder]);
    const [encoder] = encoders.list;
    if (encoder === undefined) throw new Error("no encoder");
    expect(encoderRefusal("a".repeat(64), encoder, { ...encoders, canRun: true })).toBeNull();
    expect(encoderRefusal("a".repeat(64), encoder, { ...encoders, canRun: false })).toMatch(
      /^The predictor aaaaaaaaaaaa reads .* package @huggingface\/transformers, which runs it, is not installed here: run npm ci/,
    );
  });
});
