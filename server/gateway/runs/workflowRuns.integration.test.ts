import { createHash } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type ServerResponse } from "node:http";
import { describe, expect, it, vi } from "vitest";
import { gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { workflowListSchema, workflowRunSchema } from "@/server/contracts/gateway/workflowRuns";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { PolicyDriver } from "../queue/policyDriver";
import { type Asked, sayCompletion, startTestEngine } from "../testing/testEngine";
import { oneModel, until } from "../testing/testGateway";
import { pinned, voting } from "../testing/testRounds";
import { agentOf, declaring, eventsOf, messagesOf, runOf, runsPath, selfNamed } from "../testing/testRuns";

const refine = selfNamed(pinned);
const votes = selfNamed(voting);

/** Answers with the agent's name and question. */
const echo = (asked: Asked, response: ServerResponse): void => sayCompletion(response, `${agentOf(asked)} says`);

/** Holds requests until they are released. */
function held() {
  const waiting: { readonly agent: string; readonly response: ServerResponse }[] = [];
  return {
    waiting,
    answer: (asked: Asked, response: ServerResponse) => void waiting.push({ agent: agentOf(asked), response }),
    release() {
      for (const { agent, response } of waiting.splice(0)) sayCompletion(response, `${agent} says`);
    },
  };
}

describe("a run of a declared workflow", () => {
  it("asks each agent on its model with the input and the answers that it reads, and tells of each", async () => {
    const { gateway, engines } = await declaring(refine, echo);
    const { status, run } = await runOf(gateway, refine, { temperature: 0.5, seed: 7 });
    expect(status).toBe(200);
    expect(run).toMatchObject({ object: "workflow.run", workflow: "pinned", status: "completed", output: "editor says", error: null });
    expect(run.stages.map(({ agent, model, inputTokens, outputTokens }) => [agent, model, inputTokens, outputTokens])).toEqual([
      ["drafter", "small", 7, 3],
      ["critic", "medium", 7, 3],
      ["editor", "large", 7, 3],
    ]);
    expect(engines.map(({ asked: [first] }) => first && messagesOf(first))).toEqual([
      { system: "drafter", user: "What is 2 + 2?" },
      { system: "critic", user: "What is 2 + 2?\n\n# drafter\n\ndrafter says" },
      { system: "editor", user: "What is 2 + 2?\n\n# critic\n\ncritic says" },
    ]);
    for (const { asked } of engines) {
      expect(asked).toHaveLength(1);
      expect(asked[0]?.body).toMatchObject({ temperature: 0.5, seed: 7 });
      expect(asked[0]?.headers["x-session-id"]).toBe(run.id);
    }
  });

  it("leaves one record a stage, of one program, under the id that it tells", async () => {
    const { gateway } = await declaring(refine, echo);
    const { run } = await runOf(gateway, refine);
    const decisions = await gateway.decisions();
    expect(decisions.map(({ id, program, call, status }) => [id, program, call?.agent, status])).toEqual(
      run.stages.map(({ agent, decisionId }) => [decisionId, run.id, agent, 200]),
    );
  });

  it("has branches go on side by side, and what joins them wait for all", async () => {
    const gate = held();
    const { gateway, asked } = await declaring(votes, gate.answer);
    const running = runOf(gateway, votes);
    await until(() => gate.waiting.length === 3);
    expect(gate.waiting.map(({ agent }) => agent).sort()).toEqual(["voter-1", "voter-2", "voter-3"]);
    gate.release();
    await until(() => gate.waiting.length === 1);
    expect(asked()).toHaveLength(4);
    const last = asked().find((each) => agentOf(each) === "aggregator");
    expect(last && messagesOf(last).user).toBe(
      "What is 2 + 2?\n\n# voter-1\n\nvoter-1 says\n\n# voter-2\n\nvoter-2 says\n\n# voter-3\n\nvoter-3 says",
    );
    gate.release();
    const { run } = await running;
    expect([run.status, run.output]).toEqual(["completed", "aggregator says"]);
    const decisions = await gateway.decisions();
    expect(decisions).toHaveLength(4);
    expect(new Set(decisions.map(({ program }) => program))).toEqual(new Set([run.id]));
  });

  it("begins an agent as soon as what it reads is there, whatever else is under way", async () => {
    const uneven = selfNamed(
      workflowDocumentSchema.parse({
        name: "uneven",
        agents: [
          { name: "slow" },
          { name: "quick" },
          { name: "after-quick", reads: ["quick"] },
          { name: "end", reads: ["slow", "after-quick"] },
        ],
      }),
    );
    const gate = held();
    const { gateway, asked } = await declaring(uneven, (each, response) =>
      agentOf(each) === "slow" ? gate.answer(each, response) : echo(each, response),
    );
    const running = runOf(gateway, uneven);
    await until(() => asked().some((each) => agentOf(each) === "after-quick"));
    expect(gate.waiting.map(({ agent }) => agent)).toEqual(["slow"]);
    gate.release();
    expect((await running).run.stages.map(({ agent }) => agent)).toEqual(["quick", "after-quick", "slow", "end"]);
  });

  it("lets an agent write as much as its workflow says", async () => {
    const short = workflowDocumentSchema.parse({ name: "short", agents: [{ name: "solver", maxTokens: 12 }] });
    const { gateway, asked } = await declaring(short, (_, response) => sayCompletion(response, "done"));
    await runOf(gateway, short);
    expect(asked()[0]?.body).toMatchObject({ max_tokens: 12, messages: [{ role: "user", content: "What is 2 + 2?" }] });
  });
});

describe("a run that is streamed", () => {
  it("tells as events what happens, each under its name, and meanwhile that it is still there", async () => {
    const gate = held();
    const { gateway } = await declaring(refine, gate.answer, { heartbeatSeconds: 0.01 });
    const answer = await gateway.post(runsPath(refine), { input: "Go.", stream: true }, { "x-request-id": "mine-1" });
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("x-request-id")]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      "mine-1",
    ]);
    let text = "";
    const reading = (async () => {
      for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) text += chunk;
    })();
    await until(() => text.includes(": still running\n\n"));
    for (const agent of ["drafter", "critic", "editor"]) {
      await until(() => gate.waiting.some((each) => each.agent === agent));
      gate.release();
    }
    await reading;
    const events = eventsOf(text);
    expect(events.every(({ event, type }) => event === type)).toBe(true);
    const agents = ["drafter", "critic", "editor"];
    expect(events.map((event) => ("agent" in event ? `${event.type} ${event.agent}` : event.type))).toEqual([
      "run.started",
      ...agents.flatMap((agent) => [`stage.started ${agent}`, `stage.completed ${agent}`]),
      "run.completed",
    ]);
    expect(events[0]).toMatchObject({ workflow: "pinned", agents });
    expect(events.at(-1)).toMatchObject({ run: { status: "completed", output: "editor says" } });
    expect(text.endsWith("\n\n")).toBe(true);
  });

  it("says which agent failed and what was there by then, with the answer's status 200 as it has begun", async () => {
    const { gateway } = await declaring(refine, (asked, response) => {
      if (agentOf(asked) !== "critic") return echo(asked, response);
      return response.writeHead(422, { "content-type": "application/json" }).end(JSON.stringify({ error: { message: "No such thing." } }));
    });
    const answer = await gateway.post(runsPath(refine), { input: "Go.", stream: true });
    expect(answer.status).toBe(200);
    const last = eventsOf(await answer.text()).at(-1);
    expect(last).toMatchObject({
      type: "run.failed",
      run: { output: null, error: { agent: "critic", status: 422, message: "No such thing." }, stages: [{ agent: "drafter" }] },
    });
  });
});

describe("a run ends", () => {
  it("with the failing agent's status, and has the others' requests aborted", async () => {
    const gate = held();
    const { gateway, asked } = await declaring(votes, (each, response) => {
      if (agentOf(each) !== "voter-2") return gate.answer(each, response);
      void until(() => gate.waiting.length === 2).then(() =>
        response.writeHead(400).end('{"error":{"message":"Too strange.","code":"strange"}}'),
      );
    });
    const { status, run } = await runOf(gateway, votes);
    expect([status, run.status, run.output]).toEqual([400, "failed", null]);
    expect(run.error).toEqual({ agent: "voter-2", status: 400, message: "Too strange.", code: "strange" });
    await Promise.all(asked().flatMap((each) => (agentOf(each) === "voter-2" ? [] : [each.cutOff])));
    expect(asked()).toHaveLength(3);
  });

  it("with its client: what is under way is aborted and nothing begins any more", async () => {
    const gate = held();
    const { gateway, asked } = await declaring(votes, gate.answer);
    const leaving = new AbortController();
    const answer = fetch(`${gateway.dataUrl}${runsPath(votes)}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: "Go.", stream: true }),
      signal: leaving.signal,
    });
    await answer;
    await until(() => gate.waiting.length === 3);
    leaving.abort();
    await Promise.all(asked().map(({ cutOff }) => cutOff));
    await until(async () => (await gateway.decisions()).length === 3);
    expect((await gateway.decisions()).map(({ status }) => status)).toEqual([499, 499, 499]);
    expect(asked()).toHaveLength(3);
  });

  it("when it takes longer than a request may", async () => {
    const gate = held();
    const { gateway, asked } = await declaring(refine, gate.answer, { requestSeconds: 0.3 });
    const { status, run } = await runOf(gateway, refine);
    expect([status, run.error?.status, run.error?.code]).toEqual([504, 504, "deadline"]);
    await Promise.all(asked().map(({ cutOff }) => cutOff));
  });

  it("when the gateway shuts down: what is under way is answered, and what would follow is not begun", async () => {
    const gate = held();
    const { gateway, asked } = await declaring(refine, gate.answer);
    const running = runOf(gateway, refine);
    await until(() => gate.waiting.length === 1);
    const closing = gateway.close(30);
    await until(async () => (await fetch(`${gateway.dataUrl}/health`).catch(() => null)) === null);
    gate.release();
    const { status, run } = await running;
    expect([status, run.error?.code, run.error?.agent]).toEqual([503, "shutting_down", "critic"]);
    expect(run.stages.map(({ agent }) => agent)).toEqual(["drafter"]);
    expect(await closing).toBe(0);
    expect(asked()).toHaveLength(1);
  });

  it("where an answer is longer than a run passes on", async () => {
    const { gateway } = await declaring(refine, (_, response) => sayCompletion(response, "x".repeat(20_000)), { bodyBytes: 10_000 });
    const { status, run } = await runOf(gateway, refine);
    expect([status, run.error?.agent, run.error?.code]).toEqual([502, "drafter", "answer_too_long"]);
  });
});

it("of many runs at once, some of which fail and some of whose clients leave, nothing is left behind", async () => {
  let answers = 0;
  const { gateway } = await declaring(votes, (asked, response) => {
    answers += 1;
    if (answers % 11 === 0) response.writeHead(400).end("{}");
    else if (answers % 7 === 0) response.destroy();
    else setTimeout(() => echo(asked, response), answers % 5);
  });
  const runs = Array.from({ length: 40 }, async (_, at) => {
    const leaving = new AbortController();
    const answer = fetch(`${gateway.dataUrl}${runsPath(votes)}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: `Question ${at}`, stream: at % 2 === 0 }),
      signal: leaving.signal,
    });
    if (at % 4 === 3) void until(() => answers > at).then(() => leaving.abort());
    return answer
      .then((got) => got.text())
      .then((text) => (text.includes('"completed"') ? "completed" : "failed"))
      .catch(() => "left");
  });
  expect((await Promise.all(runs)).filter((end) => end === "completed").length).toBeGreaterThan(0);
  await until(async () => {
    const { replicas, queued } = gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json());
    return replicas.every(({ inFlight }) => inFlight === 0) && Object.values(queued).every((waiting) => waiting === 0);
  });
  expect(await gateway.close(30)).toBe(0);
});

describe("the door of workflows", () => {
  it("lists those of the plan in force, and none where its policy decides by none", async () => {
    const { gateway } = await declaring(voting, echo);
    const listed = async () => workflowListSchema.parse(await (await fetch(`${gateway.dataUrl}/v1/workflows`)).json());
    expect((await listed()).data).toEqual([
      {
        ...{ id: "voting", object: "workflow", title: "" },
        agents: voting.agents.map(({ name, reads }) => ({ name, reads })),
      },
    ]);
    const engine = await startTestEngine(echo);
    await gateway.put(oneModel([engine.url]));
    expect((await listed()).data).toEqual([]);
    const answer = await gateway.post(runsPath(voting), { input: "Go." });
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { message: expect.stringContaining("declares none") } }]);
  });

  it.each([
    [
      "a workflow that is not declared",
      "/v1/workflows/other%20one/runs",
      '{"input":"Go."}',
      { status: 404, message: "the plan in force declares voting." },
    ],
    ["a run without input", runsPath(voting), "{}", { status: 400, message: "`input` is wrong" }],
    ["a field that there is none of", runsPath(voting), '{"input":"Go.","model":"small"}', { status: 400, message: '"model"' }],
    ["what is no JSON", runsPath(voting), "Go.", { status: 400, message: "The body is not valid JSON" }],
    [
      "a body that is too long",
      runsPath(voting),
      JSON.stringify({ input: "x".repeat(5000) }),
      { status: 413, message: "longer than 4000 bytes" },
    ],
  ])("refuses %s", async (_, path, body, { status, message }) => {
    const { gateway, asked } = await declaring(voting, echo, { bodyBytes: 4000 });
    const answer = await fetch(`${gateway.dataUrl}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-request-id": "mine-2" },
      body,
    });
    expect([answer.status, answer.headers.get("x-request-id")]).toEqual([status, "mine-2"]);
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining(message) } });
    expect(asked()).toEqual([]);
  });

  it("answers no other methods", async () => {
    const { gateway } = await declaring(voting, echo);
    const answers = await Promise.all([fetch(`${gateway.dataUrl}${runsPath(voting)}`), gateway.post("/v1/workflows", {})]);
    expect(answers.map(({ status, headers }) => [status, headers.get("allow")])).toEqual([
      [405, "POST"],
      [405, "GET"],
    ]);
  });

  it("carries out so many runs at once and no more, and others when one has ended", async () => {
    const gate = held();
    const { gateway } = await declaring(refine, gate.answer, { runs: 1 });
    const running = runOf(gateway, refine);
    await until(() => gate.waiting.length === 1);
    const refused = await gateway.post(runsPath(refine), { input: "Go." });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    for (const agent of ["drafter", "critic", "editor"]) {
      await until(() => gate.waiting.some((each) => each.agent === agent));
      gate.release();
    }
    expect((await running).status).toBe(200);
    const again = runOf(gateway, refine);
    await until(() => gate.waiting.length === 1);
    for (const agent of ["drafter", "critic", "editor"]) {
      await until(() => gate.waiting.some((each) => each.agent === agent));
      gate.release();
    }
    expect((await again).status).toBe(200);
  });

  it("asks for the key that every agent's request then carries, and that each of them counts against", async () => {
    const { gateway, config } = await declaring(refine, echo);
    const sha256 = createHash("sha256").update("secret-a").digest("hex");
    await gateway.put({ ...config, settings: { keys: [{ name: "team-a", sha256, requestsPerMinute: 4 }] } });
    expect((await gateway.post(runsPath(refine), { input: "Go." })).status).toBe(401);
    const key = { authorization: "Bearer secret-a" };
    expect((await gateway.post(runsPath(refine), { input: "Go." }, key)).status).toBe(200);
    expect((await gateway.decisions()).map((decision) => decision.key)).toEqual(["team-a", "team-a", "team-a"]);
    const second = await gateway.post(runsPath(refine), { input: "Go." }, key);
    expect([second.status, await second.json()]).toMatchObject([429, { error: { agent: "critic", code: "rate_limit_exceeded" } }]);
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  });
});

describe("what a run holds", () => {
  it("of bodies and answers is given back when it has ended, so that any number of runs fit one after another", async () => {
    // A run's own body, the body of its agent at the time, and three times each answer.
    const { gateway } = await declaring(refine, echo, { bodyBytesInAll: 2 * 20_000 + 4_000 });
    for (let run = 0; run < 5; run += 1) expect((await runOf(gateway, refine, { input: "x".repeat(19_000) })).status).toBe(200);
  });

  it("of answers has the room that bodies have, and where there is none it fails and says so", async () => {
    const long = (_: Asked, response: ServerResponse): void => sayCompletion(response, "x".repeat(20_000));
    const { gateway } = await declaring(refine, long, { bodyBytesInAll: 100_000 });
    for (const body of [{}, {}]) {
      const { status, headers, run } = await runOf(gateway, refine, body);
      expect([status, run.error?.code, run.error?.agent, run.error?.retryAfterSeconds]).toEqual([503, "no_room", "critic", 1]);
      expect(headers.get("retry-after")).toBe("1");
    }
    const alone = await gateway.chat({ model: "small" });
    expect(alone.status).toBe(200);
  });

  it("is let go where its client leaves in the middle of an answer", async () => {
    const half = (_: Asked, response: ServerResponse): void =>
      void response.writeHead(200, { "content-type": "text/event-stream" }).write(": \n\n");
    const { gateway, asked } = await declaring(refine, half, { bodyBytesInAll: 30_000 });
    for (let run = 0; run < 3; run += 1) {
      const leaving = new AbortController();
      const answer = fetch(`${gateway.dataUrl}${runsPath(refine)}`, {
        ...{
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ input: "x".repeat(9000) }),
          signal: leaving.signal,
        },
      });
      await until(() => asked().length === run + 1);
      leaving.abort();
      await expect(answer).rejects.toThrow();
      await asked()[run]?.cutOff;
    }
  });

  it("of time is let go when it has ended: no timer waits on for its deadline", async () => {
    const { gateway } = await declaring(refine, echo);
    await runOf(gateway, refine);
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    const runs = 30;
    for (let run = 0; run < runs; run += 1) expect((await runOf(gateway, refine)).status).toBe(200);
    await until(() => timers() < before + runs / 2);
  });

  it("of its program is told to policies as done", async () => {
    const { gateway, config } = await declaring(refine, echo);
    const sha256 = createHash("sha256").update("secret-a").digest("hex");
    const end = vi.spyOn(PolicyDriver.prototype, "end");
    const { run } = await runOf(gateway, refine);
    expect(end).toHaveBeenCalledWith(run.id);
    await gateway.put({ ...config, settings: { keys: [{ name: "team-a", sha256 }] } });
    const answer = await gateway.post(runsPath(refine), { input: "Go." }, { authorization: "Bearer secret-a" });
    const { id } = workflowRunSchema.parse(await answer.json());
    expect(end).toHaveBeenCalledWith(`team-a\n${id}`);
    end.mockRestore();
  });

  it("of branches at once is as many as a workflow may have agents, without a warning of a leak", async () => {
    const wide = selfNamed(
      workflowDocumentSchema.parse({
        name: "wide",
        agents: Array.from({ length: 16 }, (_, at) => ({ name: `branch-${at}`, models: ["large"] })),
      }),
    );
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", onWarning);
    const { gateway } = await declaring(wide, echo);
    expect((await runOf(gateway, wide)).status).toBe(200);
    process.off("warning", onWarning);
    expect(warnings.filter((name) => name === "MaxListenersExceededWarning")).toEqual([]);
  });
});

it("has the caller's trace and class of work go on with every agent's request", async () => {
  const { gateway, asked } = await declaring(refine, echo);
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const headers = { traceparent, tracestate: "vendor=1", "x-gateway-inference-objective": "batch" };
  expect((await gateway.post(runsPath(refine), { input: "Go." }, headers)).status).toBe(200);
  expect(asked().map((each) => [each.headers.traceparent, each.headers.tracestate])).toEqual(Array(3).fill([traceparent, "vendor=1"]));
  expect((await gateway.decisions()).map(({ objective }) => objective)).toEqual(["batch", "batch", "batch"]);
});

it("is cut off where its client reads nothing of a whole answer for too long", async () => {
  const { gateway } = await declaring(
    workflowDocumentSchema.parse({ name: "alone", agents: [{ name: "solver" }] }),
    (_, response) => sayCompletion(response, "x".repeat(30_000_000)),
    { bodyBytes: 40_000_000, clientStallSeconds: 0.5 },
  );
  const request = httpRequest(`${gateway.dataUrl}${runsPath({ name: "alone" })}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
  }).end('{"input":"Go."}');
  request.on("error", () => undefined);
  const [response] = await once(request, "response");
  await new Promise((resolve) => setTimeout(resolve, 2000));
  await expect(
    (async () => {
      for await (const _ of response);
    })(),
  ).rejects.toThrow();
});
