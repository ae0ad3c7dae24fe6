import Anthropic from "@anthropic-ai/sdk";
import { beforeAll, describe, expect, it } from "vitest";
import type { Decision, GatewaySettings, GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import type { HostedEngine } from "@/solver/hardware/hostedModel";
import type { GatewayOptions } from "../gateway";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, until } from "../testing/testGateway";
import { billedNano, hostedAlone, hostedConfig, providerKey, providerKeyVariable } from "../testing/testHosted";
import { type ProviderFault, seededFaults, startTestProvider } from "../testing/testProvider";

beforeAll(() => {
  process.env[providerKeyVariable] = providerKey;
});

interface Given {
  readonly kind?: HostedEngine["kind"];
  readonly fault?: (call: number) => ProviderFault;
  readonly retryAfter?: string;
  readonly delayMs?: number;
  readonly terms?: Partial<HostedEngine>;
  readonly settings?: GatewaySettings;
  readonly maxInFlight?: number;
  readonly options?: Partial<GatewayOptions>;
}

/** A cascade whose first answers are all escalated to a provider. */
async function escalating({ kind = "openai", terms, settings, maxInFlight, options, ...faults }: Given = {}) {
  const small = await startTestEngine((_, response) => sayCompletion(response, "from the house", "small"));
  const judge = await startTestEngine((_, response) => sayCompletion(response, "10", "weir-judge"));
  const provider = await startTestProvider({ kind, ...faults });
  const gateway = await startTestGateway({}, options);
  const config = hostedConfig({
    smallUrl: small.url,
    judgeUrl: judge.url,
    providerUrl: provider.url,
    terms: { kind, ...terms },
    ...(maxInFlight !== undefined && { maxInFlight }),
    ...(settings !== undefined && { settings }),
  });
  await gateway.put(config);
  const ask = async (body: Record<string, unknown> = {}, headers: Record<string, string> = {}) => {
    const answer = await gateway.chat(body, { headers });
    const text = await answer.text();
    return { answer, text, status: answer.status };
  };
  const metric = async (name: string): Promise<string | undefined> =>
    (await (await fetch(`${gateway.adminUrl}/metrics`)).text()).split("\n").find((line) => line.startsWith(name));
  return { small, judge, provider, gateway, config, ask, metric };
}

const contentOf = (text: string): unknown => JSON.parse(text).choices[0].message.content;
const last = (decisions: readonly Decision[]): Decision | undefined => decisions.at(-1);

describe.each(["openai", "anthropic"] as const)("a hosted stage of the kind %s", (kind) => {
  it("answers what the house's stage does not, with the provider's key and the provider's price", async () => {
    const { ask, provider, gateway } = await escalating({ kind });
    const { answer, text, status } = await ask(
      { top_k: 4, chat_template_kwargs: {} },
      { authorization: "Bearer client", "x-session-id": "s" },
    );
    expect([status, contentOf(text)]).toEqual([200, "from the provider"]);
    expect([answer.headers.get("x-weir-model"), answer.headers.get("x-weir-stage")]).toEqual(["far", "2"]);
    const { body, headers } = provider.asked[0] ?? {};
    expect(body?.model).toBe("provider-model");
    expect(Object.keys(headers ?? {}).filter((name) => /session|trace|request-id/.test(name))).toEqual([]);
    const decision = last(await gateway.decisions());
    expect(decision?.stages.map(({ model, verdict }) => [model, verdict])).toEqual([
      ["small", "escalated"],
      ["far", "accepted"],
    ]);
    expect(JSON.stringify(decision)).not.toContain(providerKey);
    const [tokens] = provider.billed;
    expect(decision?.stages[1]).toMatchObject(tokens ?? {});
  });

  it.each(["buffer", "last"])("streams to a client that asks for a stream, with %s", async (way) => {
    const { ask, gateway, provider } = await escalating({ kind });
    const { text } = await ask({ stream: true }, { "x-weir-stream": way });
    const events = text.split("\n\n").filter((event) => event.startsWith("data: {"));
    const said = events.map((event) => JSON.parse(event.slice(6)).choices[0]?.delta?.content ?? "").join("");
    expect(said).toBe("from the provider");
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
    expect(text).not.toContain('"usage":{');
    expect(last(await gateway.decisions())?.stages[1]).toMatchObject(provider.billed[0] ?? {});
  });

  it("carries a conversation with tools and a client of the Messages API", async () => {
    const { provider, gateway } = await escalating({ kind });
    const client = new Anthropic({ baseURL: gateway.dataUrl, apiKey: "none", maxRetries: 0 });
    const message = await client.messages.create({
      model: "cascade/default",
      max_tokens: 60,
      system: "Be brief.",
      tools: [{ name: "look", description: "Looks.", input_schema: { type: "object", properties: { id: { type: "integer" } } } }],
      messages: [
        { role: "user", content: "Look at 7." },
        { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "look", input: { id: 7 } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "seven" }] },
      ],
    });
    expect(message.content[0]).toMatchObject({ type: "text", text: "from the provider" });
    const { body } = provider.asked[0] ?? {};
    expect(body?.max_tokens).toBe(60);
    if (kind === "openai") return expect(JSON.stringify(body?.messages)).toContain('"tool_call_id":"call_1"');
    expect(body?.system).toBe("Be brief.");
    expect(body?.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Look at 7." }] },
      { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "look", input: { id: 7 } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "seven" }] },
    ]);
  });

  it("is asked for no more tokens than were reserved, whichever fields the client bounds its answer by", async () => {
    const { ask, provider } = await escalating({ kind, terms: { mostOutputTokens: 50 } });
    for (const bounds of [{}, { max_tokens: 900 }, { max_completion_tokens: 900 }, { max_tokens: 5, max_completion_tokens: 100_000 }]) {
      expect((await ask(bounds)).status).toBe(200);
      const { max_tokens: legacy = 0, max_completion_tokens: present = 0 } = (provider.asked.at(-1)?.body ?? {}) as Record<string, number>;
      expect(Math.max(legacy, present)).toBeGreaterThan(0);
      expect(Math.max(legacy, present)).toBeLessThanOrEqual(50);
    }
  });

  it("leaves what it cannot read, and what is billed apart from tokens, to the house's stage, and goes on taking requests", async () => {
    const { ask, provider, gateway } = await escalating({ kind, maxInFlight: 2 });
    const bodies = [{ web_search_options: {} }, { modalities: ["text", "audio"] }];
    const unreadable = [
      { messages: [{ role: "user", content: [{ type: { toString: 1 } }] }] },
      { response_format: { type: "json_object" } },
    ];
    for (const body of [...bodies, ...(kind === "anthropic" ? [...unreadable, ...unreadable] : [])]) {
      const { status, text } = await ask(body);
      expect([status, contentOf(text)]).toEqual([200, "from the house"]);
    }
    expect(provider.asked).toEqual([]);
    expect(contentOf((await ask()).text)).toBe("from the provider");
    expect(last(await gateway.decisions())?.stages[1]).toMatchObject(provider.billed[0] ?? {});
  });

  it("loses no request while the provider limits, fails and breaks off by a seed, and pays to the cent", async () => {
    const faults = seededFaults(7, 0.4, [429, 500, 529, "broken"]);
    const { ask, provider, gateway, metric } = await escalating({ kind, fault: faults, retryAfter: "0.05", maxInFlight: 4 });
    const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => ask({ stream: index % 3 === 0 })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const { text } of answers) expect(text).toMatch(/from the (provider|house)|the provider/);
    expect(provider.billed.length).toBeGreaterThan(20);
    expect(provider.brokenOff.length).toBeGreaterThan(0);
    const spent = Number((await metric("weir_gateway_hosted_usd_total"))?.split(" ")[1]);
    const known = billedNano(provider.billed) / 1e9;
    // What broke off counts as reserved, which is at least what the provider bills for it.
    expect(spent).toBeGreaterThanOrEqual(known + billedNano(provider.brokenOff) / 1e9 - 1e-9);
    const costs = (await gateway.decisions()).flatMap(({ stages }) =>
      stages.filter(({ model, verdict }) => model === "far" && verdict === "accepted"),
    );
    expect(costs).toHaveLength(provider.billed.length);
  }, 30_000);
});

describe("a hosted stage", () => {
  it("takes no new work until the time that its provider names", async () => {
    const { ask, provider } = await escalating({ fault: (call) => (call === 0 ? 429 : null), retryAfter: "0.4" });
    const startedMs = performance.now();
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(answers.map(({ text }) => contentOf(text))).toEqual(Array(3).fill("from the provider"));
    // The first three may have been under way together; who met the pause came again after it.
    expect(performance.now() - startedMs).toBeGreaterThan(390);
    expect(provider.calls).toBe(4);
  });

  it("is lost in a longer pause than requests wait for, and the earlier answer is given at once", async () => {
    const { ask, gateway, provider } = await escalating({ fault: () => 529, retryAfter: "3600" });
    const { text, answer } = await ask();
    expect(contentOf(text)).toBe("from the house");
    expect(answer.headers.get("x-weir-skipped")).toBe("far");
    await ask();
    expect(provider.calls).toBe(1);
    const status = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as GatewayStatus;
    expect(status.replicas.find(({ model }) => model === "far")).toMatchObject({
      state: "unhealthy",
      reason: "its provider asked for a pause",
    });
    expect(status.lostStages?.map(({ model }) => model)).toEqual(["far"]);
  });

  it("is waited for no longer than until the client needs the answer", async () => {
    const { ask } = await escalating({ fault: () => 429, retryAfter: "20" });
    const startedMs = performance.now();
    const { text } = await ask({}, { "x-weir-deadline-seconds": "0.5" });
    expect(contentOf(text)).toBe("from the house");
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  it("keeps to its requests a minute without asking its provider", async () => {
    const { ask, provider } = await escalating({ terms: { requestsPerMinute: 3 } });
    const asked = Array.from({ length: 5 }, () => ask({}, { "x-weir-deadline-seconds": "2" }));
    const texts = (await Promise.all(asked)).map(({ text }) => contentOf(text));
    expect(texts.filter((text) => text === "from the provider")).toHaveLength(3);
    expect(texts.filter((text) => text === "from the house")).toHaveLength(2);
    expect(provider.calls).toBe(3);
  });

  it("waits for the next minute where its tokens of this one are used up", async () => {
    const clock = { nowMs: Date.parse("2026-01-31T12:00:59.000Z") - performance.now() };
    const nowMs = () => clock.nowMs + performance.now();
    const { ask, provider } = await escalating({ terms: { tokensPerMinute: 150 }, options: { nowMs } });
    const texts = [contentOf((await ask()).text), contentOf((await ask()).text)];
    expect(texts).toEqual(["from the provider", "from the provider"]);
    expect(provider.calls).toBe(2);
  });

  it("is closed when its budget is used up, and says so in record, header, metric and status", async () => {
    // It stands still, a second before the window's end.
    const clock = { nowMs: Date.parse("2026-01-31T12:59:59Z") };
    const cap = 0.02;
    const { ask, gateway, provider, metric } = await escalating({
      terms: { usdPerHour: cap },
      maxInFlight: 3,
      options: { nowMs: () => clock.nowMs },
    });
    const answers = [];
    for (let round = 0; round < 20; round += 1) answers.push(...(await Promise.all([ask(), ask(), ask()])));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const spent = billedNano(provider.billed) / 1e9;
    expect(spent).toBeLessThanOrEqual(cap);
    // Less is left than one request reserves.
    expect(spent).toBeGreaterThan(cap - 0.0025);
    const { answer, text } = await ask();
    expect(contentOf(text)).toBe("from the house");
    expect(answer.headers.get("x-weir-hosted-skipped")).toBe("far=budget");
    const decision = last(await gateway.decisions());
    expect(decision?.skipped).toEqual([{ model: "far", cause: "budget" }]);
    expect(decision?.stages.at(-1)).toMatchObject({ model: "small", verdict: "accepted", reason: "lower-stage" });
    expect(await metric('weir_gateway_hosted_refusals_total{model="far",limit="usdPerHour"}')).toBeDefined();
    const shown = Number((await metric("weir_gateway_hosted_usd_total"))?.split(" ")[1]);
    expect(shown).toBeCloseTo(spent, 9);
    const calls = provider.calls;
    clock.nowMs += 1_500;
    await until(async () => contentOf((await ask()).text) === "from the provider");
    expect(provider.calls).toBeGreaterThan(calls);
  }, 30_000);

  it("refuses a request by the one model of a fixed policy with the time of its return", async () => {
    const provider = await startTestProvider({ kind: "openai", fault: () => 429, retryAfter: "90" });
    const gateway = await startTestGateway();
    await gateway.put(hostedAlone(provider.url));
    const first = await gateway.chat({ model: "cascade/default" });
    expect([first.status, provider.calls]).toEqual([503, 1]);
    const second = await gateway.chat({ model: "cascade/default" });
    expect(second.status).toBe(503);
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(80);
    expect(provider.calls).toBe(1);
  });
});

describe("data that stays in the house", () => {
  it.each([
    ["no rule", {}],
    ["a rule for another model", { dataMayLeave: [{ models: ["far"] }] }],
    ["a rule for a key", { dataMayLeave: [{ models: ["cascade/default"], key: "mobile" }] }],
    ["a rule for a team", { dataMayLeave: [{ models: ["cascade/default"], team: "search" }] }],
  ] as const)("is never sent to a hosted stage: %s", async (_, settings) => {
    const { ask, provider, gateway } = await escalating({ settings: settings as GatewaySettings });
    const { text, answer, status } = await ask();
    expect([status, contentOf(text)]).toEqual([200, "from the house"]);
    expect(answer.headers.get("x-weir-hosted-skipped")).toBe("far=data-stays");
    expect(answer.headers.get("x-weir-degraded")).toBeNull();
    expect(last(await gateway.decisions())?.skipped).toEqual([{ model: "far", cause: "data-stays" }]);
    expect((await ask({ stream: true }, { "x-weir-stream": "last" })).status).toBe(200);
    expect(provider.calls).toBe(0);
  });

  it("ends the cascade at the house's last stage also where a smaller model may not answer in an outage", async () => {
    const { ask, provider, gateway } = await escalating({ settings: {} });
    const strict = await fetch(`${gateway.adminUrl}/strict-stages`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ by: "test", reason: "test" }),
    });
    expect(strict.status).toBe(200);
    expect(contentOf((await ask()).text)).toBe("from the house");
    expect(provider.calls).toBe(0);
  });

  it("is refused by a hosted model that is asked for by its own name", async () => {
    const { ask, provider } = await escalating();
    const { status, text } = await ask({ model: "far" });
    expect([status, JSON.parse(text).error.code]).toEqual([403, "data_stays"]);
    expect(provider.calls).toBe(0);
  });

  it("is decided by the labels of the key", async () => {
    const secret = "client-secret";
    const sha256 = (await import("node:crypto")).createHash("sha256").update(secret).digest("hex");
    const keys = (team: string) => [{ name: "web", sha256, labels: { team } }];
    const rule = [{ models: ["cascade/default"], team: "search" }];
    const authorization = `Bearer ${secret}`;
    const allowed = await escalating({ settings: { dataMayLeave: rule, keys: keys("search") } });
    expect(contentOf((await allowed.ask({}, { authorization })).text)).toBe("from the provider");
    const barred = await escalating({ settings: { dataMayLeave: rule, keys: keys("billing") } });
    expect(contentOf((await barred.ask({}, { authorization })).text)).toBe("from the house");
    expect(barred.provider.calls).toBe(0);
  });

  it("reaches no provider through counts of tokens, further answers of gates or the health of engines", async () => {
    const { gateway, provider } = await escalating({ settings: {} });
    await gateway.post("/v1/messages/count_tokens", { model: "far", messages: [{ role: "user", content: "hi" }] });
    await gateway.post("/v1/embeddings", { model: "far", input: "hi" });
    await fetch(`${gateway.dataUrl}/v1/models`);
    expect(provider.asked).toEqual([]);
  });
});

describe("a configuration with hosted models", () => {
  it("is refused where a hosted model judges, is listed twice, or shares its name with the house", async () => {
    const { config, gateway } = await escalating();
    const far = config.replicas.find(({ model }) => model === "far");
    if (far === undefined) throw new Error("There is no hosted replica.");
    const put = (change: object) => gateway.put({ ...config, ...change });
    await expect(put({ replicas: [...config.replicas, { ...far, id: "far-1" }] })).rejects.toThrow("list it once");
    const { hosted: _, ...own } = far;
    await expect(put({ replicas: [...config.replicas, { ...own, id: "far-1" }] })).rejects.toThrow("two different names");
    await expect(put({ judge: { model: "far" } })).rejects.toThrow("every request would leave the house");
  });
});
