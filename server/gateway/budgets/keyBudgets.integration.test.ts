import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayKey, GatewayKeys, GatewayUsage } from "@/server/contracts/gateway/gatewayKeys";
import { heldEngine, sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { oneModel, startTestGateway, testConfig, until } from "../testing/testGateway";

const key = (name: string, more: Partial<GatewayKey> = {}): GatewayKey => ({
  name,
  sha256: createHash("sha256").update(name).digest("hex"),
  ...more,
});
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
/** 88 bytes, so 22 tokens at four bytes each, and a limit of 8: it reserves 30. An engine of the tests counts 7 and 3. */
const body = { model: "large", messages: [{ role: "user", content: "Is it?" }], max_tokens: 8 };
const reservedTokens = 8 + Math.ceil(JSON.stringify(body).length / 4);
const prices = { large: { usdPerMillionInputTokens: 1_000, usdPerMillionOutputTokens: 10_000 } };
/** The cost of 7 and 3 tokens. */
const answerUsd = (7 * 1_000 + 3 * 10_000) / 1e6;
const errorOf = async (answer: Response) => ((await answer.json()) as { error: { message: string; code: string; type: string } }).error;

/** A gateway with a clock of the test's own. */
async function limited(
  settings: GatewaySettings,
  { url, stateDirectory }: { readonly url?: string; readonly stateDirectory?: string } = {},
) {
  const engine = url === undefined ? await startTestEngine((_, response) => sayCompletion(response, "4")) : { url, asked: [] };
  const clock = { nowMs: Date.parse("2026-01-31T12:00:00Z") };
  const gateway = await startTestGateway({}, { nowMs: () => clock.nowMs, ...(stateDirectory && { stateDirectory }) });
  if (stateDirectory === undefined) await gateway.put({ ...oneModel([engine.url], 64), settings });
  const ask = (secret: string, more: Record<string, unknown> = {}) =>
    gateway.post("/v1/chat/completions", { ...body, ...more }, bearer(secret));
  const useOf = async (name: string) => {
    const { keys } = (await (await fetch(`${gateway.adminUrl}/keys`)).json()) as GatewayKeys;
    return keys?.find((one) => one.name === name)?.use?.map(({ used, reserved }) => [used, reserved]);
  };
  const audit = async () => {
    const { lines } = (await (await fetch(`${gateway.adminUrl}/audit`)).json()) as { lines: { action: string; detail: string }[] };
    return lines.filter(({ action }) => action === "limit nearly used").map(({ detail }) => detail);
  };
  const usage = async (query = "") => (await (await fetch(`${gateway.adminUrl}/usage${query}`)).json()) as GatewayUsage;
  const metric = async (pattern: RegExp) => pattern.exec(await (await fetch(`${gateway.adminUrl}/metrics`)).text())?.[1];
  return { ...gateway, engine, clock, ask, useOf, audit, usage, metric };
}

describe("a key with limits", () => {
  it("lets no more of a burst through than its tokens have room for, refuses the rest at once, and admits again after the reset", async () => {
    const held = await heldEngine();
    const most = 5 * reservedTokens;
    const { ask, clock, useOf, metric } = await limited({ keys: [key("app", { limits: { tokensPerDay: most } })] }, { url: held.url });
    const burst = Array.from({ length: 40 }, () => ask("app"));
    const answered: Response[] = [];
    for (const one of burst) void one.then((answer) => answered.push(answer));
    await until(() => answered.length === 35 && held.asked.length === 5);
    expect(await useOf("app")).toEqual([[0, most]]);
    for (const answer of answered) {
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "1"]);
      expect(await errorOf(answer)).toMatchObject({ code: "token_limit_exceeded", type: "rate_limit_error" });
    }
    held.open();
    expect((await Promise.all(burst)).filter(({ status }) => status === 200)).toHaveLength(5);
    // Settled by what the engine counted: 10 tokens each.
    expect(await useOf("app")).toEqual([[50, 0]]);
    const fits = Math.floor((most - 50 - reservedTokens) / 10) + 1;
    for (let request = 0; request < fits; request += 1) expect((await ask("app")).status).toBe(200);
    const refused = await ask("app");
    expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("x-should-retry")]).toEqual([429, "43200", "false"]);
    expect(await metric(/weir_gateway_limit_refusals_total\{key="app",limit="tokensPerDay"\} (\d+)/)).toBe("36");
    clock.nowMs -= 86_400_000;
    expect((await ask("app")).status).toBe(429);
    clock.nowMs = Date.parse("2026-02-01T00:00:00Z");
    expect((await ask("app")).status).toBe(200);
    expect(await useOf("app")).toEqual([[10, 0]]);
  });

  it("stops at its money, which its records' cost adds up to, and warns once in header, metric and audit", async () => {
    const limits = { usdPerDay: 0.37, warnAt: 0.5 };
    const labels = { team: "search", project: "answers" };
    const { ask, audit, useOf, usage, decisions, metric, clock } = await limited({ prices, keys: [key("app", { limits, labels })] });
    const statuses: number[] = [];
    const warned: (string | null)[] = [];
    for (let request = 0; request < 12; request += 1) {
      const answer = await ask("app");
      statuses.push(answer.status);
      warned.push(answer.headers.get("x-weir-budget-warning"));
      if (answer.status === 429) expect((await errorOf(answer)).code).toBe("budget_exceeded");
    }
    const passed = statuses.filter((status) => status === 200).length;
    // Each costs 0.037 USD; the last one must have room for what it may cost.
    expect(passed).toBeGreaterThan(5);
    expect(passed * answerUsd).toBeLessThanOrEqual(limits.usdPerDay);
    expect([warned[4], warned[5]]).toEqual([null, "usdPerDay=0.50"]);
    expect(await audit()).toEqual([
      "The API key app (team search, project answers) has used 50 % of its 0.37 USD of this day; it warns at 50 %.",
    ]);
    const costs = (await decisions()).map(({ costUsd }) => costUsd ?? 0);
    expect(await useOf("app")).toEqual(
      [[costs.reduce((sum, usd) => sum + usd, 0), 0]].map(([used, rest]) => [expect.closeTo(used ?? 0, 6), rest]),
    );
    const { rows } = await usage();
    expect(rows).toMatchObject([
      { key: "app", model: "large", requests: passed, inputTokens: 7 * passed, outputTokens: 3 * passed, ...labels },
    ]);
    expect(rows[0]?.usd).toBeCloseTo(
      costs.reduce((sum, usd) => sum + usd, 0),
      9,
    );
    expect((await decisions())[0]?.labels).toEqual(labels);
    expect(await metric(/weir_gateway_limit_warnings_total\{key="app",limit="usdPerDay"\} (\d+)/)).toBe("1");
    expect(Number(await metric(/weir_gateway_team_cost_usd_total\{team="search",project="answers"\} (\S+)/))).toBeCloseTo(
      passed * answerUsd,
      6,
    );
    clock.nowMs += 86_400_000;
    expect((await ask("app")).status).toBe(200);
  });

  it("keeps its use and the use by day over a restart", async () => {
    const limits = { tokensPerDay: 10 * reservedTokens, usdPerMonth: 100 };
    const first = await limited({ prices, keys: [key("app", { limits })] });
    for (let request = 0; request < 4; request += 1) expect((await first.ask("app")).status).toBe(200);
    const [used, rows] = [await first.useOf("app"), (await first.usage()).rows];
    expect(used?.[0]).toEqual([40, 0]);
    await first.close();
    const again = await limited({}, { url: first.engine.url, stateDirectory: first.stateDirectory });
    expect(await again.useOf("app")).toEqual(used);
    expect((await again.usage()).rows).toEqual(rows);
    expect((await again.ask("app")).status).toBe(200);
    expect((await again.useOf("app"))?.[0]).toEqual([50, 0]);
    expect((await again.usage()).rows).toMatchObject([{ requests: 5 }]);
    await again.close();
    for (const name of await readdir(join(first.stateDirectory, "key-usage")))
      expect(await readFile(join(first.stateDirectory, "key-usage", name), "utf8")).not.toMatch(/[0-9a-f]{64}/);
  });

  it("shows the rest of its rate and of its tokens in the headers that OpenAI's clients read", async () => {
    const { ask } = await limited({ keys: [key("app", { requestsPerMinute: 2, limits: { tokensPerMinute: 1000 } }), key("free")] });
    const headersOf = ({ headers }: Response) => [...headers].filter(([name]) => name.startsWith("x-ratelimit"));
    const one = new Map(headersOf(await ask("app")));
    expect([one.get("x-ratelimit-limit-requests"), one.get("x-ratelimit-remaining-requests")]).toEqual(["2", "1"]);
    expect([one.get("x-ratelimit-limit-tokens"), one.get("x-ratelimit-remaining-tokens"), one.get("x-ratelimit-reset-tokens")]).toEqual([
      "1000",
      String(1000 - reservedTokens),
      "1m0s",
    ]);
    await ask("app");
    const refused = await ask("app");
    expect([refused.status, (await errorOf(refused)).code, refused.headers.get("x-ratelimit-remaining-requests")]).toEqual([
      429,
      "rate_limit_exceeded",
      "0",
    ]);
    expect(headersOf(await ask("free"))).toEqual([]);
  });

  it("counts a stream whose client did not ask for the usage by what the engine counts, and hides that from the client", async () => {
    const engine = await startTestEngine(({ body: asked }, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamEvent({ content: "four" }));
      const options = asked.stream_options as { include_usage?: boolean } | undefined;
      const usage = {
        id: "1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [],
        usage: { prompt_tokens: 7, completion_tokens: 3 },
      };
      if (options?.include_usage) response.write(`data: ${JSON.stringify(usage)}\n\n`);
      response.end("data: [DONE]\n\n");
    });
    const { ask, useOf, decisions } = await limited(
      { keys: [key("app", { limits: { tokensPerDay: 1000 } }), key("free")] },
      { url: engine.url },
    );
    const hidden = await (await ask("app", { stream: true })).text();
    expect(hidden).toContain("four");
    expect(hidden).not.toContain("usage");
    expect(hidden).toContain("[DONE]");
    expect(await (await ask("app", { stream: true, stream_options: { include_usage: true } })).text()).toContain('"prompt_tokens":7');
    expect(await useOf("app")).toEqual([[20, 0]]);
    await (await ask("free", { stream: true })).text();
    expect(engine.asked.map(({ body: asked }) => asked.stream_options)).toEqual([
      { include_usage: true },
      { include_usage: true },
      undefined,
    ]);
    expect((await decisions()).map(({ stages }) => stages[0]?.outputTokens)).toEqual([3, 3, null]);
  });

  it("counts a stream that its client leaves as reserved", async () => {
    const engine = await startTestEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamEvent({ content: "four" }));
    });
    const { dataUrl, useOf } = await limited({ keys: [key("app", { limits: { tokensPerDay: 1000 } })] }, { url: engine.url });
    const leaving = new AbortController();
    const request = { ...body, stream: true };
    const answer = await fetch(`${dataUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer("app") },
      body: JSON.stringify(request),
      signal: leaving.signal,
    });
    expect(answer.status).toBe(200);
    leaving.abort();
    await until(async () => (await useOf("app"))?.[0]?.[1] === 0);
    expect(await useOf("app")).toEqual([[8 + Math.ceil(JSON.stringify(request).length / 4), 0]]);
  });

  it("gives back what a request reserved that no engine answered", async () => {
    const engine = await startTestEngine((_, response) => response.writeHead(400).end('{"error":{"message":"no"}}'));
    const { ask, useOf } = await limited({ keys: [key("app", { limits: { tokensPerDay: 1000 } })] }, { url: engine.url });
    expect((await ask("app")).status).toBe(400);
    expect((await ask("app", { model: "nobody" })).status).toBe(404);
    expect(await useOf("app")).toEqual([[0, 0]]);
  });
});

describe("a key with models", () => {
  it("may ask for these and for nothing else", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
    const { put, post } = await limited({ keys: [key("app")] }, { url: engine.url });
    const stages = ["small", "large"].map((model) => ({ model, urls: [engine.url] }));
    const keys = [key("app", { models: ["small"] }), key("whole", { models: ["cascade/default"] })];
    await put(testConfig({ stages: stages.slice(0, 1), settings: { keys } }));
    expect((await post("/v1/chat/completions", { ...body, model: "small" }, bearer("app"))).status).toBe(200);
    const refused = await post("/v1/chat/completions", { ...body, model: "cascade/default" }, bearer("app"));
    expect(refused.status).toBe(403);
    expect(await errorOf(refused)).toMatchObject({
      code: "model_not_allowed",
      message: 'The key app may not ask for "cascade/default": it may ask for small.',
    });
    for (const model of ["cascade/default", "cascade/test"])
      expect((await post("/v1/chat/completions", { ...body, model }, bearer("whole"))).status).toBe(200);
    expect((await post("/v1/chat/completions", { ...body, model: "small" }, bearer("whole"))).status).toBe(403);
  });
});

describe("a budget in USD", () => {
  it("needs a price of every model, where keys change and where a later plan brings another model", async () => {
    const { adminUrl, put, post, engine, ask } = await limited({ prices, keys: [key("app")] });
    const etag = (await fetch(`${adminUrl}/keys`)).headers.get("etag") ?? "";
    const keys = [key("app", { limits: { usdPerDay: 1 } })];
    const putKeys = (match: string) =>
      fetch(`${adminUrl}/keys`, {
        method: "PUT",
        headers: { "if-match": match, "content-type": "application/json" },
        body: JSON.stringify({ keys, by: "ada", reason: "" }),
      });
    expect((await putKeys(etag)).status).toBe(200);
    expect((await ask("app")).status).toBe(200);
    // Without settings the present ones stay, as where a plan is applied.
    await put(testConfig({ stages: [{ model: "other", urls: [engine.url] }] }));
    const refused = await post("/v1/chat/completions", { ...body, model: "other" }, bearer("app"));
    expect([refused.status, (await errorOf(refused)).code]).toEqual([403, "model_without_price"]);
    const late = await putKeys((await fetch(`${adminUrl}/keys`)).headers.get("etag") ?? "");
    expect([late.status, (await errorOf(late)).message]).toEqual([
      400,
      "The API key app has a budget in USD, but the model other has no price; add it to the settings' prices.",
    ]);
  });
});

describe("GET /usage", () => {
  it("gives the days of a range, and refuses one that is none", async () => {
    const { ask, usage, adminUrl } = await limited({ keys: [key("app")] });
    await ask("app");
    const today = new Date().toISOString().slice(0, 10);
    expect((await usage(`?from=${today}&to=${today}`)).rows).toMatchObject([{ day: today, key: "app", requests: 1, usd: 0, unpriced: 1 }]);
    expect((await usage("?to=2020-01-01")).rows).toEqual([]);
    const wrong = async (query: string) => (await errorOf(await fetch(`${adminUrl}/usage?${query}`))).message;
    expect(await wrong("from=2026-02-01&to=2026-01-01")).toBe("The range begins at 2026-02-01, after its end at 2026-01-01.");
    expect(await wrong("from=monday")).toMatch(/`from` is wrong/);
  });
});
