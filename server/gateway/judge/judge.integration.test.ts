import { afterEach, describe, expect, it, vi } from "vitest";
import { SecretOrigins } from "@/server/contracts/engine/secretOrigins";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, type TestCascade, testConfig, until } from "../testing/testGateway";
import { Judge } from "./judge";
import { JudgeEndpoint } from "./judgeEndpoint";

/** Three models behind one engine, and a judge as given. */
async function judgedBy(answer: Parameters<typeof startTestEngine>[0], given: Partial<TestCascade> = {}) {
  const engine = await startTestEngine(({ body }, response) => sayCompletion(response, "four", String(body.model)));
  const judge = await startTestEngine(answer);
  const gateway = await startTestGateway({ judgeSeconds: 0.1 });
  const stages = ["small", "medium", "large"].map((model) => ({ model, urls: [engine.url] }));
  await gateway.put(testConfig({ stages, thresholds: [50, 50], judgeUrl: judge.url, ...given }));
  return { ...gateway, judge, engine };
}

const broken: Parameters<typeof startTestEngine>[0] = (_, response) => response.writeHead(500).end();
const reasons = (decision: Decision | undefined) =>
  decision?.stages.map(({ model, verdict, reason, detail }) => [model, verdict, reason, detail]);

describe("while the judge is down", () => {
  it("accepts the answer at hand unless the plan says otherwise, and marks it", async () => {
    const { chat, decisions } = await judgedBy(broken);
    const answer = await chat({});
    expect([answer.headers.get("x-weir-model"), answer.headers.get("x-weir-degraded")]).toEqual(["small", "judge"]);
    const [decision] = await decisions();
    expect(decision?.degraded).toEqual(["judge"]);
    expect(reasons(decision)).toEqual([["small", "accepted", "judge-unavailable", "the judge answered 500"]]);
  });

  it("goes straight to the largest model where the plan says so, and marks it", async () => {
    const { chat, decisions, engine } = await judgedBy(broken, { whenDown: "largest" });
    const answer = await chat({});
    expect([answer.headers.get("x-weir-model"), answer.headers.get("x-weir-stage")]).toEqual(["large", "3"]);
    expect([answer.headers.get("x-weir-degraded"), answer.headers.get("x-weir-escalations")]).toEqual(["judge", "1"]);
    expect(engine.asked.map(({ body }) => body.model)).toEqual(["small", "large"]);
    const [decision] = await decisions();
    expect(decision?.degraded).toEqual(["judge"]);
    expect(reasons(decision)).toEqual([
      ["small", "escalated", "judge-unavailable", "the judge answered 500"],
      ["large", "accepted", "last-stage", undefined],
    ]);
  });

  it("marks nothing once it scores again", async () => {
    let calls = 0;
    const { chat, decisions } = await judgedBy((_, response) => {
      calls += 1;
      if (calls === 1) response.writeHead(500).end();
      else sayCompletion(response, "60");
    });
    await chat({});
    const answer = await chat({});
    expect([answer.headers.get("x-weir-degraded"), answer.headers.get("x-weir-judge-score")]).toEqual([null, "60"]);
    expect((await decisions())[1]?.degraded).toEqual([]);
  });
});

describe("the judge's bounds", () => {
  it("has so many calls under way at once as the settings say, and scores all that wait within its time", async () => {
    let underWay = 0;
    let most = 0;
    const { chat, decisions } = await judgedBy(
      (_, response) => {
        underWay += 1;
        most = Math.max(most, underWay);
        setTimeout(() => {
          underWay -= 1;
          sayCompletion(response, "90");
        }, 10);
      },
      { settings: { judge: { maxInFlight: 2, timeoutSeconds: 5 } } },
    );
    await Promise.all(Array.from({ length: 8 }, () => chat({})));
    expect(most).toBe(2);
    expect((await decisions()).map(({ stages }) => stages[0]?.judgedScore)).toEqual(Array(8).fill(90));
  });

  it("accepts what did not get its turn in time, and does not take the judge for broken because of that", async () => {
    const { chat, decisions, judge } = await judgedBy((_, response) => setTimeout(() => sayCompletion(response, "90"), 150), {
      settings: { judge: { maxInFlight: 1, timeoutSeconds: 0.25 } },
    });
    await Promise.all(Array.from({ length: 6 }, () => chat({})));
    const found = (await decisions()).map(({ stages }) => stages[0]?.detail);
    expect(found.filter((detail) => detail === "1 judge calls were in progress for 0.25 s").length).toBeGreaterThan(3);
    await chat({});
    expect((await decisions()).at(-1)?.stages[0]?.judgedScore).toBe(90);
    expect(judge.asked.length).toBeLessThan(5);
  });

  it("is not asked for a while after failures in a row", async () => {
    const { chat, decisions, judge } = await judgedBy(broken);
    for (let request = 0; request < 5; request += 1) await chat({});
    expect(judge.asked).toHaveLength(3);
    expect((await decisions()).at(-1)?.stages[0]?.detail).toBe("the judge's circuit is open after repeated failures");
  });
});

describe("Judge", () => {
  const signal = new AbortController().signal;
  const judgeAt = (url: string, maxInFlight: number) => {
    const site = new JudgeEndpoint({
      url,
      keyFromEnvironment: undefined,
      maxInFlight,
      connectSeconds: 1,
      origins: new SecretOrigins(() => "/nowhere"),
    });
    return new Judge({ model: "outside", site, timeoutSeconds: 5, wording: {} });
  };

  it("scores for those that must give way only while half of it stays free", async () => {
    const engine = await heldEngine();
    const judge = judgeAt(engine.url, 4);
    const given = Array.from({ length: 5 }, () => judge.tryScore("p", "a", signal));
    expect(await Promise.all(given.slice(2))).toEqual([null, null, null]);
    await until(() => engine.asked.length === 2);
    // Live calls arrive in addition.
    const live = [judge.score("p", "a", signal), judge.score("p", "a", signal)];
    await until(() => engine.asked.length === 4);
    engine.open();
    expect((await Promise.all([...given.slice(0, 2), ...live])).map((reading) => reading?.outcome)).toEqual(Array(4).fill("no-score"));
    judge.close();
  });

  it("does not take a refused prompt for a failure of its own", async () => {
    const engine = await startTestEngine((_, response) => response.writeHead(400).end());
    const judge = judgeAt(engine.url, 4);
    for (let call = 0; call < 5; call += 1) {
      expect(await judge.score("p", "a", signal)).toMatchObject({ outcome: "refused", failure: "the judge answered 400" });
    }
    expect(engine.asked).toHaveLength(5);
    judge.close();
  });

  it("tries once for all who share it after a rest, and is asked by all again when that worked", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    let works = false;
    const held: (() => void)[] = [];
    const engine = await startTestEngine((_, response) => {
      if (works) held.push(() => sayCompletion(response, "70"));
      else response.writeHead(500).end();
    });
    const judge = judgeAt(engine.url, 8);
    for (let call = 0; call < 3; call += 1) await judge.score("p", "a", signal);
    expect(judge.isPaused).toBe(true);
    vi.advanceTimersByTime(5_000);
    works = true;
    const tries = Array.from({ length: 6 }, () => judge.score("p", "a", signal));
    expect((await Promise.all(tries.slice(1))).map(({ outcome }) => outcome)).toEqual(Array(5).fill("circuit-open"));
    await until(() => held.length === 1);
    held.pop()?.();
    expect((await tries[0])?.score).toBe(70);
    const after = Array.from({ length: 6 }, () => judge.score("p", "a", signal));
    await until(() => held.length === 6);
    for (const answer of held) answer();
    expect((await Promise.all(after)).map(({ score }) => score)).toEqual(Array(6).fill(70));
    judge.close();
  });

  afterEach(() => void vi.useRealTimers());
});
