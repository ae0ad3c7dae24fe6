import { createHash } from "node:crypto";
import { readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayKey, GatewayKeys, GatewayUsage } from "@/server/contracts/gateway/gatewayKeys";
import { heldEngine, sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { ensembleOf } from "../testing/testEnsembles";
import { oneModel, startTestGateway, testConfig, until } from "../testing/testGateway";

const key = (name: string, more: Partial<GatewayKey> = {}): GatewayKey => ({
  name,
  sha256: createHash("sha256").update(name).digest("hex"),
  ...more,
});
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
/** 88 bytes, so 22 tokens at four bytes each, and a limit of 8: it reserves 30. An engine of the tests counts 7 and 3. */
const body = { model: "large", messages: [{ role: "user", content: "Is it?" }], max_tokens: 8 };
const reservedBy = (request: object): number => 8 + Math.ceil(JSON.stringify(request).length / 4);
const reservedTokens = reservedBy(body);
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
  /** Asks as `app`, and leaves once `when` resolves. */
  const leave = async (request: object, when: (answered: Promise<Response>) => Promise<unknown>) => {
    const leaving = new AbortController();
    const answered = fetch(`${gateway.dataUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer("app") },
      body: JSON.stringify(request),
      signal: leaving.signal,
    });
    answered.catch(() => undefined);
    await when(answered);
    leaving.abort();
  };
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
  return { ...gateway, engine, clock, ask, leave, useOf, audit, usage, metric };
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

  it("keeps its use over a start without a configuration", async () => {
    const settings = { keys: [key("app", { limits: { tokensPerDay: 10 * reservedTokens } })] };
    const first = await limited(settings);
    expect((await first.ask("app")).status).toBe(200);
    await first.close();
    const held = join(first.stateDirectory, "config.held");
    const configFile = join(first.stateDirectory, "gateway.json");
    await rename(configFile, held);
    const without = await limited({}, { url: first.engine.url, stateDirectory: first.stateDirectory });
    await without.close();
    await rename(held, configFile);
    const again = await limited({}, { url: first.engine.url, stateDirectory: first.stateDirectory });
    expect(await again.useOf("app")).toEqual([[10, 0]]);
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
    const { leave, useOf } = await limited({ keys: [key("app", { limits: { tokensPerDay: 1000 } })] }, { url: engine.url });
    const request = { ...body, stream: true };
    await leave(request, async (answered) => expect((await answered).status).toBe(200));
    await until(async () => (await useOf("app"))?.[0]?.[1] === 0);
    expect(await useOf("app")).toEqual([[reservedBy(request), 0]]);
  });

  it("gets nothing for less than it reserved by leaving, whatever has come of the answer", async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 1 };
    const counted = { id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content: "4" } }] };
    const engine = await startTestEngine(({ body: asked }, response) => {
      if (asked.stop !== "counted") return;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ ...counted, usage })}\n\n`);
    });
    const { useOf, leave } = await limited({ keys: [key("app", { limits: { tokensPerDay: 10_000 } })] }, { url: engine.url });
    let tokens = 0;
    for (const request of [
      { ...body, stream: true, stream_options: { continuous_usage_stats: true, include_usage: true }, stop: "counted" },
      { ...body, stream: true },
      body,
    ]) {
      const asked = engine.asked.length;
      await leave(request, async (answered) => {
        await until(() => engine.asked.length > asked);
        if (request !== body && "stop" in request) await answered;
      });
      tokens += reservedBy(request);
      await until(async () => (await useOf("app"))?.[0]?.[1] === 0);
      expect(await useOf("app")).toEqual([[tokens, 0]]);
    }
  });

  it("pays for an answer that it leaves while a judge reads it", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "4"));
    const judge = await startTestEngine(() => undefined);
    const { put, useOf, leave } = await limited({ keys: [key("app")] }, { url: engine.url });
    const stages = ["small", "large"].map((model) => ({ model, urls: [engine.url] }));
    const keys = [key("app", { limits: { tokensPerDay: 10_000 } })];
    await put(testConfig({ stages, thresholds: [70], judgeUrl: judge.url, settings: { keys } }));
    for (const stream of [false, true]) {
      const asked = judge.asked.length;
      await leave({ ...body, model: "cascade/test", stream }, () => until(() => judge.asked.length > asked));
      await until(async () => (await useOf("app"))?.[0]?.[1] === 0);
    }
    const [first, second] = [false, true].map((stream) => reservedBy({ ...body, model: "cascade/test", stream }));
    expect(await useOf("app")).toEqual([[(first ?? 0) + (second ?? 0), 0]]);
  });

  it("pays for a request to an ensemble that it leaves as reserved, and for one that is answered by its parts", async () => {
    let isHeld = true;
    const engine = await startTestEngine((_, response) => (isHeld ? undefined : sayCompletion(response, "Answer: A")));
    const { put, useOf, leave, post } = await limited({ keys: [key("app")] }, { url: engine.url });
    const stages = ["a", "b", "c", "sum"].map((model) => ({ model, urls: [engine.url] }));
    const settings = { keys: [key("app", { limits: { tokensPerDay: 10_000 } })], ensembles: [ensembleOf()] };
    await put({ ...testConfig({ stages: stages.slice(0, 1), settings }), replicas: testConfig({ stages }).replicas });
    const request = { ...body, model: "ensemble/trio" };
    await leave(request, () => until(() => engine.asked.length === 3));
    await until(async () => (await useOf("app"))?.[0]?.[1] === 0);
    const left = 4 * reservedBy(request);
    expect(await useOf("app")).toEqual([[left, 0]]);
    isHeld = false;
    expect((await post("/v1/chat/completions", request, bearer("app"))).status).toBe(200);
    const parts = engine.asked.length - 3;
    expect(await useOf("app")).toEqual([[left + 10 * parts, 0]]);
  });

  it("is refused counts that no sum can hold, and keeps its limits", async () => {
    const limits = { tokensPerDay: 1000, usdPerDay: 1 };
    const { adminUrl, useOf, ask, dataUrl } = await limited({
      keys: [key("app", { limits })],
      prices: { large: { usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 } },
    });
    const rest = JSON.stringify({ ...body, max_tokens: undefined }).slice(1);
    for (const [field, value] of [
      ["max_tokens", "1e999"],
      ["max_completion_tokens", "1e308"],
      ["n", "1e999"],
      ["n", "0"],
      ["max_tokens", "-1"],
      ["max_tokens", "1.5"],
      ["max_tokens", '"8"'],
    ]) {
      const answer = await fetch(`${dataUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", ...bearer("app") },
        body: `{"${field}":${value},${rest}`,
      });
      expect(answer.status).toBe(400);
      const least = field === "max_tokens" ? 0 : 1;
      expect((await errorOf(answer)).message).toBe(`\`${field}\` must be an integer from ${least} to 9007199254740991.`);
    }
    expect((await ask("app", { max_tokens: null, max_completion_tokens: null, n: null })).status).toBe(200);
    const many = await ask("app", { n: Number.MAX_SAFE_INTEGER, max_tokens: Number.MAX_SAFE_INTEGER });
    expect([many.status, (await errorOf(many)).code]).toEqual([429, "token_limit_exceeded"]);
    expect(await useOf("app")).toEqual([
      [10, 0],
      [0, 0],
    ]);
    expect((await fetch(`${adminUrl}/keys`)).status).toBe(200);
  });

  it("is refused a prompt that alone exceeds a limit, and no answer whose length is a guess", async () => {
    const { ask, engine } = await limited({ keys: [key("app", { limits: { tokensPerMinute: 200 } })] });
    const messages = [{ role: "user", content: "long ".repeat(1000) }];
    for (const max_tokens of [undefined, 8]) {
      const refused = await ask("app", { messages, max_tokens });
      expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([429, "false"]);
      expect((await errorOf(refused)).message).toMatch(
        /^The prompt alone may have 12\d\d tokens, but the key app may use 200 tokens a minute: send a shorter one\.$/,
      );
    }
    expect(engine.asked).toHaveLength(0);
    expect((await ask("app", { max_tokens: undefined })).status).toBe(200);
  });

  it("is refused under the served name that it asked for", async () => {
    const { ask, metric } = await limited({ keys: [key("app", { limits: { tokensPerDay: 1 } }), key("small", { models: ["other"] })] });
    expect([(await ask("app")).status, (await ask("small")).status]).toEqual([429, 403]);
    for (const status of [429, 403])
      expect(await metric(new RegExp(`weir_gateway_requests_total\\{served="large",status="${status}"\\} (\\d+)`))).toBe("1");
  });

  it("has each refused stream sent once to an engine that is known to take the field for its tokens", async () => {
    const engine = await startTestEngine(({ body: asked }, response) => {
      if (asked.stop === "wrong") return response.writeHead(400).end('{"error":{"message":"no"}}');
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`${streamEvent({ content: "4" }, "stop")}data: [DONE]\n\n`);
    });
    const { ask } = await limited({ keys: [key("app", { limits: { tokensPerDay: 10_000 } })] }, { url: engine.url });
    expect((await ask("app", { stream: true, stop: "wrong" })).status).toBe(400);
    expect(engine.asked).toHaveLength(2);
    await (await ask("app", { stream: true })).text();
    for (let request = 0; request < 3; request += 1) expect((await ask("app", { stream: true, stop: "wrong" })).status).toBe(400);
    expect(engine.asked).toHaveLength(6);
  });

  it("has no stream sent twice to an engine that does not take the field for its tokens", async () => {
    const engine = await startTestEngine(({ body: asked }, response) => {
      if (asked.stream_options !== undefined) return response.writeHead(422).end('{"detail":"unknown field"}');
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`${streamEvent({ content: "4" }, "stop")}data: [DONE]\n\n`);
    });
    const { ask } = await limited({ keys: [key("app", { limits: { tokensPerDay: 10_000 } })] }, { url: engine.url });
    for (let request = 0; request < 3; request += 1) expect(await (await ask("app", { stream: true })).text()).toContain("[DONE]");
    expect(engine.asked.map(({ body: asked }) => asked.stream_options !== undefined)).toEqual([true, false, false, false]);
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
