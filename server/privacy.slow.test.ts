import { createHash } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { GatewayConfig, GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import { policyHash } from "@/server/contracts/gateway/policyHash";
import type { AuditLine, LabelProgress, Outcome, ProfileJob, ProfileRequest, PromptSurvey } from "@/server/contracts/studio";
import { builtInNames } from "@/solver/redaction/builtInRedactions";
import { startTestCluster } from "./clusters/testing/testCluster";
import { embeddedClusterId } from "./fleet/fleet";
import { filesWith, marker, said, startPrivacyStudio, startQuotingEngine, startTraceReceiver } from "./testing/testPrivacy";

const digest = createHash("sha256").update("secret").digest("hex");
const keys: NonNullable<GatewaySettings["keys"]> = [{ name: "app", sha256: digest }];

/** A small and a large model, a judge between them, all of one server. */
function configOver(url: string, settings: GatewaySettings): GatewayConfig {
  const policy: GatewayConfig["policy"] = {
    kind: "cascade",
    stages: [{ model: "small" }, { model: "large" }],
    thresholds: [60],
    judge: { model: "weir-judge", secondsPerCall: 0.1, usdPerCall: 0 },
    // So that requests are remembered to learn from.
    order: { kind: "stjf", agingThreshold: 100 },
    place: { kind: "least-load" },
    approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
  };
  const replicas = ["small", "large"].map((model) => ({ id: `${model}-0`, model, url, state: "active" as const, maxInFlight: 8 }));
  const judge = { model: "weir-judge", url };
  const what = { apiVersion: "weir/v1", kind: "GatewayConfig", name: "test", planId: "plan-a" } as const;
  return { ...what, policy, policyHash: policyHash(policy), replicas, judge, timeScale: 1, settings };
}

/** Studio, gateway and emulator as processes, an engine that quotes its requests, and every place where a text could become visible. */
async function startEverything() {
  let printed = "";
  const onOutput = (text: string): void => {
    printed += text;
  };
  const engine = await startQuotingEngine();
  const traces = await startTraceReceiver();
  for (const [name, value] of Object.entries({ OTEL_EXPORTER_OTLP_ENDPOINT: traces.url, OTEL_BSP_SCHEDULE_DELAY: "20" }))
    vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const cluster = await startTestCluster({ signed: false, onOutput });
  onTestFinished(() => cluster.stop());
  const call = await startPrivacyStudio({ ...cluster.environment, WEIR_LAUNCHED: "" }, onOutput);
  const folder = String(cluster.environment.WEIR_STATE_DIR);
  const admin = async (path: string, method = "GET", body?: unknown, headers: Record<string, string> = {}): Promise<Response> => {
    const sent = { authorization: `Bearer ${cluster.token}`, "content-type": "application/json", ...headers };
    return fetch(cluster.gatewayAdminUrl + path, { method, headers: sent, ...(body !== undefined && { body: JSON.stringify(body) }) });
  };
  return {
    engine,
    traces,
    call,
    folder,
    admin,
    /** Puts settings into force. */
    async set(settings: GatewaySettings): Promise<void> {
      const etag = (await admin("/config")).headers.get("etag") ?? "";
      const put = await admin("/config", "PUT", configOver(engine.url, settings), { "if-match": etag });
      if (put.status !== 200) throw new Error(await put.text());
    },
    /** Asks the gateway; the answer is read to its end, or to where it breaks off. */
    async ask(body: unknown, path = "/v1/chat/completions"): Promise<number> {
      const headers = { "content-type": "application/json", authorization: "Bearer secret" };
      const sent = typeof body === "string" ? body : JSON.stringify({ model: "cascade/default", ...(body as object) });
      const answer = await fetch(`${cluster.gatewayUrl}${path}`, { method: "POST", headers, body: sent });
      await answer.text().catch(() => "");
      return answer.status;
    },
    /** All visible texts, by place; without files of the state folder. */
    async told(): Promise<Readonly<Record<string, string>>> {
      await call("gateway.capture", embeddedClusterId);
      // Frames, spans and lines of the gateway's audit are taken every second or sooner.
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const read = async (path: string): Promise<string> => (await admin(path)).text();
      return {
        output: printed,
        "gateway metrics": await read("/metrics"),
        "gateway status": await read("/status"),
        "gateway audit": await read("/audit"),
        decisions: await read("/decisions"),
        learning: await read("/learning"),
        "studio metrics": await call("metrics"),
        "studio audit": JSON.stringify(await call<readonly AuditLine[]>("audit.list", 1000)),
        traces: traces.received.map(({ address, text }) => `${address} ${text}`).join("\n"),
        addresses: [...(await call<readonly string[]>("addresses")), ...engine.received.map(({ address }) => address)].join("\n"),
      };
    },
  };
}

type Everything = Awaited<ReturnType<typeof startEverything>>;

/** Names of places that contain the marker. */
const places = (told: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(told).flatMap(([place, text]) => (text.toLowerCase().includes(marker) ? [place] : []));

const user = (content: string) => ({ messages: [{ role: "user", content }] });

/** Requests of all kinds, most of which go wrong somewhere. */
async function sendTraffic({ ask }: Everything): Promise<void> {
  const tools = [{ type: "function", function: { name: "find", description: marker, parameters: { [marker]: {} } } }];
  const call = { id: marker, type: "function", function: { name: "find", arguments: `{"q":"${marker}"}` } };
  const conversation = [
    { role: "system", content: `Never say ${marker}.` },
    { role: "user", name: marker, content: [{ type: "text", text: marker }] },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: marker, content: marker },
  ];
  const expected: (readonly [number, Promise<number>])[] = [
    [200, ask(user(marker))],
    [200, ask({ messages: conversation, tools, user: marker, metadata: { note: marker } })],
    [200, ask(user(`fault-tool ${marker}`))],
    [200, ask(user(`fault-prose ${marker}`))],
    [200, ask(user(`fault-judge400 ${marker}`))],
    [200, ask(user(`fault-judge500 ${marker}`))],
    [400, ask(user(`fault-refused ${marker}`))],
    [503, ask(user(`fault-broken ${marker}`))],
    [503, ask(user(`fault-noise ${marker}`))],
    [503, ask(user(`fault-cut ${marker}`))],
    [200, ask({ model: "large", stream: true, ...user(marker) })],
    [200, ask({ model: "large", stream: true, ...user(`fault-torn ${marker}`) })],
    [200, ask({ model: "large", prompt: marker }, "/v1/completions")],
    [200, ask({ model: "large", input: marker }, "/v1/embeddings")],
    [400, ask(`{"model": "large", "messages": [{"role": "user", "content": "${marker}" oops`)],
    [400, ask({ messages: marker })],
  ];
  expect(await Promise.all(expected.map(([, status]) => status))).toEqual(expected.map(([status]) => status));
}

describe("texts of prompts and answers", () => {
  it("of live traffic are told nowhere and kept nowhere, whatever fails", async () => {
    const everything = await startEverything();
    await everything.set({ keys });
    await sendTraffic(everything);
    const told = await everything.told();
    // It was everywhere that it had to be, and everything that is looked through was there.
    expect(everything.engine.received.filter(({ text }) => text.includes(marker)).length).toBeGreaterThan(25);
    expect(JSON.parse(told.decisions ?? "").decisions.length).toBeGreaterThan(12);
    expect(told.learning).toContain('"sketch"');
    expect(told.traces).toContain("gen_ai");
    expect(told.output).toContain("request failed");
    expect(places(told)).toEqual([]);
    expect(filesWith(marker, everything.folder)).toEqual({});
  });

  it("stand in records where these are switched on, and in captured files without what a rule takes out, and nowhere else", async () => {
    const everything = await startEverything();
    const { admin, folder, ask, call, set } = everything;
    await set({ keys, recordedPromptCharacters: 200 });
    const own = [{ name: "berry", pattern: "secret-[a-z]+", replacement: "[berry]" }];
    const order = { share: 1, keys: ["app"], redactions: { builtIn: builtInNames, own }, retentionDays: 3, mostBytes: 1e6, reason: "test" };
    expect(await call("gateway.startCapture", embeddedClusterId, order, "ann")).toEqual({ ok: true });
    expect(await ask(user(`open ${marker}`))).toBe(200);
    expect(await ask(user(`hidden secret-${marker}`))).toBe(200);
    expect(await ask(user(`fault-broken ${marker}`))).toBe(503);
    await vi.waitFor(async () => expect((await (await admin("/capture")).json()).counts).toMatchObject({ kept: 2 }), 20_000);
    const [name = "", ...others] = Object.keys(filesWith("hidden [berry]", folder));
    expect([name, others]).toEqual([expect.stringMatching(/^captured\/\d{4}-\d\d-\d\d\.3\.jsonl$/), []]);
    expect(filesWith(`open ${marker}`, folder)).toEqual({ [name]: 1 });
    expect(filesWith(`secret-${marker}`, folder)).toEqual({});
    // Of what failed nothing is captured.
    expect(filesWith("fault-broken", folder)).toEqual({});
    const told = await everything.told();
    expect(places(told)).toEqual(["decisions"]);

    const taken = await call<Outcome<{ readonly survey: PromptSurvey }>>(
      "prompts.takeFromGateway",
      { clusterId: embeddedClusterId, from: "captured" },
      "ann",
    );
    expect(taken).toMatchObject({
      ok: true,
      survey: { form: "chat", prompts: 2, skipped: 0, withTime: 2, categories: [{ name: "app", prompts: 2 }] },
    });
    const records = await call("prompts.takeFromGateway", { clusterId: embeddedClusterId, from: "records" }, "ann");
    expect(records).toMatchObject({ ok: true, survey: { form: "record", prompts: 3, cutPrompts: 0 } });

    expect(await call("gateway.eraseCapture", embeddedClusterId, "done", "ann")).toEqual({ ok: true });
    expect(Object.keys(filesWith(marker, folder)).filter((path) => path.startsWith("captured"))).toEqual([]);
    expect((await (await admin("/capture")).json()).files).toMatchObject({ prompts: 0 });
    await set({ keys });
    expect(await ask(user(`afterwards ${marker}`))).toBe(200);
    expect((await everything.told()).decisions).not.toContain("afterwards");
  });

  it("of a profile are in the store alone, and after they were deleted nowhere", async () => {
    const { engine, call, folder, told } = await startEverything();
    const fields = [
      `plain ${marker}`,
      ...["prose", "judge400", "refused", "broken", "noise", "tool"].map((fault) => `fault-${fault} ${marker}`),
    ];
    const lines = fields.map((content, at) =>
      JSON.stringify({ id: `q${at}`, ...user(content), reference: at % 2 === 0 ? `It is ${marker}.` : "no" }),
    );
    const uploaded = await call<{ readonly uploadId: string }>(
      "upload",
      `${lines.join("\n")}\n{"messages": "${marker}"}\n{${marker}\n`,
      "mine.jsonl",
    );
    expect(uploaded).toMatchObject({ ok: true, prompts: fields.length, skipped: 2 });
    const sample = { uploadId: uploaded.uploadId, name: "mine", size: fields.length, by: ["length"], retentionDays: null };
    const { id: promptSetId } = await call<{ readonly id: string }>("prompts.sample", sample, "ann");
    expect(Object.keys(filesWith(marker, folder)).filter((path) => !path.startsWith("weir.db"))).toEqual([]);

    const at = { kind: "url", url: engine.url } as const;
    const prices = { usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 };
    const asked = { judge: { model: "weir-judge", at, ...prices }, rubric: null, repeats: 2 };
    const request: ProfileRequest = {
      ...{ name: "job", promptSetId, concurrency: 4, requestsPerMinute: null, capUsd: null, maxOutputTokens: 50, keepAnswers: true },
      gates: { confidence: false, samples: null },
      models: [
        { model: "qwen2.5-3b", at: { ...at, servedName: "small" }, ...prices },
        { model: "qwen2.5-7b", at: { ...at, servedName: "large" }, ...prices },
      ],
      measures: [
        { id: "rubric", name: "Rubric", kind: "rubric", ...asked },
        { id: "reference", name: "Reference", kind: "reference", ...asked },
        { id: "pair", name: "Pair", kind: "pairwise", against: "qwen2.5-7b", swap: true, ...asked },
        { id: "exact", name: "Exact", kind: "exact", extract: "whole" },
      ],
    };
    const run = async (given: Partial<ProfileRequest>): Promise<ProfileJob> => {
      const started = await call<Outcome<{ readonly id: string }>>("profiles.start", { ...request, ...given }, "ann");
      if (!started.ok) throw new Error(started.message);
      for (;;) {
        const job = await call<ProfileJob>("profiles.get", started.id);
        if (job.state !== "running") return job;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    const unkept = await run({ name: "unkept", keepAnswers: false });
    expect(unkept).toMatchObject({ state: "done", hasAnswers: false });
    expect(filesWith(said, folder)).toEqual({});
    const job = await run({});
    expect(filesWith(said, folder)["weir.db"] ?? filesWith(said, folder)["weir.db-wal"]).toBeGreaterThan(0);
    expect(job).toMatchObject({ state: "done", pause: null, hasAnswers: true });
    expect(job.total.failed).toBeGreaterThan(3);
    const { progress } = await call<{ readonly progress: LabelProgress }>("trust.next", job.id, "one");
    expect(JSON.stringify(progress)).toContain(marker);
    const label = { jobId: job.id, kind: "one", index: progress.task?.index ?? -1, quality: 70 } as const;
    expect(await call("trust.label", label, "ann")).toMatchObject({ ok: true });
    expect(await call("trust.report", job.id, 60)).toMatchObject({ ok: true });
    expect(Object.keys(filesWith(marker, folder)).filter((path) => !path.startsWith("weir.db"))).toEqual([]);
    expect(JSON.stringify([await call("profiles.list"), await call("prompts.list"), await call("trust.report", job.id, 60)])).not.toContain(
      marker,
    );

    expect(places(await told())).toEqual([]);
    expect(await call("prompts.deleteTexts", promptSetId, "ann")).toEqual({ ok: true });
    expect(filesWith(marker, folder)).toEqual({});
    expect(await call<ProfileJob>("profiles.get", job.id)).toMatchObject({ hasAnswers: false, total: job.total });
    expect(places(await told())).toEqual([]);
  }, 180_000);
});
