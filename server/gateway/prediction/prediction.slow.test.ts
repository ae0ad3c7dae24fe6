import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Decision, type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { gatewayArtefactsSchema } from "@/server/contracts/gateway/gatewayLearning";
import { policyHash } from "@/server/contracts/gateway/policyHash";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import type { GatewayLimits } from "../http/limits";
import { heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, startTestGateway, type TestGateway, temporaryDirectory, testConfig, until } from "../testing/testGateway";
import { longText, putArtefact, shortText, slackBy, testConfidence, testLengths } from "../testing/testPredictors";
import { ArtifactStore, sha256 } from "./artifactStore";

const lengths = testLengths();
const confidence = testConfidence();

afterEach(() => void vi.restoreAllMocks());

/** A policy over the engines of a small and a large model. */
function configOf(policy: PolicyDocument, urls: Record<string, string>, maxInFlight = 8): GatewayConfig {
  const stages = Object.entries(urls).map(([model, url]) => ({ model, urls: [url] }));
  return { ...testConfig({ stages, maxInFlight }), ...hashed(policy) };
}

const user = (content: string) => ({ model: "cascade/test", messages: [{ role: "user", content }] });

/**
 * Sends a request and reads the whole answer.
 * @returns its headers.
 */
async function ask({ post }: TestGateway, content: string, headers: Record<string, string> = {}, body: object = {}): Promise<Headers> {
  const answer = await post("/v1/chat/completions", { ...user(content), ...body }, headers);
  expect(answer.status).toBe(200);
  await answer.text();
  return answer.headers;
}

async function lastDecision(gateway: TestGateway): Promise<Decision | undefined> {
  return (await gateway.decisions()).at(-1);
}

/** A gateway whose engines answer at once, under slack dispatch by trained predictors. */
async function slackGateway(limits: Partial<GatewayLimits> = {}, stateDirectory?: string) {
  const [small, large] = await Promise.all(
    ["small", "large"].map((model) => startTestEngine((_, response) => sayCompletion(response, model, model))),
  );
  const gateway = await startTestGateway({ predictionSeconds: 5, ...limits }, stateDirectory === undefined ? {} : { stateDirectory });
  for (const artefact of [lengths, confidence]) expect((await putArtefact(gateway, artefact)).status).toBe(200);
  const urls = { small: small?.url ?? "", large: large?.url ?? "" };
  const config = configOf(slackBy({ lengths: lengths.hash, confidence: confidence.hash }), urls);
  await gateway.put(config);
  return { gateway, config, urls };
}

describe("predictions in the gateway", () => {
  it("release the shortest program first from the central queue, where clients say nothing of lengths", async () => {
    const engine = await heldEngine();
    const gateway = await startTestGateway({ predictionSeconds: 5 });
    await putArtefact(gateway, lengths);
    const order = { kind: "stjf", agingThreshold: 100 } as const;
    const policy = { kind: "fixed", model: "large", order, place: { kind: "round-robin" }, learnt: { lengths: lengths.hash } } as const;
    await gateway.put(configOf(policy, { large: engine.url }, 1));
    const names = [longText("q1"), longText("q2"), shortText("q3"), longText("q4"), shortText("q5")];
    const answers: Promise<Headers>[] = [];
    for (const [index, name] of names.entries()) {
      answers.push(ask(gateway, name, {}, { max_tokens: 5000 - 1000 * index }));
      await until(async () => {
        const { queued } = gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json());
        return engine.asked.length === 1 && queued.large === index;
      });
    }
    engine.open();
    await Promise.all(answers);
    const asked = engine.asked.map(({ body }) => (body.messages as { content: string }[])[0]?.content);
    expect(asked[0]).toBe(names[0]);
    expect(new Set(asked.slice(1, 3))).toEqual(new Set([names[2], names[4]]));
  });

  it("choose the surer model, whose program keeps it, and stand in the record beside the predictors' hashes", async () => {
    const { gateway } = await slackGateway();
    expect((await ask(gateway, shortText("q1"), { "x-session-id": "a" })).get("x-weir-model")).toBe("small");
    const first = await lastDecision(gateway);
    expect(first?.predictions).toMatchObject({ lengths: lengths.hash, confidence: confidence.hash });
    expect(first?.predictions?.absent).toBeUndefined();
    const { small, large } = first?.predictions?.models ?? {};
    expect(small?.remainingTokens).toBeLessThan(200);
    expect(small?.confidence).toBeGreaterThan(0.8);
    expect(large?.confidence).toBeLessThan(0.2);
    expect(first?.predictedProgramTokens).toBeCloseTo(small?.remainingTokens ?? Number.NaN, 0);

    expect((await ask(gateway, longText("q2"), { "x-session-id": "b" })).get("x-weir-model")).toBe("large");
    const second = await lastDecision(gateway);
    expect(second?.predictions?.models.small?.confidence).toBeLessThan(0.2);
    expect(second?.predictions?.models.large?.remainingTokens).toBeGreaterThan(1000);
    // The confidence is that of its program's first request, whatever the later ones contain; each request has its own length.
    await ask(gateway, longText("q3"), { "x-session-id": "a" });
    const later = await lastDecision(gateway);
    expect(later?.startReason).toBe("program-keeps-its-model");
    expect(later?.predictions?.models.small?.confidence).toBe(small?.confidence);
    expect(later?.predictions?.models.small?.remainingTokens).toBeGreaterThan(1000);
  });

  it("count in the loads of models as what programs have yet to write, until they are answered", async () => {
    const [small, large] = [await startTestEngine((_, response) => sayCompletion(response, "small")), await heldEngine()];
    const gateway = await startTestGateway({ predictionSeconds: 5 });
    for (const artefact of [lengths, confidence]) await putArtefact(gateway, artefact);
    const policy = { ...slackBy({ lengths: lengths.hash, confidence: confidence.hash }), tau: 0 };
    await gateway.put(configOf(policy, { small: small.url, large: large.url }));
    const held = ask(gateway, longText("q1"));
    await until(() => large.asked.length === 1);
    // 4000 tokens at 0.01 s over a batch of 10 are 4 s, and the floor 1 s; its 22 tokens of input would add nothing.
    expect((await ask(gateway, longText("q2"))).get("x-weir-model")).toBe("small");
    large.open();
    await held;
    expect((await ask(gateway, longText("q3"))).get("x-weir-model")).toBe("large");
  });

  it("give way to what the client says of scores and of its program, and go before max_tokens", async () => {
    const { gateway } = await slackGateway();
    const headers = { "x-weir-router-scores": "small=99,large=1", "x-weir-program-tokens": "77" };
    expect((await ask(gateway, longText("q1"), headers, { max_tokens: 3 })).get("x-weir-model")).toBe("small");
    const decision = await lastDecision(gateway);
    expect(decision).toMatchObject({ predictedProgramTokens: 77, routerScores: { small: 99, large: 1 } });
    expect(decision?.predictedTokens).toBeGreaterThan(100);
  });

  it("that find the queue full are absent, and the request goes on without", async () => {
    const { gateway } = await slackGateway({ predictionsWaiting: 0 });
    await ask(gateway, shortText("q1"), {}, { max_tokens: 9 });
    expect(await lastDecision(gateway)).toMatchObject({ predictedTokens: 9, predictions: { models: {}, absent: "queue-full" } });
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    expect(metrics).toContain('weir_gateway_predictions_total{outcome="queue-full"} 1');
  });

  it("of a thread that hangs are absent for being late, until it is replaced", async () => {
    const { gateway } = await slackGateway({ predictionSeconds: 0.05 });
    const hang = vi.spyOn(Worker.prototype, "postMessage").mockImplementation(() => undefined);
    await ask(gateway, shortText("q1"), {}, { max_tokens: 9 });
    expect(await lastDecision(gateway)).toMatchObject({ predictedTokens: 9, predictions: { models: {}, absent: "late" } });
    hang.mockRestore();
    await until(async () => {
      await ask(gateway, shortText("q1"));
      return (await lastDecision(gateway))?.predictions?.absent === undefined;
    });
  });

  it("come again after their thread died, and requests in between are answered without", async () => {
    const threads: Worker[] = [];
    const post = Worker.prototype.postMessage;
    vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, ...given) {
      threads.push(this);
      return post.apply(this, given);
    });
    const { gateway } = await slackGateway();
    await ask(gateway, shortText("q1"));
    expect((await lastDecision(gateway))?.predictions?.absent).toBeUndefined();
    await threads.at(-1)?.terminate();
    await ask(gateway, shortText("q1"));
    expect((await lastDecision(gateway))?.predictions).toMatchObject({ models: {}, absent: "loading" });
    await until(async () => {
      await ask(gateway, shortText("q1"));
      return (await lastDecision(gateway))?.predictions?.absent === undefined;
    });
  });

  it("change under load with the plan that names others, with no request lost and none without", async () => {
    const { gateway, urls } = await slackGateway();
    const other = testLengths(2);
    await putArtefact(gateway, other);
    let ended = false;
    const statuses: number[] = [];
    const clients = Array.from({ length: 8 }, async (_, client) => {
      for (let request = 0; !ended; request += 1) {
        const answer = await gateway.post("/v1/chat/completions", user(request % 2 === 0 ? shortText("q1") : longText(`q${client}`)));
        statuses.push(answer.status);
        await answer.text();
      }
    });
    for (let round = 0; round < 4; round += 1) {
      const learnt = { lengths: (round % 2 === 0 ? other : lengths).hash, confidence: confidence.hash };
      await gateway.put(configOf(slackBy(learnt), urls));
      const seen = statuses.length;
      await until(() => statuses.length > seen + 40);
    }
    ended = true;
    await Promise.all(clients);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const decisions = await gateway.decisions();
    expect(decisions.length).toBeGreaterThan(160);
    expect(decisions.filter(({ predictions }) => predictions === undefined || predictions.absent !== undefined)).toEqual([]);
    expect(new Set(decisions.map(({ predictions }) => predictions?.lengths))).toEqual(new Set([lengths.hash, other.hash]));
  });

  it("of a shadow and of a canary are their own, with no request of the canary going without", async () => {
    const { gateway, config, urls } = await slackGateway();
    const { learnt: _, ...plain } = slackBy({});
    const policy = { ...plain, models: plain.models.map((own) => ({ ...own, confidence: own.model === "small" ? 0.9 : 0.1 })) };
    await gateway.put({ ...configOf(policy, urls), planId: "plan-b" });
    const candidate = { planId: config.planId, policyHash: config.policyHash, policy: config.policy };
    const send = (path: string, body: object) =>
      fetch(gateway.adminUrl + path, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ candidate, by: "ada", reason: "", ...body }),
      });
    expect((await send("/shadow", {})).status).toBe(200);
    await until(async () => {
      await ask(gateway, longText("q1"));
      return ((await (await fetch(`${gateway.adminUrl}/shadow`)).json()) as { starts: { different: number } }).starts.different > 0;
    });
    expect((await gateway.decisions()).every(({ predictions, stages }) => predictions === undefined && stages[0]?.model === "small")).toBe(
      true,
    );
    expect(
      (
        await fetch(`${gateway.adminUrl}/shadow`, {
          method: "DELETE",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ by: "ada", reason: "" }),
        })
      ).status,
    ).toBe(200);
    const steps = { shares: [0.5, 1], stepSeconds: 60, minRequests: 1000, stop: { errorShare: 0.1, slow: null } };
    expect((await send("/canary", steps)).status).toBe(200);
    for (let program = 0; program < 12; program += 1) await ask(gateway, longText("q1"), { "x-session-id": `program-${program}` });
    const decisions = (await gateway.decisions()).slice(-12);
    const tried = decisions.filter(({ canary }) => canary);
    expect(tried.length).toBeGreaterThan(0);
    expect(tried.map(({ predictions }) => [predictions?.lengths, predictions?.absent])).toEqual(tried.map(() => [lengths.hash, undefined]));
    expect(tried.every(({ stages }) => stages[0]?.model === "large")).toBe(true);
    expect(decisions.filter(({ canary }) => !canary).every(({ stages }) => stages[0]?.model === "small")).toBe(true);
  });

  it("are asked of nobody, and cost nothing, under a policy that reads none", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "done"));
    const start = vi.spyOn(Worker.prototype, "postMessage");
    const gateway = await startTestGateway();
    await gateway.put(
      configOf({ kind: "fixed", model: "large", order: { kind: "fcfs" }, place: { kind: "least-load" } }, { large: engine.url }),
    );
    await ask(gateway, "hello");
    expect(start).not.toHaveBeenCalled();
    expect(await lastDecision(gateway)).not.toHaveProperty("predictions");
  });

  it("take workflow and stage from headers that are names, which engines are not told", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "done"));
    const gateway = await startTestGateway();
    const order = { kind: "stjf", agingThreshold: 100 } as const;
    await gateway.put(configOf({ kind: "fixed", model: "large", order, place: { kind: "least-load" } }, { large: engine.url }));
    await until(async () => {
      await ask(gateway, "hello", { "x-weir-workflow": "planner-coder", "x-weir-stage": "coder" });
      await ask(gateway, "hello", { "x-weir-workflow": "a text, and no name", "x-weir-stage": "" });
      return (await (await fetch(`${gateway.adminUrl}/learning`)).text()) !== "";
    });
    const lines = (await (await fetch(`${gateway.adminUrl}/learning`)).text()).trim().split("\n");
    const stages = lines.map((line) => JSON.parse(line).facts).map(({ workflow, stage }) => `${workflow}/${stage}`);
    expect(new Set(stages)).toEqual(new Set(["planner-coder/coder", "/"]));
    expect(engine.asked.some(({ headers }) => "x-weir-workflow" in headers)).toBe(false);
  });
});

describe("predictors on the gateway's disk", () => {
  it("are listed with what they are, and kept once", async () => {
    const gateway = await startTestGateway();
    for (let again = 0; again < 2; again += 1) {
      const put = await putArtefact(gateway, lengths);
      expect([put.status, await put.json()]).toEqual([
        200,
        { hash: lengths.hash, kind: "lengths", bytes: lengths.bytes.length, models: ["small", "large"], used: false },
      ]);
    }
    const { artefacts } = gatewayArtefactsSchema.parse(await (await fetch(`${gateway.adminUrl}/artefacts`)).json());
    expect(artefacts.map(({ hash }) => hash)).toEqual([lengths.hash]);
  });

  it("are refused in a sentence where their bytes are not what the path says, or no predictor", async () => {
    const gateway = await startTestGateway();
    const put = async (hash: string, body: Uint8Array) => {
      const answer = await fetch(`${gateway.adminUrl}/artefacts/${hash}`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: new Uint8Array(body),
      });
      return [answer.status, ((await answer.json()) as { error: { message: string } }).error.message] as const;
    };
    const [cut, message] = await put(lengths.hash, lengths.bytes.slice(1));
    expect([cut, message]).toEqual([
      400,
      expect.stringMatching(/^The SHA-256 of these \d+ bytes is [0-9a-f]{64}, not the one in the path\.$/),
    ]);
    expect(await put("mine", lengths.bytes)).toEqual([400, "The name of a predictor is its SHA-256: 64 hexadecimal digits."]);
    const noise = Buffer.from("no predictor at all");
    expect(await put(sha256(noise), noise)).toEqual([400, expect.stringMatching(/^These bytes cannot be used as a predictor\./)]);
  });

  it("must be there before a configuration, a canary or a shadow names them, and be of the kind they are named for", async () => {
    const { gateway, config, urls } = await slackGateway();
    const missing = { planId: "plan-b", ...hashed(slackBy({ lengths: "5".repeat(64) })) };
    const swapped = hashed(slackBy({ lengths: confidence.hash }));
    const send = async (path: string, method: string, body: unknown) => {
      const etag = (await fetch(`${gateway.adminUrl}/config`)).headers.get("etag") ?? "";
      const answer = await fetch(gateway.adminUrl + path, {
        method,
        headers: { "content-type": "application/json", "if-match": etag },
        body: JSON.stringify(body),
      });
      return [answer.status, ((await answer.json()) as { error?: { message: string } }).error?.message] as const;
    };
    const sentence = `The policy names the predictor 555555555555 for lengths, which this gateway does not have: PUT it to /artefacts/${"5".repeat(64)} first.`;
    const signed = { by: "ada", reason: "try" };
    expect(await send("/config", "PUT", { ...config, ...missing })).toEqual([400, sentence]);
    expect(await send("/config/validate", "POST", { ...config, ...missing })).toEqual([400, sentence]);
    expect(await send(`/config/validate?with=${"5".repeat(64)}`, "POST", { ...config, ...missing })).toEqual([200, undefined]);
    expect(await send("/shadow", "PUT", { candidate: missing, ...signed })).toEqual([409, sentence]);
    const steps = { shares: [1], stepSeconds: 1, minRequests: 1, stop: { errorShare: 0.1, slow: null } };
    expect(await send("/canary", "PUT", { candidate: missing, ...steps, ...signed })).toEqual([409, sentence]);
    expect((await send("/config", "PUT", { ...configOf(slackBy({}), urls), ...swapped }))[1]).toBe(
      `The policy names the predictor ${confidence.hash.slice(0, 12)} for lengths, but it is one for confidence.`,
    );
    expect(policyHash(config.policy)).toBe((await (await fetch(`${gateway.adminUrl}/config`)).json()).policyHash);
  });

  it("stay while a policy names them, and go when none does", async () => {
    const { gateway, config, urls } = await slackGateway();
    const remove = async () => (await fetch(`${gateway.adminUrl}/artefacts/${lengths.hash}`, { method: "DELETE" })).status;
    expect(await remove()).toBe(409);
    const { learnt: _, ...policy } = config.policy;
    await gateway.put({ ...configOf(policy, urls), planId: "plan-b" });
    // A rollback would go back to them.
    expect(await remove()).toBe(409);
    await gateway.put({ ...configOf(policy, urls), planId: "plan-c" });
    expect(await remove()).toBe(200);
    expect(await remove()).toBe(404);
  });

  it("make room for newer ones, the oldest first, but those that a policy names", async () => {
    const artifacts = new ArtifactStore(await temporaryDirectory(), { list: [], canRun: false });
    const hashes = Array.from({ length: 18 }, (_, at) => at.toString(16).padStart(64, "0"));
    const used = new Set(hashes.slice(0, 2));
    const what = { kind: "lengths", models: [] } as const;
    for (const hash of hashes) expect(await artifacts.keep(hash, Buffer.from(hash), what, used)).toBe(true);
    expect(artifacts.list.map(({ hash }) => hash)).toEqual([...hashes.slice(0, 2), ...hashes.slice(4)]);
    expect(await artifacts.keep("f".repeat(64), Buffer.alloc(1), what, new Set(hashes))).toBe(false);
    expect(artifacts.list).toHaveLength(16);
  });

  it("are there again after a crash, and one whose file was changed is done without", async () => {
    const stateDirectory = await temporaryDirectory();
    await slackGateway({}, stateDirectory);
    // The first gateway is still up, as if it had been killed: nothing was written by an orderly shutdown.
    const again = await startTestGateway({ predictionSeconds: 5 }, { stateDirectory });
    await ask(again, longText("q1"));
    expect((await lastDecision(again))?.predictions?.models.large?.remainingTokens).toBeGreaterThan(1000);
    const files = await readdir(join(stateDirectory, "artefacts"));
    expect(files.sort()).toEqual([lengths, confidence].flatMap(({ hash }) => [`${hash}.bin`, `${hash}.json`]).sort());
    await writeFile(join(stateDirectory, "artefacts", `${lengths.hash}.bin`), "something else");
    const third = await startTestGateway({ predictionSeconds: 5 }, { stateDirectory });
    await ask(third, longText("q1"));
    const predictions = (await lastDecision(third))?.predictions;
    expect(predictions?.absent).toBe("not-loaded");
    expect(predictions?.models.small?.remainingTokens).toBeUndefined();
    expect(predictions?.models.small?.confidence).toBeLessThan(0.2);
  });
});
