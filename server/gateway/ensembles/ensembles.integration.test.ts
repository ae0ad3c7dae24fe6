import { createHash } from "node:crypto";
import { request as httpRequest } from "node:http";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { aggregatorMessages } from "@/solver/ensemble/gate/aggregatorPrompt";
import { AGGREGATE_ALL } from "@/solver/ensemble/gate/ensembleDocument";
import { PolicyDriver } from "../queue/policyDriver";
import { capturedLines, putCapture, settledCapture } from "../testing/testCapture";
import { type Answer, sayCompletion } from "../testing/testEngine";
import { admin, ask, contentOf, fails, held, says, served, serving, told } from "../testing/testEnsembles";
import { until } from "../testing/testGateway";

describe("a request for an ensemble", () => {
  it("is answered by the expert that leads as soon as no vote that is out could change that, and the rest are aborted", async () => {
    const slow = held("B");
    const { gateway, engines } = await serving({ c: slow.answer }, { tau: 2 / 3 });
    const answer = await ask(gateway, {}, { "x-request-id": "mine" });
    expect(answer.status).toBe(200);
    expect(told(answer)).toEqual({ outcome: "skipped", votes: "2:0", confidence: 0.6667, model: "a" });
    expect(answer.headers.get("x-request-id")).toBe("mine");
    const completion = (await answer.json()) as Record<string, unknown>;
    expect(completion).toMatchObject({
      object: "chat.completion",
      model: "ensemble/trio",
      choices: [{ index: 0, message: { role: "assistant", content: "I am sure.\nAnswer: A" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 14, completion_tokens: 6, total_tokens: 20 },
    });
    await engines.c.asked[0]?.cutOff;
    expect(engines.sum.asked).toHaveLength(0);
  });

  it("goes to the aggregator with the question and every answer where they are split", async () => {
    const slow = held("C");
    const { gateway, engines } = await serving({ b: says("B"), c: slow.answer, sum: says("D") });
    const asking = ask(gateway, { temperature: 0.3 });
    await until(() => slow.waiting.length === 1);
    await until(async () => (await gateway.decisions()).length === 2);
    expect(engines.sum.asked).toHaveLength(0);
    slow.release();
    const answer = await asking;
    expect(told(answer)).toEqual({ outcome: "aggregated", votes: "1:1:1", confidence: 0.3333, model: "sum" });
    expect(await contentOf(answer)).toContain("Answer: D");
    const messages = [{ role: "user", content: "Which one?" }];
    const texts = ["I am sure.\nAnswer: A", "I am sure.\nAnswer: B", "Answer: C"].map((text) => ({ text }));
    expect(engines.sum.asked[0]?.body).toMatchObject({ model: "sum", temperature: 0.3, messages: aggregatorMessages(messages, texts) });
  });

  it("leaves records of every call under one program, and counts what came of it", async () => {
    const { gateway } = await serving({ c: says("B") }, { tau: 2 / 3 });
    const answer = await ask(gateway);
    await answer.text();
    const id = answer.headers.get("x-weir-ensemble-call");
    await until(async () => (await gateway.decisions()).length === 3);
    const decisions = await gateway.decisions();
    expect(new Set(decisions.map(({ program }) => program))).toEqual(new Set([id]));
    const written = decisions.find((decision) => decision.id === answer.headers.get("x-weir-decision-id"));
    expect(written?.asked).toBe(answer.headers.get("x-weir-model"));
    const { requests, outcomes, votes, experts, latest } = await served(gateway);
    expect({ requests, outcomes }).toEqual({ requests: 1, outcomes: { skipped: 1, aggregated: 0, "aggregator-failed": 0, failed: 0 } });
    const key = answer.headers.get("x-weir-ensemble-votes") ?? "";
    expect(votes).toMatchObject({ [key]: { requests: 1, skipped: 1 } });
    expect(experts.map(({ model, asked, inMajority }) => [model, asked, inMajority]).slice(0, 2)).toEqual([
      ["a", 1, 1],
      ["b", 1, 1],
    ]);
    expect(latest).toMatchObject([{ id, outcome: "skipped", tau: 2 / 3, votes: key }]);
    expect(latest[0]?.experts[0]).toMatchObject({ model: "a", state: "voted", vote: "A", outputTokens: 3 });
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    expect(metrics).toContain('weir_gateway_ensemble_requests_total{ensemble="trio",outcome="skipped"} 1');
    expect(metrics).toContain('weir_gateway_ensemble_experts_total{ensemble="trio",model="a",state="voted"} 1');
  });

  it("is decided at the deadline about what is there, in engine seconds; who had not answered is late", async () => {
    const slow = held("A");
    const { gateway, engines, config } = await serving({ c: slow.answer }, { tau: 1, deadlineSeconds: 100 });
    await gateway.put({ ...config, timeScale: 500 });
    const answer = await ask(gateway);
    expect(told(answer)).toMatchObject({ outcome: "aggregated", votes: "2:0" });
    await engines.c.asked[0]?.cutOff;
    const { atDeadline, belowQuorum, experts, latest } = await served(gateway);
    expect({ atDeadline, belowQuorum, late: experts[2]?.late }).toEqual({ atDeadline: 1, belowQuorum: 0, late: 1 });
    expect(latest[0]?.decidedSeconds).toBeGreaterThanOrEqual(100);
  });

  it("never skips the aggregator below the quorum, and before it nothing but the deadline decides", async () => {
    const [slow, slower] = [held("A"), held("A")];
    const { gateway } = await serving({ b: slow.answer, c: slower.answer }, { tau: 0.3, deadlineSeconds: 0.3 });
    expect(told(await ask(gateway))).toEqual({ outcome: "aggregated", votes: "1:0", confidence: 0.3333, model: "sum" });
    expect(await served(gateway)).toMatchObject({ atDeadline: 1, belowQuorum: 1 });
  });

  it("counts an expert that fails against agreement, and skips where the others suffice", async () => {
    const { gateway } = await serving({ b: fails }, { tau: 2 / 3 });
    expect(told(await ask(gateway))).toEqual({ outcome: "skipped", votes: "2:0", confidence: 0.6667, model: "a" });
    await admin(gateway, "PUT", "/ensembles/trio/tau", { tau: 1, by: "ann", reason: "" });
    expect(told(await ask(gateway))).toEqual({ outcome: "aggregated", votes: "2:0", confidence: 0.6667, model: "sum" });
    const { experts } = await served(gateway);
    expect(experts[1]).toMatchObject({ model: "b", asked: 2, failed: 2, voted: 0 });
  });

  it("counts an answer of which nothing can be read, and shows it to the aggregator", async () => {
    const { gateway, engines } = await serving({
      a: (_, response) => sayCompletion(response, "Hard to say."),
      b: (_, response) => sayCompletion(response, "Who knows?"),
      c: (_, response) => sayCompletion(response, "It depends."),
    });
    expect(told(await ask(gateway))).toEqual({ outcome: "aggregated", votes: "0", confidence: 0, model: "sum" });
    expect(JSON.stringify(engines.sum.asked[0]?.body)).toContain("It depends.");
    const { experts } = await served(gateway);
    expect(experts.map(({ noVote }) => noVote)).toEqual([1, 1, 1]);
  });

  it("gets the answer that led where the aggregator fails, and says so", async () => {
    const { gateway } = await serving({ c: says("B"), sum: fails });
    const answer = await ask(gateway);
    expect(told(answer)).toMatchObject({ outcome: "aggregator-failed", votes: "2:1", model: "a" });
    expect(await contentOf(answer)).toContain("Answer: A");
  });

  it("goes to the aggregator with the question alone where all experts fail", async () => {
    const { gateway, engines } = await serving({ a: fails, b: fails, c: fails });
    expect(told(await ask(gateway))).toMatchObject({ outcome: "aggregated", votes: "0", model: "sum" });
    expect(engines.sum.asked[0]?.body.messages).toEqual([{ role: "user", content: "Which one?" }]);
  });

  it("is answered with an error that names each model where nobody answers", async () => {
    const { gateway } = await serving({ a: fails, b: fails, c: fails, sum: fails });
    const answer = await ask(gateway);
    expect(answer.status).toBe(502);
    const { error } = (await answer.json()) as { error: { message: string; code: string } };
    expect(error.code).toBe("ensemble_failed");
    for (const model of ["a: ", "b: ", "c: ", "aggregator sum: "]) expect(error.message).toContain(model);
    expect((await served(gateway)).outcomes.failed).toBe(1);
  });

  it("is given up with all its calls when its client goes", async () => {
    const slow = [held("A"), held("A"), held("A")] as const;
    const { gateway, engines } = await serving({ a: slow[0].answer, b: slow[1].answer, c: slow[2].answer });
    const leave = new AbortController();
    const asking = gateway.chat({ model: "ensemble/trio" }, { signal: leave.signal }).catch(() => undefined);
    await until(() => slow.every(({ waiting }) => waiting.length === 1));
    leave.abort();
    await asking;
    await Promise.all([engines.a, engines.b, engines.c].map(({ asked }) => asked[0]?.cutOff));
    expect(engines.sum.asked).toHaveLength(0);
    expect((await served(gateway)).requests).toBe(0);
  });

  it("is given up while the aggregator writes when its client goes", async () => {
    const slow = held("A");
    const { gateway, engines } = await serving({ c: says("B"), sum: slow.answer });
    const leave = new AbortController();
    const asking = gateway.chat({ model: "ensemble/trio" }, { signal: leave.signal }).catch(() => undefined);
    await until(() => slow.waiting.length === 1);
    leave.abort();
    await asking;
    await engines.sum.asked[0]?.cutOff;
    expect((await served(gateway)).requests).toBe(0);
  });

  it("is decided by the threshold as it is then, at once where that settles it", async () => {
    const slow = held("B");
    const { gateway } = await serving({ c: slow.answer });
    const asking = ask(gateway);
    await until(async () => (await gateway.decisions()).length === 2);
    expect((await admin(gateway, "PUT", "/ensembles/trio/tau", { tau: 0.5, by: "ann", reason: "too dear" })).status).toBe(200);
    expect(told(await asking)).toMatchObject({ outcome: "skipped", votes: "2:0" });
    expect((await served(gateway)).latest[0]?.tau).toBe(0.5);
  });

  it("goes to the aggregator however much they agree, where every question is to", async () => {
    const { gateway, engines } = await serving({ sum: says("D") }, { tau: AGGREGATE_ALL });
    expect(told(await ask(gateway))).toEqual({ outcome: "aggregated", votes: "3:0", confidence: 1, model: "sum" });
    await admin(gateway, "PUT", "/ensembles/trio/tau", { tau: 1, by: "ann", reason: "" });
    expect(told(await ask(gateway))).toMatchObject({ outcome: "skipped", votes: expect.stringMatching(/^[23]:0$/) });
    await admin(gateway, "PUT", "/ensembles/trio/tau", { tau: AGGREGATE_ALL, by: "ann", reason: "" });
    expect(told(await ask(gateway, { stream: true }))).toMatchObject({ outcome: "aggregated", votes: "3:0", model: "sum" });
    expect(engines.sum.asked).toHaveLength(2);
    expect((await served(gateway)).latest.map(({ tau }) => tau)).toEqual([AGGREGATE_ALL, 1, AGGREGATE_ALL]);
  });

  it("tells no usage where no engine does, and what others told where the one that answers does not", async () => {
    const bare: Answer = (_, response) => {
      const choice = { index: 0, message: { role: "assistant", content: "Answer: A" }, finish_reason: "stop" };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "1", choices: [choice] }));
    };
    const none = await serving({ a: bare, b: bare, c: bare });
    const answer = await ask(none.gateway);
    expect([told(answer).outcome, Object.keys((await answer.json()) as object)]).toEqual(["skipped", ["id", "choices", "model"]]);
    const streamed = await ask(none.gateway, { stream: true, stream_options: { include_usage: true } });
    expect(await streamed.text()).not.toContain("usage");
    const some = await serving({ a: bare });
    expect(await (await ask(some.gateway)).json()).toMatchObject({ usage: { prompt_tokens: 14, completion_tokens: 6 } });
  });

  it("goes to the experts that know its category best, else to the first", async () => {
    const skills = { law: { a: 0.2, b: 0.5, c: 0.9 } };
    const { gateway, engines } = await serving({}, { expertsPerQuestion: 2, skills });
    await (await ask(gateway, {}, { "x-weir-category": "law" })).text();
    expect([engines.a, engines.b, engines.c].map(({ asked }) => asked.length)).toEqual([0, 1, 1]);
    await (await ask(gateway)).text();
    expect([engines.a, engines.b, engines.c].map(({ asked }) => asked.length)).toEqual([1, 2, 1]);
  });

  it("lets answers be as long as client and ensemble both allow", async () => {
    const { gateway, engines } = await serving({ c: says("B") }, { maxTokens: 50, aggregator: { model: "sum", maxTokens: 500 } });
    await (await ask(gateway, { max_completion_tokens: 100 })).text();
    expect(engines.a.asked[0]?.body).toMatchObject({ max_completion_tokens: 50 });
    expect(engines.sum.asked[0]?.body).toMatchObject({ max_completion_tokens: 100 });
    await (await ask(gateway)).text();
    expect(engines.a.asked[1]?.body).toMatchObject({ max_tokens: 50 });
  });

  it("takes one turn of its key's rate, whatever it is made of, and needs a key as any other", async () => {
    const secret = "sk-one";
    const sha256 = createHash("sha256").update(secret).digest("hex");
    const { gateway, config, engines } = await serving({ c: says("B") });
    await gateway.put({ ...config, settings: { ...config.settings, keys: [{ name: "app", sha256, requestsPerMinute: 2 }] } });
    const headers = { authorization: `Bearer ${secret}` };
    expect((await ask(gateway)).status).toBe(401);
    const statuses = [];
    for (let request = 0; request < 3; request += 1) statuses.push((await ask(gateway, {}, headers)).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect(engines.sum.asked).toHaveLength(2);
    expect(engines.a.asked[0]?.headers.authorization).toBeUndefined();
    expect((await gateway.decisions()).every(({ key }) => key === "app")).toBe(true);
  });

  it("cannot be told by a client to be a part of another", async () => {
    const { gateway, config } = await serving({});
    const sha256 = createHash("sha256").update("sk-one").digest("hex");
    await gateway.put({ ...config, settings: { keys: [{ name: "app", sha256, requestsPerMinute: 1 }] } });
    const headers = { authorization: "Bearer sk-one", "x-weir-part": "1" };
    const statuses = [];
    for (let request = 0; request < 2; request += 1) statuses.push((await ask(gateway, { model: "a" }, headers)).status);
    expect(statuses).toEqual([200, 429]);
  });

  it("is captured once, as its client asked it, and no answer with it", async () => {
    const { gateway } = await serving({ c: says("B") });
    await putCapture(gateway, { keys: ["*"] });
    const answer = await ask(gateway);
    expect(told(answer)).toMatchObject({ outcome: "aggregated" });
    await answer.text();
    await settledCapture(gateway, 1);
    await (await ask(gateway, { model: "a", messages: [{ role: "user", content: "And then?" }] })).text();
    await settledCapture(gateway, 2);
    const lines = await capturedLines(gateway);
    expect(lines.map(({ messages }) => messages)).toEqual([
      [{ role: "user", content: "Which one?" }],
      [{ role: "user", content: "And then?" }],
    ]);
  });

  it("is one program, which policies are told the end of", async () => {
    const secret = "sk-one";
    const sha256 = createHash("sha256").update(secret).digest("hex");
    const { gateway, config } = await serving({ c: says("B") });
    const end = vi.spyOn(PolicyDriver.prototype, "end");
    onTestFinished(() => end.mockRestore());
    const answer = await ask(gateway);
    await answer.text();
    expect(end).toHaveBeenCalledWith(answer.headers.get("x-weir-ensemble-call"));
    await gateway.put({ ...config, settings: { ...config.settings, keys: [{ name: "app", sha256 }] } });
    const keyed = await ask(gateway, {}, { authorization: `Bearer ${secret}` });
    await keyed.text();
    expect(end).toHaveBeenCalledWith(`app\n${keyed.headers.get("x-weir-ensemble-call")}`);
  });

  it("goes to the panic's model as any other under a panic", async () => {
    const { gateway, engines } = await serving({});
    const body = JSON.stringify({ model: "b", by: "ann", reason: "" });
    await fetch(`${gateway.adminUrl}/panic`, { method: "PUT", headers: { "content-type": "application/json" }, body });
    const answer = await ask(gateway);
    expect([answer.status, answer.headers.get("x-weir-ensemble-outcome")]).toEqual([200, null]);
    expect([engines.a, engines.b, engines.c, engines.sum].map(({ asked }) => asked.length)).toEqual([0, 1, 0, 0]);
  });
});

describe("what an ensemble does not answer", () => {
  it.each([
    ["several answers", { n: 2 }, "n"],
    ["none", { n: 0 }, "n", "invalid_type"],
    ["a number of them that is a text", { n: "2" }, "n", "invalid_type"],
    ["calls of tools", { tools: [{ type: "function", function: { name: "f" } }] }, "tools"],
    ["likelihoods of tokens", { logprobs: true }, "logprobs"],
  ])("is refused with a sentence: %s", async (_, body, param, code = "unsupported_value") => {
    const { gateway, engines } = await serving({});
    const answer = await ask(gateway, body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param, code, message: expect.stringMatching(/^.+\.$/) } });
    expect(engines.a.asked).toHaveLength(0);
  });

  it("is refused at endpoints without votes, and where there is none of its name", async () => {
    const { gateway } = await serving({});
    const text = await gateway.post("/v1/completions", { model: "ensemble/trio", prompt: "Which?" });
    expect(text.status).toBe(400);
    expect(await text.json()).toMatchObject({ error: { message: expect.stringContaining("/v1/chat/completions") } });
    expect((await gateway.post("/v1/embeddings", { model: "ensemble/trio", input: "Which?" })).status).toBe(400);
    const unknown = await ask(gateway, { model: "ensemble/other" });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { code: "model_not_found", message: expect.stringContaining("ensemble/trio") } });
  });

  it("is refused above as many as are under way at once", async () => {
    const slow = held("A");
    const { gateway } = await serving({ a: slow.answer }, {}, { ensembleCalls: 1 });
    const first = ask(gateway);
    await until(() => slow.waiting.length === 1);
    const second = await ask(gateway);
    expect([second.status, second.headers.get("retry-after")]).toEqual([429, "1"]);
    slow.release();
    expect((await first).status).toBe(200);
  });

  it("is what the memory for answers has no room for", async () => {
    const long = "x".repeat(20_000);
    const { gateway } = await serving(
      { a: (_, response) => sayCompletion(response, `${long}\nAnswer: A`), b: fails, c: fails, sum: fails },
      {},
      { bodyBytesInAll: 30_000 },
    );
    const answer = await ask(gateway);
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining("memory for request bodies") } });
    expect((await served(gateway)).experts[0]).toMatchObject({ failed: 1 });
  });
});

describe("a gateway that ends", () => {
  it.each([false, true])(
    "lets what it took in end as any request, with its aggregator, and takes nothing new (streamed: %s)",
    async (stream) => {
      const slow = held("A");
      const { gateway } = await serving({ b: says("B"), c: slow.answer, sum: says("D") }, {}, { drainSeconds: 10 });
      const asking = ask(gateway, { stream });
      await until(() => slow.waiting.length === 1);
      const closing = gateway.close();
      await expect(ask(gateway)).rejects.toThrow();
      slow.release();
      const answer = await asking;
      expect(told(answer)).toMatchObject({ outcome: "aggregated", votes: "2:1", model: "sum" });
      expect(await answer.text()).toContain("Answer: D");
      expect(await closing).toBe(0);
    },
  );

  it("answers with an error what is not answered when its time is over", async () => {
    const slow = held("A");
    const { gateway } = await serving({ a: slow.answer });
    const asking = ask(gateway);
    await until(() => slow.waiting.length === 1);
    await gateway.close();
    const answer = await asking;
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ error: { code: "shutting_down" } });
  });
});

it("many requests at once leave nothing behind, whether they end well, badly or alone", async () => {
  let turn = 0;
  const { gateway, engines } = await serving(
    {
      a: (asked, response) => (turn++ % 5 === 0 ? fails(asked, response) : says("A")(asked, response)),
      c: (asked, response) => (turn % 3 === 0 ? says("B")(asked, response) : says("A")(asked, response)),
    },
    { tau: 2 / 3 },
  );
  const ended = Array.from({ length: 60 }, async (_, request) => {
    if (request % 6 !== 0) return (await ask(gateway)).text();
    await new Promise<void>((resolve) => {
      const leaving = httpRequest(`${gateway.dataUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
      });
      leaving.on("error", () => resolve());
      leaving.end(JSON.stringify({ model: "ensemble/trio", messages: [{ role: "user", content: "Which one?" }] }));
      setTimeout(() => leaving.destroy(), request);
      leaving.on("response", (response) => response.resume().on("close", () => resolve()));
    });
    return "";
  });
  await Promise.all(ended);
  const inFlight = async (): Promise<number> => {
    const status = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { replicas: { inFlight: number }[] };
    return status.replicas.reduce((sum, replica) => sum + replica.inFlight, 0);
  };
  await until(async () => (await inFlight()) === 0);
  const { requests, latest } = await served(gateway);
  expect(requests).toBeGreaterThanOrEqual(50);
  expect(latest.length).toBe(requests);
  expect(engines.b.asked.length).toBeGreaterThanOrEqual(50);
});
