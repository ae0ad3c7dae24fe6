import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { file, needs, program } from "@/scripts/needs.mjs";
import { testCertificates } from "@/server/contracts/testing/testCertificates";
import { enterTestKeys } from "@/server/contracts/testing/testSecretOrigins";
import type { ProbeTarget } from "../engineClient/checkEndpoint";
import { type EndpointProbe, probeEndpoint } from "./probeEndpoint";
import { probeEndpoints } from "./probeEndpoints";
import { listen, startTestEndpoint, type TestEndpoint, type TestEndpointOptions } from "./testing/testEndpoints";

const certificates = testCertificates();
const samples = join(import.meta.dirname, "../../../shared/data/metrics");

const closing: (() => unknown)[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-secrets-"));
  vi.stubEnv("WEIR_SECRETS_DIR", folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
  await Promise.all(closing.splice(0).map((close) => close()));
});

const { signal } = new AbortController();
const start = async (options: TestEndpointOptions = {}): Promise<TestEndpoint> => {
  const engine = await startTestEndpoint(options);
  closing.push(engine.close);
  return engine;
};
const probe = (target: Omit<ProbeTarget, "name">, more: { generate?: boolean; limitMs?: number } = {}) =>
  probeEndpoint({ name: "e", ...target }, { signal, limitMs: 10_000, ...more });
/** The problems, a line each. */
const troubles = ({ findings }: EndpointProbe) =>
  findings.filter(({ level }) => level === "failed").map(({ what, sentence }) => `${what}: ${sentence}`);
const levels = ({ findings }: EndpointProbe) => Object.fromEntries(findings.map(({ what, level }) => [what, level]));

const vllmMetrics = [
  'vllm:num_requests_running{engine="0",model_name="m"} 1',
  'vllm:num_requests_waiting{engine="0",model_name="m"} 0',
  'vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.2',
].join("\n");

describe("a probe", () => {
  it("says what an engine is, what it serves and what its metrics lack, and generates nothing unasked", async () => {
    const engine = await start({ models: ["org/m-7b"], pages: { "/version": { version: "0.11.0" }, "/metrics": vllmMetrics } });
    const found = await probe(engine);
    expect(levels(found)).toEqual({ reached: "ok", models: "ok", health: "ok", engine: "ok", metrics: "ok" });
    expect(found).toMatchObject({
      engine: { type: "vllm", version: "0.11.0" },
      served: [{ id: "org/m-7b", maxModelLen: 8192, parent: null }],
      shape: null,
      ttftSeconds: null,
    });
    expect(found.absent).toContain("promptTokens");
    expect(found.absent).not.toContain("running");
    expect(engine.asked).toEqual([]);
  });

  it("measures the time to one token where it is asked to", async () => {
    const engine = await start({ answerMs: 120 });
    const found = await probe(engine, { generate: true });
    expect(found.ttftSeconds).toBeGreaterThan(0.1);
    expect(found.ttftSeconds).toBeLessThan(5);
    expect(levels(found).token).toBe("ok");
    expect(engine.asked).toHaveLength(1);
  });

  it("tells SGLang's shape and weights from its settings, and llama.cpp by its properties", async () => {
    const sglang = await start({ pages: { "/get_server_info": { tp_size: 4, dtype: "auto", quantization: "fp8", version: "0.5.3" } } });
    expect(await probe(sglang)).toMatchObject({ engine: { type: "sglang", version: "0.5.3" }, shape: { tp: 4, pp: 1 }, precision: "fp8" });
    const llama = await start({ pages: { "/props": { total_slots: 4, build_info: "b6000" } } });
    const found = await probe(llama);
    expect(found.engine).toEqual({ type: "llama.cpp", version: "b6000" });
    expect(found.findings.find(({ what }) => what === "metrics")).toMatchObject({ level: "warn", next: "Start it with --metrics." });
  });

  it.each([
    [
      "vLLM in its development mode",
      { "/server_info?config_format=json": { vllm_config: { scheduler_config: { max_num_seqs: 32, max_num_batched_tokens: 2048 } } } },
      { maxSequences: 32, maxBatchedTokens: 2048 },
    ],
    [
      "SGLang",
      { "/get_server_info": { tp_size: 1, max_running_requests: 48, chunked_prefill_size: 8192 } },
      { maxSequences: 48, maxBatchedTokens: 8192 },
    ],
    ["SGLang that chooses by itself", { "/get_server_info": { tp_size: 1, max_running_requests: null, chunked_prefill_size: -1 } }, null],
    [
      "TGI",
      { "/info": { model_id: "org/m", version: "3.3.0", max_batch_size: 64, max_batch_prefill_tokens: 4096 } },
      { maxSequences: 64, maxBatchedTokens: 4096 },
    ],
    ["llama.cpp", { "/props": { total_slots: 4, build_info: "b6000" } }, { maxSequences: 4 }],
    ["vLLM otherwise", { "/version": { version: "0.32.0" }, "/metrics": vllmMetrics }, null],
  ])("reads the limits that %s says it was started with", async (_, pages, limits) => {
    expect((await probe(await start({ pages }))).limits).toEqual(limits);
  });

  it.each([
    ["vllm-0.27.1-live.prom", "vllm"],
    ["sglang-0.5.10-datadog.prom", "sglang"],
    ["llamacpp.prom", "llama.cpp"],
  ])("knows an engine by its published metrics: %s", needs(file(samples)), async (file, type) => {
    const engine = await start({ pages: { "/metrics": readFileSync(join(samples, file), "utf8") } });
    expect((await probe(engine)).engine?.type).toBe(type);
  });

  it("tells a key that is missing from one that is refused and one that is not set here, and shows none", async () => {
    const engine = await start({ key: "sk-right" });
    expect(troubles(await probe(engine))).toEqual(["key: It wants an API key."]);
    vi.stubEnv("WEIR_ENGINE_WRONG", "sk-wrong");
    onTestFinished(enterTestKeys([{ environment: "WEIR_ENGINE_WRONG" }, { file: "right" }].map((key) => ({ key, url: engine.url }))));
    const refused = await probe({ url: engine.url, key: { environment: "WEIR_ENGINE_WRONG" } }, { generate: true });
    expect(troubles(refused)[0]).toBe("key: It refuses the key (401).");
    expect(JSON.stringify(refused)).not.toContain("sk-wrong");
    expect(troubles(await probe({ url: engine.url, key: { environment: "WEIR_ENGINE_UNSET" } }))).toEqual([
      "key: The key's variable WEIR_ENGINE_UNSET is not set.",
    ]);
    writeFileSync(join(folder, "right"), "sk-right\n");
    expect(troubles(await probe({ url: engine.url, key: { file: "right" } }, { generate: true }))).toEqual([]);
  });

  it("says what is wrong with an answer that is no engine's", async () => {
    const site = createServer((request, response) =>
      request.url === "/v1/models" ? response.writeHead(302, { location: "https://login.test/x?token=1" }).end() : response.end("<html>"),
    );
    closing.push(() => site.close());
    const url = `http://127.0.0.1:${await listen(site)}`;
    expect(troubles(await probe({ url }))).toEqual(["models: It sends elsewhere, to https://login.test."]);
    const engine = await start({ healthy: false, models: ["a", "b"] });
    expect(troubles(await probe({ url: engine.url, servedName: "c" }))).toEqual([
      "models: It does not serve c but a, b.",
      "health: It is still loading, or not well (/health answers 503).",
    ]);
    expect(troubles(await probe({ url: `${engine.url}/team` }))[0]).toMatch(/^models: There is no OpenAI API under this address/);
  });

  it("says one cause once: nothing of health or engine where no list of models comes", async () => {
    const locked = await start({ key: "sk-right" });
    expect(levels(await probe({ url: locked.url }))).toEqual({ reached: "ok", key: "failed" });
    const site = createServer((_, response) => response.setHeader("content-type", "text/html").end("<html>Hello</html>"));
    closing.push(() => site.close());
    const url = `http://127.0.0.1:${await listen(site)}`;
    expect(levels(await probe({ url }))).toEqual({ reached: "ok", models: "failed" });
    const loading = createServer((_, response) => response.writeHead(503).end());
    closing.push(() => loading.close());
    expect(troubles(await probe({ url: `http://127.0.0.1:${await listen(loading)}` }))).toEqual([
      "models: It is still loading, or not well: it answers 503 when asked for its models.",
    ]);
  });

  it("warns of one without /health, and does not keep it from being attached", async () => {
    const engine = await start({ withoutHealth: true });
    const { findings } = await probe({ url: engine.url }, { generate: true });
    expect(findings.filter(({ level }) => level === "failed")).toEqual([]);
    expect(findings.find(({ what }) => what === "health")).toMatchObject({
      level: "warn",
      sentence: expect.stringMatching(/^There is no \/health: after a request has failed there, the gateway/),
    });
  });

  it("says why nothing comes: nobody listens, no such host, TLS where plain HTTP is and the other way round, silence", async () => {
    expect(troubles(await probe({ url: "http://127.0.0.1:9" }))).toEqual(["reached: Nothing listens at 127.0.0.1:9."]);
    expect(troubles(await probe({ url: "http://nowhere.invalid:1" }))[0]).toMatch(/nowhere\.invalid/);
    const engine = await start();
    expect(troubles(await probe({ url: engine.url.replace("http:", "https:") }))[0]).toMatch(/does not speak TLS/);
    const silent: Server = createTcpServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    closing.push(() => silent.close());
    const { port } = silent.address() as { port: number };
    expect(troubles(await probe({ url: `http://127.0.0.1:${port}` }, { limitMs: 200 }))[0]).toMatch(/does not answer in time/);
  });

  it("says which trouble there is with a certificate, and none where its authority is known", needs(program("openssl")), async () => {
    writeFileSync(join(folder, "ca.pem"), certificates!.ca);
    const [good, expired, elsewhere] = await Promise.all(
      (["good", "expired", "elsewhere"] as const).map((which) => start({ tls: certificates![which] })),
    );
    const caFile = "ca.pem";
    expect(troubles(await probe({ url: good!.url }))).toEqual([
      "certificate: Its certificate was made by an authority that is not known here.",
    ]);
    expect(troubles(await probe({ url: expired!.url, caFile }))).toEqual(["certificate: Its certificate has expired."]);
    expect(troubles(await probe({ url: elsewhere!.url, caFile }))).toEqual(["certificate: Its certificate is for another host."]);
    expect(troubles(await probe({ url: good!.url, caFile }, { generate: true }))).toEqual([]);
    expect(troubles(await probe({ url: good!.url, caFile: "gone.pem" }))[0]).toMatch(/^key: The file gone\.pem .*cannot be read/);
    const plain = await probe({ url: good!.url.replace("https:", "http:") });
    expect(plain.findings[0]).toMatchObject({ what: "reached", level: "failed", next: "If it speaks TLS, write https://." });
  });

  it("rejects when it is given up, and only then", async () => {
    const engine = await start();
    await expect(probeEndpoint({ name: "e", url: engine.url }, { signal: AbortSignal.abort() })).rejects.toThrow();
  });
});

describe("probes of several", () => {
  it("tell of each as soon as it is known: one that hangs delays none", async () => {
    const silent = createTcpServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    closing.push(() => silent.close());
    const { port } = silent.address() as { port: number };
    const engines = await Promise.all(Array.from({ length: 5 }, () => start()));
    const targets = [`http://127.0.0.1:${port}`, ...engines.map(({ url }) => url)].map((url, index) => ({ name: `e${index}`, url }));
    const told: string[] = [];
    const probes = await probeEndpoints(targets, { signal, limitMs: 6_000, onProbe: ({ name }) => told.push(name) });
    expect(told.at(-1)).toBe("e0");
    expect(probes.map(({ name }) => name)).toEqual(targets.map(({ name }) => name));
    expect(probes.map(({ findings }) => findings[0]?.level)).toEqual(["failed", ...engines.map(() => "ok")]);
  });
});
