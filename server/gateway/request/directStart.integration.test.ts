import { describe, expect, it } from "vitest";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, testConfig } from "../testing/testGateway";

/** Three models, thresholds 70 and 70, a judge that gives 90; stages with a router score below 60 are skipped as starts. */
async function threeStages(startBelow?: number) {
  const engines = await Promise.all(
    ["small", "medium", "large"].map(async (model) => ({
      model,
      engine: await startTestEngine((_, response) => sayCompletion(response, model, model)),
    })),
  );
  const judge = await startTestEngine((_, response) => sayCompletion(response, "90", "weir-judge"));
  const running = await startTestGateway();
  await running.put(
    testConfig({
      stages: engines.map(({ model, engine }) => ({ model, urls: [engine.url] })),
      thresholds: [70, 70],
      judgeUrl: judge.url,
      ...(startBelow === undefined ? {} : { startBelow }),
    }),
  );
  const chat = (scores?: string) =>
    running.chat(
      {},
      { headers: { "content-type": "application/json", ...(scores === undefined ? {} : { "x-weir-router-scores": scores }) } },
    );
  return { ...running, chat, engines, judge };
}

describe("a direct start at the gateway", () => {
  it.each([
    ["small=60, medium=99", "small", "router-score-high-enough", 1],
    ["small=59.5,medium=60", "medium", "router-score-high-enough", 1],
    ["medium=12, small=0, stranger/model=100", "large", "no-router-score-high-enough", 0],
    ["medium=99", "small", "no-router-score-of-small", 1],
    ["small=10", "medium", "no-router-score-of-medium", 1],
    [undefined, "small", "no-router-score-of-small", 1],
  ])("with the scores %s starts at %s", async (scores, model, reason, judgements) => {
    const { chat, decisions, engines, judge } = await threeStages(60);
    const answer = await chat(scores);
    expect(answer.headers.get("x-weir-model")).toBe(model);
    expect(answer.headers.get("x-weir-stage")).toBe(String(engines.findIndex((own) => own.model === model) + 1));
    expect(engines.filter(({ engine }) => engine.asked.length > 0).map((own) => own.model)).toEqual([model]);
    expect(judge.asked).toHaveLength(judgements);
    const [decision] = await decisions();
    expect(decision).toMatchObject({ startReason: reason, stages: [{ model, verdict: "accepted" }] });
    expect(engines.flatMap(({ engine }) => engine.asked).every(({ headers }) => !("x-weir-router-scores" in headers))).toBe(true);
  });

  it("takes no notice of scores where the policy has no direct start", async () => {
    const { chat, decisions } = await threeStages();
    expect((await chat("small=0,medium=0")).headers.get("x-weir-model")).toBe("small");
    expect((await decisions())[0]?.startReason).toBe("first-stage");
  });

  it("serves a model under its own name whatever its score", async () => {
    const { chat } = await startTestGateway().then(async (gateway) => {
      const { engine } = { engine: await startTestEngine((_, response) => sayCompletion(response, "four", "small")) };
      const stages = [
        { model: "small", urls: [engine.url] },
        { model: "large", urls: [engine.url] },
      ];
      await gateway.put(testConfig({ stages, thresholds: [70], judgeUrl: engine.url, startBelow: 60 }));
      return gateway;
    });
    const answer = await chat({ model: "small" }, { headers: { "x-weir-router-scores": "small=0" } });
    expect([answer.status, answer.headers.get("x-weir-model")]).toEqual([200, "small"]);
  });

  it.each([
    ["small", "small"],
    ["", ""],
    ["small=101", "small=101"],
    ["small=-1", "small=-1"],
    ["small=high", "small=high"],
    ["=5", "=5"],
    ["small=5,,medium=6", ""],
    ["small=5,small=6", "small"],
  ])("refuses the header %j in one sentence and asks no engine", async (scores, named) => {
    const { chat, engines } = await threeStages(60);
    const answer = await chat(scores);
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: { message: string; code: string } };
    expect(error.message).toContain("x-weir-router-scores");
    expect(error.message).toContain(JSON.stringify(named));
    expect(error.message.match(/\.(\s|$)/g)).toHaveLength(1);
    expect(engines.every(({ engine }) => engine.asked.length === 0)).toBe(true);
  });
});
