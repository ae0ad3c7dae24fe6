import { describe, expect, it } from "vitest";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { type Answer, sayCompletion } from "../testing/testEngine";
import { agreement, confidence, gated, sure } from "../testing/testGatedCascade";
import { sayScored } from "../testing/testGates";
import { testConfig, until } from "../testing/testGateway";

describe("an engine that reports no log probabilities", () => {
  it.each(["accept", "largest"] as const)("has its answer treated as one without a judged score: %s", async (whenDown) => {
    const { asked } = await gated(confidence, { small: (_, response) => sayCompletion(response, "4", "small"), whenDown });
    const { answer, stage, degraded } = await asked();
    expect(answer.headers.get("x-weir-model")).toBe(whenDown === "accept" ? "small" : "large");
    expect(answer.headers.get("x-weir-degraded")).toBe("gate");
    expect(degraded).toEqual(["gate"]);
    expect(stage).toMatchObject({
      ...{ judgedScore: null, judgeSeconds: null, unscored: "no-log-probabilities", reason: "no-gate-score" },
      gate: { kind: "confidence" },
    });
  });

  it("is reported after five answers in a row, until its gate gives a score again", async () => {
    const engine = { reports: false };
    const { asked, status, adminUrl } = await gated(confidence, {
      small: (request, response) => (engine.reports ? sayScored(request, response, sure) : sayCompletion(response, "4", "small")),
    });
    for (let answers = 0; answers < 4; answers += 1) await asked();
    expect((await status()).unscoredStages).toBeUndefined();
    await asked();
    expect(await status()).toMatchObject({
      unscoredStages: [{ model: "small", cause: "no-log-probabilities", answers: 5 }],
      unjudged: 5,
    });
    const line = 'weir_gateway_gate_unscored_in_a_row{model="small",cause="no-log-probabilities"} 5';
    expect(await (await fetch(`${adminUrl}/metrics`)).text()).toContain(line);
    engine.reports = true;
    expect((await asked()).stage?.judgedScore).toBe(95);
    expect((await status()).unscoredStages).toBeUndefined();
  });

  it("is asked again without them if it refuses the field, so that no client is refused for it, and without them from then on", async () => {
    const { asked, smallEngine } = await gated(confidence, {
      small({ body }, response) {
        if (body.logprobs === undefined) sayCompletion(response, "4", "small");
        else response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"logprobs is not supported"}}');
      },
    });
    const { answer, stage } = await asked();
    expect([answer.status, stage?.unscored]).toEqual([200, "no-log-probabilities"]);
    await asked();
    expect(smallEngine.asked.map(({ body }) => body.logprobs)).toEqual([true, undefined, undefined]);
  });
});

describe("the extra answers of an agreement gate", () => {
  const samples = (count: number): GateDocument => ({ ...agreement, samples: { count, temperature: 0.8 } });
  const isSample = (headers: Record<string, unknown>): boolean => String(headers["x-request-id"]).includes("-gate-");
  const four: Answer = (request, response) => sayScored(request, response, sure);

  it("are asked for beside the answer, at the gate's temperature, and never in the client's seed", async () => {
    let answers = (): void => undefined;
    const { asked, smallEngine } = await gated(samples(2), {
      small(request, response) {
        if (isSample(request.headers)) four(request, response);
        else answers = () => four(request, response);
      },
    });
    const pending = asked({ seed: 7, temperature: 0, logprobs: true });
    await until(() => smallEngine.asked.length === 3);
    answers();
    const { stage } = await pending;
    expect(stage?.judgedScore).toBe(100);
    const [own, ...others] = smallEngine.asked.toSorted((a, b) => Number(isSample(a.headers)) - Number(isSample(b.headers)));
    expect(own?.body).toMatchObject({ seed: 7, temperature: 0, logprobs: true });
    expect(others.map(({ body }) => body)).toEqual([
      expect.objectContaining({ seed: 8, temperature: 0.8 }),
      expect.objectContaining({ seed: 9, temperature: 0.8 }),
    ]);
    expect(others.every(({ body }) => !("logprobs" in body))).toBe(true);
  });

  it("are cancelled as soon as they can change nothing", async () => {
    let held: Promise<void> | undefined;
    const { asked } = await gated(samples(3), {
      thresholds: [60],
      small(request, response) {
        if (!String(request.headers["x-request-id"]).endsWith("-gate-3")) four(request, response);
        else held = request.cutOff;
      },
    });
    const { stage } = await asked();
    expect(stage).toMatchObject({ judgedScore: 100, verdict: "accepted" });
    expect(stage?.gate?.calls?.map(({ outcome, outputTokens }) => [outcome, outputTokens])).toEqual([
      ["answered", 2],
      ["answered", 2],
      ["cancelled", null],
    ]);
    await held;
  });

  it("are cancelled when the client leaves", async () => {
    const cut: Promise<void>[] = [];
    const { chat, smallEngine, status } = await gated(samples(2), { small: (request) => void cut.push(request.cutOff) });
    const leaving = new AbortController();
    const answer = chat({}, { signal: leaving.signal }).catch(() => null);
    await until(() => smallEngine.asked.length === 3);
    leaving.abort();
    await Promise.all([answer, ...cut]);
    await until(async () => (await status()).replicas.every(({ inFlight }) => inFlight === 0));
  });

  it("use only engines that stay half empty: an engine that is busy with clients' requests is left to them", async () => {
    const held: (() => void)[] = [];
    const { asked, chat, peerEngine, smallEngine, status } = await gated(
      { ...agreement, peers: ["peer"] },
      { small: four, peer: (request, response) => void held.push(() => four(request, response)) },
    );
    const busy = Array.from({ length: 4 }, () => chat({ model: "peer" }));
    await until(() => peerEngine.asked.length === 4);
    const { stage, degraded } = await asked();
    expect(stage).toMatchObject({ judgedScore: null, unscored: "no-other-answers", verdict: "accepted" });
    expect(stage?.gate?.calls).toEqual([{ model: "peer", outcome: "no-free-engine", inputTokens: null, outputTokens: null }]);
    expect(degraded).toEqual(["gate"]);
    expect([peerEngine.asked.length, smallEngine.asked.length]).toEqual([4, 1]);
    for (const answer of held) answer();
    await Promise.all(busy);
    await until(async () => (await status()).replicas.every(({ inFlight }) => inFlight === 0));
  });

  it("of a model whose only engine has one other slot are asked for once the answer is there", async () => {
    const { asked } = await gated(samples(1), { small: four, maxInFlight: 2 });
    const { stage } = await asked();
    expect(stage?.gate?.calls?.map(({ outcome }) => outcome)).toEqual(["answered"]);
    expect(stage?.judgedScore).toBe(100);
  });

  it("are priced in the record", async () => {
    const prices = {
      small: { usdPerMillionInputTokens: 1e6, usdPerMillionOutputTokens: 0 },
      large: { usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 },
    };
    const { asked } = await gated(samples(2), { small: four, settings: { prices } });
    // Three answers to a prompt of seven tokens at one dollar a token.
    expect((await asked()).costUsd).toBe(21);
  });

  it("that fail are left out, and do not take their engine out of service", async () => {
    const { asked, status } = await gated(
      { ...agreement, samples: { count: 1, temperature: 1 }, peers: ["peer"] },
      { small: four, peer: (_, response) => response.writeHead(500).end() },
    );
    const { stage } = await asked();
    expect(stage?.judgedScore).toBe(100);
    expect(stage?.gate?.calls?.map(({ model, outcome }) => [model, outcome])).toEqual([
      ["small", "answered"],
      ["peer", "failed"],
    ]);
    expect((await status()).replicas.map(({ state }) => state)).toEqual(["active", "active", "active"]);
  });
});

describe("a stage with the threshold 0", () => {
  it.each([
    ["confidence", confidence],
    ["agreement", { ...agreement, samples: { count: 2, temperature: 1 } }],
  ] satisfies [string, GateDocument][])("asks for nothing beside the answer, which no gate scores: %s", async (_, gate) => {
    const { asked, smallEngine, status } = await gated(gate, {
      thresholds: [0],
      small: ({ body }, response) => sayCompletion(response, `logprobs ${body.logprobs}`, "small"),
    });
    const { text, stage } = await asked();
    expect(text).toContain("logprobs undefined");
    expect(stage).toMatchObject({ judgedScore: null, verdict: "accepted", reason: "not-judged" });
    expect(stage?.gate).toBeUndefined();
    expect(smallEngine.asked).toHaveLength(1);
    expect((await status()).unjudged).toBe(0);
  });
});

describe("a sequence of gates", () => {
  const sequence: GateDocument = {
    kind: "sequence",
    first: [{ gate: confidence, acceptFrom: 80, escalateBelow: 30 }],
    last: { kind: "judge" },
  };

  it.each([
    [0.9, null, 90, "small"],
    [0.5, "75", 75, "small"],
    [0.5, "10", 10, "large"],
    [0.2, null, 20, "large"],
  ] as const)(
    "asks the judge about a doubtful answer alone: at a smallest probability of %d the judge says %s",
    async (least, judged, score, by) => {
      const { asked, judge } = await gated(sequence, {
        small: (request, response) => sayScored(request, response, [["4", least]]),
        score: judged ?? "50",
      });
      const { answer, stage } = await asked();
      expect(answer.headers.get("x-weir-model")).toBe(by);
      expect(stage).toMatchObject({ judgedScore: score, gate: { kind: "sequence" } });
      expect(judge.asked.length).toBe(judged === null ? 0 : 1);
      expect(stage?.judgeSeconds === null).toBe(judged === null);
    },
  );

  it("pays the judge for the answers that it was asked about alone", async () => {
    const free = { usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 };
    const answer = { least: 0.9 };
    const { asked } = await gated(sequence, {
      small: (request, response) => sayScored(request, response, [["4", answer.least]]),
      score: "90",
      settings: { prices: { small: free, large: free } },
    });
    expect((await asked()).costUsd).toBe(0);
    answer.least = 0.5;
    expect((await asked()).costUsd).toBe(0.001);
  });
});

describe("an answer without the structure that it must have", () => {
  const call = (args: string) => [{ id: "c1", type: "function", function: { name: "weather", arguments: args } }];

  it.each([
    ["text where JSON is asked for", { response_format: { type: "json_object" } }, undefined, "large"],
    ["a tool call with broken arguments", {}, call('{"city": "Pa'), "large"],
    ["a tool call whose arguments parse", {}, call('{"city": "Paris"}'), "small"],
  ] as const)("scores 0 however sure its model is: %s", async (_, body, toolCalls, by) => {
    const { asked } = await gated(confidence, {
      small: (request, response) => sayScored(request, response, sure, toolCalls === undefined ? {} : { toolCalls }),
    });
    const { answer, stage } = await asked(body);
    expect(answer.headers.get("x-weir-model")).toBe(by);
    expect(stage?.judgedScore).toBe(by === "large" ? 0 : 95);
  });

  it("is scored as any other when it parses, and otherwise is not sent to the judge", async () => {
    const said = { text: '{"a": 1}' };
    const { asked, judge } = await gated(
      {
        kind: "sequence",
        first: [{ gate: { ...agreement, samples: { count: 1, temperature: 1 } }, acceptFrom: 101, escalateBelow: 0 }],
        last: { kind: "judge" },
      },
      { small: (request, response) => sayScored(request, response, [[said.text, 0.9]]), score: "90" },
    );
    const json = { response_format: { type: "json_schema", json_schema: {} } };
    expect((await asked(json)).stage?.judgedScore).toBe(90);
    said.text = "Sure! {";
    expect((await asked(json)).stage?.judgedScore).toBe(0);
    expect(judge.asked).toHaveLength(1);
  });

  it("goes to the judge unchanged where the judge is the gate", async () => {
    const { asked, judge } = await gated(
      { kind: "judge" },
      { small: (request, response) => sayScored(request, response, sure), score: "90" },
    );
    const { stage } = await asked({ response_format: { type: "json_object" } });
    expect(stage).toMatchObject({ judgedScore: 90, gate: { kind: "judge" } });
    expect(stage?.judgeSeconds).toBeGreaterThan(0);
    expect(judge.asked).toHaveLength(1);
  });
});

describe("a configuration with gates", () => {
  const small: Answer = (_, response) => sayCompletion(response, "4", "small");

  it("needs a judge only where a gate may ask it", async () => {
    await gated(confidence, { small });
    await expect(
      gated({ kind: "sequence", first: [{ gate: confidence, acceptFrom: 80, escalateBelow: 20 }], last: { kind: "judge" } }, { small }),
    ).rejects.toThrow("needs judged scores, but no judge is given");
  });

  it("is refused where a gate cannot work, with the reason", async () => {
    const { put, config } = await gated(confidence, { small });
    const stranger = testConfig({
      ...{ stages: ["small", "large"].map((model) => ({ model, urls: ["http://127.0.0.1:1"] })), thresholds: [70] },
      gates: [{ ...agreement, peers: ["nobody"] }],
    });
    await expect(put(stranger)).rejects.toThrow("compares answers with those of nobody, which has no replica");
    const silent = config.replicas.map((replica) =>
      replica.model === "small" ? { ...replica, logProbabilities: false as const } : replica,
    );
    await expect(put({ ...config, replicas: silent })).rejects.toThrow(
      "The confidence gate of stage 1 reads log probabilities, which the engine small-0 of small does not report.",
    );
  });
});
