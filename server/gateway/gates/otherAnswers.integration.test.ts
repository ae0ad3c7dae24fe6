import { describe, expect, it } from "vitest";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { type Answer, sayCompletion } from "../testing/testEngine";
import { agreement, confidence, gated, sure } from "../testing/testGatedCascade";
import { type ScoredPart, sayScored } from "../testing/testGates";
import { until } from "../testing/testGateway";

const samples = (count: number): GateDocument => ({ ...agreement, samples: { count, temperature: 0.8 } });
const isSample = (headers: Record<string, unknown>): boolean => String(headers["x-request-id"]).includes("-gate-");
const four: Answer = (request, response) => sayScored(request, response, sure);
const price = { usdPerMillionInputTokens: 1e6, usdPerMillionOutputTokens: 0 };

describe("the memory of further answers", () => {
  const long: ScoredPart[] = [[`${"so ".repeat(1500)}4`, 0.9]];

  it("is that of request bodies: those beyond it fail, and it is free again after every request", async () => {
    const { asked } = await gated(samples(3), {
      small: (request, response) => sayScored(request, response, long),
      limits: { bodyBytesInAll: 12_000 },
    });
    for (let requests = 0; requests < 6; requests += 1) {
      const { answer, stage } = await asked();
      expect([answer.status, stage?.judgedScore]).toEqual([200, 100]);
      const outcomes = stage?.gate?.calls?.map(({ outcome }) => outcome) ?? [];
      expect(outcomes.toSorted()).toEqual(["answered", "answered", "failed"]);
    }
  });

  it("is free again after a stage whose own engine failed, and after a client that left", async () => {
    const own = { answers: (_: () => void): void => undefined };
    const { asked, chat, smallEngine, status } = await gated(samples(2), {
      small: (request, response) =>
        isSample(request.headers) ? sayScored(request, response, long) : own.answers(() => sayCompletion(response, "4", "small")),
      limits: { bodyBytesInAll: 10_500 },
    });
    for (let requests = 0; requests < 3; requests += 1) {
      const before = smallEngine.asked.length;
      const leaving = new AbortController();
      const answer = chat({}, { signal: leaving.signal }).catch(() => null);
      await until(() => smallEngine.asked.length === before + 3);
      await until(async () => (await status()).replicas.every(({ inFlight }) => inFlight <= 1));
      leaving.abort();
      await answer;
      await until(async () => (await status()).replicas.every(({ inFlight }) => inFlight === 0));
    }
    own.answers = (answer) => answer();
    expect((await asked()).stage?.gate?.calls?.map(({ outcome }) => outcome)).toEqual(["answered", "answered"]);
  });
});

describe("further answers beside an engine that fails", () => {
  it("stay in the record with their tokens and seconds, and are priced", async () => {
    let samplesAnswered = 0;
    const { asked, adminUrl } = await gated(samples(2), {
      async small(request, response) {
        if (isSample(request.headers)) {
          four(request, response);
          samplesAnswered += 1;
        } else {
          await until(() => samplesAnswered === 2);
          // Until the gateway has read them.
          setTimeout(() => response.writeHead(500).end(), 100);
        }
      },
      limits: { attemptsPerStage: 1 },
      settings: { prices: { small: price, large: { usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 } } },
    });
    const { answer, stage, costUsd } = await asked();
    expect(answer.headers.get("x-weir-model")).toBe("large");
    expect(stage).toMatchObject({ model: "small", verdict: "failed", failure: "status-5xx" });
    expect(stage?.gate).toBeUndefined();
    const sampled = { model: "small", outcome: "answered", inputTokens: 7, outputTokens: 2, seconds: expect.any(Number) };
    expect(stage?.unusedCalls).toEqual([sampled, sampled]);
    expect(costUsd).toBe(14);
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    expect(metrics).toContain('weir_gateway_gate_calls_total{model="small",outcome="answered"} 2');
  });

  it("stay in the record where the answer has no text, and where the client left", async () => {
    const { asked, chat, smallEngine, decisions } = await gated(samples(1), {
      small(request, response) {
        if (isSample(request.headers)) return four(request, response);
        const isFirst = smallEngine.asked.filter(({ headers }) => !isSample(headers)).length === 1;
        if (isFirst) response.writeHead(200, { "content-type": "application/json" }).end('{"choices":[]}');
      },
      limits: { attemptsPerStage: 1 },
    });
    expect((await asked()).stage).toMatchObject({ failure: "no-answer", unusedCalls: [{ model: "small" }] });
    const leaving = new AbortController();
    const answer = chat({}, { signal: leaving.signal }).catch(() => null);
    await until(() => smallEngine.asked.length === 4);
    leaving.abort();
    await answer;
    await until(async () => (await decisions()).length === 2);
    expect((await decisions()).at(-1)?.stages[0]).toMatchObject({ failure: "ended", unusedCalls: [{ model: "small" }] });
  });
});

describe("a client's parameters in further answers", () => {
  it("draw samples from all tokens, so that they are no copies of the answer", async () => {
    const { asked, smallEngine } = await gated(samples(1), { small: four });
    await asked({ top_k: 1, top_p: 0.01, min_p: 1, use_beam_search: true, n: 1, max_tokens: 9 });
    const sample = smallEngine.asked.find(({ headers }) => isSample(headers))?.body;
    expect(Object.keys(sample ?? {}).toSorted()).toEqual(["max_tokens", "messages", "model", "temperature"]);
  });

  it("hold for a peer, which answers as it would answer the client", async () => {
    const { asked, peerEngine } = await gated({ ...agreement, peers: ["peer"] }, { small: four, peer: four });
    await asked({ top_k: 1, temperature: 0, prompt_logprobs: 1 });
    expect(peerEngine.asked[0]?.body).toMatchObject({ top_k: 1, temperature: 0 });
    expect(peerEngine.asked[0]?.body).not.toHaveProperty("prompt_logprobs");
  });
});

describe("further answers that are late", () => {
  it("are waited for as long as a judge is, or as long as the answer itself took", async () => {
    const cut: Promise<void>[] = [];
    const { asked, adminUrl } = await gated(samples(2), {
      small: (request, response) => (isSample(request.headers) ? void cut.push(request.cutOff) : four(request, response)),
      limits: { judgeSeconds: 0.1 },
      settings: { prices: { small: { ...price, usdPerMillionOutputTokens: 1e6 } } },
    });
    const { answer, stage, costUsd } = await asked();
    expect(answer.status).toBe(200);
    expect(stage).toMatchObject({ judgedScore: null, unscored: "no-other-answers", verdict: "accepted" });
    expect(stage?.gate?.calls?.map(({ outcome }) => outcome)).toEqual(["cancelled", "cancelled"]);
    await Promise.all(cut);
    // The answer, and of each cancelled sample the prompt, which is the answer's own.
    const { inputTokens = 0, outputTokens = 0 } = stage ?? {};
    expect(costUsd).toBe(3 * (inputTokens ?? 0) + (outputTokens ?? 0));
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    expect(metrics).toContain(`weir_gateway_cost_usd_total{model="small"} ${costUsd}`);
    expect(metrics).not.toContain('weir_gateway_gate_tokens_total{model="small"');
  });
});

describe("tool calls", () => {
  it("agree although each has an id of its own", async () => {
    let made = 0;
    const { asked } = await gated(
      { kind: "agreement", answer: "whole", samples: { count: 2, temperature: 1 } },
      {
        small(request, response) {
          made += 1;
          const called = { name: "weather", arguments: '{"city": "Paris"}' };
          sayScored(request, response, [], { toolCalls: [{ id: `call-${made}`, type: "function", function: called }] });
        },
      },
    );
    expect((await asked()).stage?.judgedScore).toBe(100);
  });

  it("of a function without parameters count as whole without arguments", async () => {
    const toolCalls = [{ id: "c1", type: "function", function: { name: "now", arguments: "" } }];
    const { asked } = await gated(confidence, { small: (request, response) => sayScored(request, response, sure, { toolCalls }) });
    const tools = [{ type: "function", function: { name: "now", parameters: { type: "object", properties: {} } } }];
    expect((await asked({ tools })).stage).toMatchObject({ judgedScore: 95, verdict: "accepted" });
  });
});

describe("log probabilities that the gate asked for", () => {
  it("are in no event of a client's stream, whose usage is that of the answer alone", async () => {
    const { asked } = await gated(confidence, { small: four });
    const { text, stage } = await asked({ stream: true, stream_options: { include_usage: true } });
    expect(stage?.judgedScore).toBe(95);
    const events = text.split("\n\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));
    expect(events.every(({ choices }) => choices.every((choice: object) => !("logprobs" in choice)))).toBe(true);
    expect(events.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } });
  });

  it("are in the stream of a client that asked for them itself", async () => {
    const { asked } = await gated(confidence, { small: four });
    const { text } = await asked({ stream: true, logprobs: true });
    expect(text).toContain('"logprob":');
  });

  it("are not asked for again from an engine that answers that it has not implemented them", async () => {
    const { asked } = await gated(confidence, {
      small: ({ body }, response) =>
        body.logprobs === true ? response.writeHead(501).end() : sayCompletion(response, "4", String(body.model)),
    });
    const { answer, stage } = await asked();
    expect([answer.status, stage?.unscored, stage?.verdict]).toEqual([200, "no-log-probabilities", "accepted"]);
  });

  it("are those of the continuation alone where a client wants its prompt back", async () => {
    const { post, decisions } = await gated(confidence, {
      small({ body }, response) {
        const logprobs = body.logprobs === 1 ? { tokens: ["2", "+2=", "4"], token_logprobs: [null, -3, -0.05] } : null;
        const choices = [{ index: 0, text: "2+2=4", logprobs, finish_reason: "stop" }];
        const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "cmpl-1", choices, usage }));
      },
    });
    await post("/v1/completions", { model: "cascade/test", prompt: "2+2=", echo: true });
    expect((await decisions()).at(-1)?.stages[0]?.judgedScore).toBeCloseTo(100 * Math.exp(-0.05), 1);
  });

  it("in an answer that is nested too deeply to be written again are the engine's failure, and its slots are free afterwards", async () => {
    const nested = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const content = [{ token: "4", logprob: -0.1 }];
    const choice = JSON.stringify({ index: 0, message: { role: "assistant", content: "4" }, logprobs: { content }, finish_reason: "stop" });
    const { asked, status } = await gated(confidence, {
      small: (_, response) =>
        response.writeHead(200, { "content-type": "application/json" }).end(`{"choices":[${choice}],"extra":${nested}}`),
      limits: { attemptsPerStage: 1 },
    });
    const { answer, stage } = await asked();
    expect([answer.status, stage?.failure]).toEqual([200, "no-answer"]);
    expect((await status()).replicas.map(({ inFlight }) => inFlight)).toEqual([0, 0, 0]);
  });
});
