import { describe, expect, it } from "vitest";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { messageOf, queuedOf } from "../testing/testCanary";
import { heldEngine, sayCompletion, startTestEngine, streamEvent } from "../testing/testEngine";
import { startTestGateway, until } from "../testing/testGateway";
import { send, signed } from "../testing/testRevisions";
import { askAs, callOf, jitConfig, judgedSingles, justInTime, ladder, pinned, roundsOf } from "../testing/testRounds";

type Selection = JustInTimePolicy["selection"];
const selections: readonly (readonly [string, Selection])[] = [
  ["a beam search", { kind: "beam", width: 4 }],
  ["worth", { kind: "worth", rightSeconds: 0, delayWeight: 1 }],
];

/** An engine that answers with its name, streams too. */
const engineOf = (model: string) =>
  startTestEngine(({ body }, response) => {
    if (body.stream !== true) return sayCompletion(response, model);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${streamEvent({ content: model })}${streamEvent({}, "stop")}data: [DONE]\n\n`);
  });

/** A judge to which answers to prompts with the word "hard" are bad. */
const judgeEngine = () =>
  startTestEngine(({ body }, response) => sayCompletion(response, JSON.stringify(body.messages).includes("hard") ? "10" : "90"));

/** A gateway with one engine of each model, the judge, and a policy that serves single requests by a judged cascade of two of them. */
async function gatewayOf(
  selection: Selection,
  given: { readonly urls?: readonly (string | undefined)[]; readonly maxInFlight?: number } = {},
) {
  const engines = await Promise.all(ladder.map(engineOf));
  const judge = await judgeEngine();
  const gateway = await startTestGateway();
  const urls = engines.map(({ url }, at) => given.urls?.[at] ?? url);
  const policy = justInTime([{ workflow: pinned }], { selection, singles: judgedSingles });
  await gateway.put({ ...jitConfig(urls, policy, given.maxInFlight), judge: { model: "weir-judge", url: judge.url } });
  return { gateway, engines, judge };
}

const says = ({ headers }: Response) =>
  ["x-weir-model", "x-weir-stage", "x-weir-escalations", "x-weir-judge-score"].map((name) => headers.get(name));
const agents = pinned.agents.map(({ name }) => name);

describe.each(selections)("a judged cascade for single requests beside calls of a workflow, by %s", (_, selection) => {
  /** By worth the larger model is chosen as soon as no engine of the smaller takes work: no stage is passed over. */
  const skipped = selection.kind === "beam" ? "small" : null;

  it("accepts, escalates and gives agents their models at the same time, and headers and records say which stage each had", async () => {
    const { gateway, judge } = await gatewayOf(selection);
    const [easy, hard, ...calls] = await Promise.all([
      askAs(gateway, {}, "easy"),
      askAs(gateway, { "x-session-id": "chat" }, "hard"),
      ...agents.map((agent) => askAs(gateway, callOf(pinned, agent, "program-1"))),
    ]);
    expect(says(easy!)).toEqual(["small", "1", "0", "90"]);
    expect(says(hard!)).toEqual(["large", "2", "1", "10"]);
    expect(await hard!.text()).toContain('"large"');
    expect(calls.map(says)).toEqual(ladder.map((model, at) => [model, String(at + 1), "0", null]));
    expect(judge.asked).toHaveLength(2);
    const decisions = await gateway.decisions();
    const singles = decisions.filter(({ call }) => call === undefined);
    expect(
      singles
        .map(({ candidates, startReason, stages }) => [
          candidates,
          startReason,
          stages.map(({ model, replica, verdict, reason, threshold, judgedScore }) => {
            return [model, replica, verdict, reason, threshold, judgedScore];
          }),
        ])
        .sort((one, other) => one[2]!.length - other[2]!.length),
    ).toEqual([
      [["small", "large"], "first-stage", [["small", "small-0", "accepted", "score-at-or-above-threshold", 60, 90]]],
      [
        ["small", "large"],
        "first-stage",
        [
          ["small", "small-0", "escalated", "score-below-threshold", 60, 10],
          ["large", "large-0", "accepted", "last-stage", null, null],
        ],
      ],
    ]);
    const called = decisions.filter(({ call }) => call !== undefined);
    expect(new Set(called.map(({ startReason }) => startReason))).toEqual(new Set(["model-chosen-at-dispatch"]));
    expect(called.map(({ candidates, stages }) => [candidates, stages.map(({ threshold, gate }) => [threshold, gate])])).toEqual(
      agents.map(() => [ladder, [[null, undefined]]]),
    );
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    for (const [model, count] of [
      ["small", 3],
      ["medium", 1],
      ["large", 2],
    ])
      expect(metrics).toContain(`weir_gateway_round_requests_total{model="${model}"} ${count}`);
    expect((await roundsOf(gateway)).rounds?.length).toBeGreaterThan(0);
  });

  it("holds streams of judged stages back, and streams calls as they are written", async () => {
    const { gateway, engines } = await gatewayOf(selection);
    const stream = (headers: Record<string, string>, content: string) =>
      gateway.post("/v1/chat/completions", { model: "cascade/test", messages: [{ role: "user", content }], stream: true }, headers);
    const hard = await stream({}, "hard");
    expect([says(hard), (await hard.text()).includes("small")]).toEqual([["large", "2", "1", "10"], false]);
    expect(engines[2]!.asked.at(-1)?.body.stream).toBe(false);
    await (await stream({ "x-weir-stream": "last" }, "hard")).text();
    expect(engines[2]!.asked.at(-1)?.body.stream).toBe(true);
    expect(engines[0]!.asked.every(({ body }) => body.stream === false)).toBe(true);
    const call = await stream(callOf(pinned, "drafter", "p"), "hard");
    expect(await call.text()).toContain("small");
    expect(engines[0]!.asked.at(-1)?.body.stream).toBe(true);
  });

  it("goes past a stage without engines, and says so; calls that need the model are refused", async () => {
    const { gateway, engines } = await gatewayOf(selection);
    await engines[0]!.close();
    const passed = await askAs(gateway, {}, "hard");
    expect([passed.status, passed.headers.get("x-weir-model"), passed.headers.get("x-weir-skipped")]).toEqual([200, "large", skipped]);
    expect((await askAs(gateway, callOf(pinned, "drafter", "p"))).status).toBe(503);
    await Promise.all(engines.slice(1).map((engine) => engine.close()));
    const none = await askAs(gateway, {}, "hard");
    expect(none.status).toBe(503);
    await until(async () => (await messageOf(await askAs(gateway, {}, "easy"))).startsWith("No engine of small takes work"));
    const shed = (await gateway.decisions()).at(-1);
    expect([shed?.status, shed?.candidates]).toEqual([503, ["small", "large"]]);
  });

  it("goes on to the next stage after engines failed it as often as a stage may be tried", async () => {
    const broken = await startTestEngine((_, response) => response.destroy());
    const { gateway } = await gatewayOf(selection, { urls: [broken.url] });
    const answer = await askAs(gateway, {}, "easy");
    expect([answer.status, answer.headers.get("x-weir-model"), answer.headers.get("x-weir-skipped")]).toEqual([200, "large", skipped]);
    const [decision] = await gateway.decisions();
    const tries = Array.from(broken.asked, () => ["small", "failed"]);
    expect(decision?.stages.map(({ model, verdict }) => [model, verdict])).toEqual([...tries, ["large", "accepted"]]);
    expect(broken.asked).toHaveLength(selection.kind === "beam" ? 3 : 1);
  });

  it("waits in one line with the calls, and its thresholds can be set while it runs", async () => {
    const small = await heldEngine();
    const { gateway } = await gatewayOf(selection, { urls: [small.url], maxInFlight: 1 });
    const first = askAs(gateway, callOf(pinned, "drafter", "p0"));
    await until(() => small.asked.length === 1);
    const more = [askAs(gateway, callOf(pinned, "drafter", "p1")), askAs(gateway, {}, "easy")];
    // By worth a request may go to a larger model, rather than wait.
    if (selection.kind === "beam") await until(async () => (await queuedOf(gateway))["cascade/test"] === 2);
    small.open();
    expect((await Promise.all([first, ...more])).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await send(gateway, "/knobs", { thresholds: [95], ...signed })).status).toBe(200);
    expect(says(await askAs(gateway, {}, "easy"))).toEqual(["large", "2", "1", "90"]);
    expect((await send(gateway, "/knobs", { tau: 1, ...signed })).status).toBe(400);
  });
});

it("has a single request start at a later stage where that is worth more, and says that its model was chosen then", async () => {
  const { gateway, judge } = await gatewayOf({ kind: "worth", rightSeconds: 1000, delayWeight: 1 });
  const answer = await askAs(gateway, { "x-weir-router-scores": "small=10,large=90,medium=100" }, "hard");
  expect(says(answer)).toEqual(["large", "2", "0", null]);
  expect(judge.asked).toHaveLength(0);
  const [decision] = await gateway.decisions();
  expect(decision).toMatchObject({ startReason: "model-chosen-at-dispatch", routerScores: { small: 10, large: 90 } });
  expect(decision?.stages.map(({ model, reason }) => [model, reason])).toEqual([["large", "last-stage"]]);
});

it("needs a judge where single requests are judged", async () => {
  const { gateway } = await gatewayOf({ kind: "beam", width: 4 });
  const policy = justInTime([{ workflow: pinned }], { singles: judgedSingles });
  await expect(gateway.put(jitConfig(["http://127.0.0.1:9", "http://127.0.0.1:9", "http://127.0.0.1:9"], policy))).rejects.toThrow(
    "needs judged scores, but no judge is given",
  );
});
