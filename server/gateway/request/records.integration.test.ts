import { describe, expect, it, vi } from "vitest";
import { type Decision, decisionSchema, type GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import { sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { hashed, startTestGateway, testConfig } from "../testing/testGateway";
import { ClientAnswer } from "./clientAnswer";

/** Two models whose answers have 7 and 3 tokens, behind a judge that gives `score`. */
async function recorded(settings: GatewaySettings | undefined, score = "10") {
  const engine = await startTestEngine(({ body }, response) => {
    if (body.stream !== true) return sayCompletion(response, "4", String(body.model));
    response.writeHead(200, { "content-type": "text/event-stream" });
    return response.end(`${streamEvent({ content: "4" }, "stop")}data: [DONE]\n\n`);
  });
  const judge = await startTestEngine((_, response) => sayCompletion(response, score));
  const gateway = await startTestGateway();
  const stages = ["small", "large"].map((model) => ({ model, urls: [engine.url] }));
  const config = testConfig({ stages, thresholds: [70], judgeUrl: judge.url, maxInFlight: 5, ...(settings ? { settings } : {}) });
  await gateway.put(config);
  const recordOf = async (answer: Response) => fetch(`${gateway.adminUrl}/decisions/${answer.headers.get("x-weir-decision-id")}`);
  return { ...gateway, config, recordOf };
}

describe("a decision record", () => {
  it("is fetched by the id in the answer's headers and says what was weighed, where and with what result", async () => {
    const { chat, recordOf } = await recorded(undefined);
    const record = await recordOf(await chat({}, { headers: { "x-weir-router-scores": "small=20,large=90,stranger=1" } }));
    expect(record.status).toBe(200);
    const decision = decisionSchema.strict().parse(await record.json());
    expect(decision).toMatchObject({
      endpoint: "/v1/chat/completions",
      asked: "cascade/test",
      candidates: ["small", "large"],
      routerScores: { small: 20, large: 90 },
      degraded: [],
      costUsd: null,
      stages: [
        { model: "small", threshold: 70, judgedScore: 10, verdict: "escalated", engine: { inFlight: 1, maxInFlight: 5 } },
        { model: "large", threshold: null, judgedScore: null, verdict: "accepted", inputTokens: 7, outputTokens: 3 },
      ],
    });
    expect(decision.stages[0]?.engine).not.toHaveProperty("kvUse");
  });

  it("says of a policy that goes by KV use that none was known, and marks what was placed without it", async () => {
    const { chat, recordOf, put, config } = await recorded(undefined, "90");
    await put({ ...config, ...hashed({ kind: "fixed", model: "large", order: { kind: "fcfs" }, place: { kind: "lowest-kv" } }) });
    const answer = await chat({});
    expect(answer.headers.get("x-weir-degraded")).toBe("telemetry");
    const decision = (await (await recordOf(answer)).json()) as Decision;
    expect(decision.degraded).toEqual(["telemetry"]);
    expect(decision.stages[0]?.engine).toMatchObject({
      kvUse: { state: expect.stringMatching(/absent|unreachable/) },
      degraded: "no-fresh-kv-use-so-least-load",
    });
  });

  it("keeps nothing long that a client wrote into its headers", async () => {
    const { chat, recordOf } = await recorded(undefined);
    const long = "x".repeat(5000);
    const answer = await chat(
      {},
      { headers: { "x-gateway-inference-objective": long, "x-weir-router-scores": `${long}=5`, "x-request-id": long } },
    );
    expect(await (await recordOf(answer)).text()).not.toContain("xxx");
    expect(answer.headers.get("x-request-id")).toBe(answer.headers.get("x-weir-decision-id"));
  });

  it("that is not kept is a 404 in a sentence", async () => {
    const { adminUrl } = await recorded(undefined);
    const answer = await fetch(`${adminUrl}/decisions/nowhere`);
    const { error } = (await answer.json()) as { error: { message: string; code: string } };
    expect([answer.status, error.code]).toEqual([404, "unknown_decision"]);
    expect(error.message).toContain('No decision "nowhere" is stored');
  });

  it("has what all answers and scores cost where every model has a price", async () => {
    const prices = {
      small: { usdPerMillionInputTokens: 1, usdPerMillionOutputTokens: 2 },
      large: { usdPerMillionInputTokens: 10, usdPerMillionOutputTokens: 20 },
    };
    const { chat, recordOf } = await recorded({ prices });
    const { costUsd } = (await (await recordOf(await chat({}))).json()) as Decision;
    // 7 and 3 tokens at both prices, and a judge's score for 0.001 USD.
    expect(costUsd).toBeCloseTo((7 * 11 + 3 * 22) / 1e6 + 0.001, 9);
  });

  it("has no cost where a price or the count of tokens is not known", async () => {
    const prices = { large: { usdPerMillionInputTokens: 10, usdPerMillionOutputTokens: 20 } };
    const { chat, recordOf } = await recorded({ prices });
    const cost = async (body: object) => ((await (await recordOf(await chat({ ...body }))).json()) as Decision).costUsd;
    expect(await cost({ model: "large" })).toBeCloseTo(130 / 1e6, 12);
    expect(await cost({ model: "small" })).toBeNull();
    const streamed = await chat({ model: "large", stream: true });
    await streamed.text();
    expect(((await (await recordOf(streamed)).json()) as Decision).costUsd).toBeNull();
  });

  it("holds the end of the prompt when the settings ask for it, and nothing of it otherwise", async () => {
    const messages = [{ role: "user", content: `${"x".repeat(5000)} and what is 2 + 2?` }];
    const silent = await recorded(undefined);
    expect(await (await silent.recordOf(await silent.chat({ messages }))).text()).not.toContain("2 + 2");
    const { chat, recordOf } = await recorded({ recordedPromptCharacters: 18 });
    const { prompt } = (await (await recordOf(await chat({ messages }))).json()) as Decision;
    expect(prompt).toBe("and what is 2 + 2?");
  });

  it("is made of a request that failed in the gateway itself, too", async () => {
    const { chat, decisions, adminUrl } = await recorded(undefined);
    vi.spyOn(ClientAnswer.prototype, "give").mockImplementationOnce(() => {
      throw new Error("a bug");
    });
    expect((await chat({})).status).toBe(500);
    expect(await decisions()).toMatchObject([{ status: 500, reason: "The gateway failed.", stages: [{}, { verdict: "accepted" }] }]);
    expect(await (await fetch(`${adminUrl}/metrics`)).text()).toContain(
      'weir_gateway_requests_total{served="cascade/test",status="500"} 1',
    );
    expect((await chat({})).status).toBe(200);
  });

  it("is made of a request that was shed, too", async () => {
    const { put, chat, recordOf, config } = await recorded(undefined);
    await put({ ...config, replicas: config.replicas.map((one) => ({ ...one, state: "cordoned" as const })) });
    const answer = await chat({});
    const decision = (await (await recordOf(answer)).json()) as Decision;
    expect([answer.status, decision.status, decision.stages]).toEqual([503, 503, []]);
    expect(decision.reason).toBe("No engine of small takes work at the moment.");
  });
});
