import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import { type Asked, heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, testConfig, until } from "../testing/testGateway";
import { isCopy, putMirror, questions, readMirror, settled, smallSuffices } from "../testing/testMirror";
import { ask, askAll } from "../testing/testScoredCascade";

const isSampleOfMirror = ({ headers }: Asked): boolean => String(headers["x-request-id"]).includes("-mirror-gate-");

describe("a mirror's room", () => {
  it("never is more than half of an engine, however much there is to copy, nor keeps live requests from the other half", async () => {
    const held: ServerResponse[] = [];
    const large = await startTestEngine((asked, response) => {
      if (isCopy(asked)) held.push(response);
      else setTimeout(() => sayCompletion(response, "large"), 100);
    });
    const { gateway } = await smallSuffices(large, { maxInFlight: 8 });
    await putMirror(gateway, 1);
    await askAll(gateway, questions(50), 3);
    await until(async () => (await readMirror(gateway)).skipped === 46);
    expect([held.length, (await readMirror(gateway)).inFlight]).toEqual([4, 4]);
    const live = await Promise.all(questions(4).map(() => gateway.chat({ model: "large" })));
    for (const answer of live) expect(answer.status).toBe(200);
    const direct = (await gateway.decisions()).filter(({ asked }) => asked === "large");
    for (const { stages } of direct) expect(stages[0]?.queueSeconds).toBeLessThan(0.05);
    for (const response of held) sayCompletion(response, "large");
    expect(await settled(gateway)).toMatchObject({ picked: 50, completed: 4, skipped: 46 });
  });

  it("is bounded by half of every engine while live load comes and goes", async () => {
    const most = new Map<string, number>();
    const now = new Map<string, number>();
    const busyEngine = () =>
      startTestEngine((asked, response) => {
        const key = isCopy(asked) ? "copies" : "live";
        now.set(key, (now.get(key) ?? 0) + 1);
        most.set(key, Math.max(most.get(key) ?? 0, now.get(key) ?? 0));
        setTimeout(() => {
          now.set(key, (now.get(key) ?? 0) - 1);
          sayCompletion(response, "large");
        }, 5);
      });
    const large = await busyEngine();
    const { gateway } = await smallSuffices(large, { maxInFlight: 6 });
    await putMirror(gateway, 1);
    const direct = async (): Promise<void> => {
      for (let request = 0; request < 40; request += 1) await (await gateway.chat({ model: "large" })).arrayBuffer();
    };
    await Promise.all([askAll(gateway, questions(300), 4), direct(), direct()]);
    const { completed, skipped, failed } = await settled(gateway, 300);
    expect([completed + skipped, failed]).toEqual([300, 0]);
    expect(completed).toBeGreaterThan(0);
    expect(most.get("copies")).toBeLessThanOrEqual(3);
  });

  it("is none where an engine is to be filled by one request, takes no work, has requests waiting, or the judge rests", async () => {
    const large = await heldEngine();
    const { gateway, config, judge } = await smallSuffices(large, { maxInFlight: 1 });
    await putMirror(gateway, 1);
    await ask(gateway, "one place");
    expect(await settled(gateway, 1)).toMatchObject({ skipped: 1 });
    const largeAs = (given: object) =>
      gateway.put({
        ...config,
        replicas: config.replicas.map((one) => ({ ...one, maxInFlight: 8, ...(one.model === "large" ? given : {}) })),
      });
    await largeAs({ state: "cordoned" });
    await ask(gateway, "cordoned");
    expect(await settled(gateway, 2)).toMatchObject({ skipped: 2 });
    await largeAs({ maxInFlight: 4 });
    const direct = questions(5).map(() => gateway.chat({ model: "large" }));
    await until(() => large.asked.length === 4);
    await ask(gateway, "waiting");
    expect(await settled(gateway, 3)).toMatchObject({ skipped: 3 });
    large.open();
    await Promise.all(direct);
    await judge.close();
    for (const question of questions(3)) await ask(gateway, question);
    const before = large.asked.length;
    await ask(gateway, "resting");
    expect((await settled(gateway, 7)).completed).toBe(0);
    expect(large.asked.length).toBe(before);
  });

  it("is none at a judge that is half filled with live calls, which keep the other half", async () => {
    const large = await startTestEngine((_, response) => sayCompletion(response, "large"));
    const held: ServerResponse[] = [];
    const judge = await startTestEngine((_, response) => held.push(response));
    const settings = { judge: { maxInFlight: 4, timeoutSeconds: 5 } };
    const { gateway } = await smallSuffices(large, { judgeUrl: judge.url, settings });
    const live = questions(2).map((question) => ask(gateway, question));
    await until(() => held.length === 2);
    await putMirror(gateway, 1);
    const third = ask(gateway, "accepted while two are judged");
    await until(() => held.length === 3);
    sayCompletion(held[2] as ServerResponse, "90");
    expect((await third).status).toBe(200);
    expect(await settled(gateway, 1)).toMatchObject({ skipped: 1, inputTokens: 0 });
    for (const response of held.slice(0, 2)) sayCompletion(response, "90");
    for (const answer of await Promise.all(live)) expect(answer.status).toBe(200);
    await until(() => held.length === 5);
    for (const response of held.slice(3)) sayCompletion(response, "40");
    expect(await settled(gateway, 3)).toMatchObject({ completed: 2, skipped: 1 });
  });

  it("is kept free of further answers that a gate compares with, and is free again after copies that failed", async () => {
    const engines = ["small", "middle", "large"].map((model) => {
      const counted = { model, now: 0, most: 0, fails: false };
      const engine = startTestEngine((asked, response) => {
        const ofMirror = String(asked.headers["x-request-id"]).includes("-mirror");
        if (ofMirror) counted.most = Math.max(counted.most, ++counted.now);
        setTimeout(() => {
          if (ofMirror) counted.now -= 1;
          if (ofMirror && counted.fails) response.writeHead(500).end();
          else sayCompletion(response, "4");
        }, 20);
      });
      return { counted, engine };
    });
    const gateway = await startTestGateway();
    const stages = await Promise.all(engines.map(async ({ counted, engine }) => ({ model: counted.model, urls: [(await engine).url] })));
    const gate = { kind: "agreement" as const, answer: "whole" as const, samples: { count: 1, temperature: 1 }, peers: ["large"] };
    await gateway.put(testConfig({ stages, thresholds: [50, 50], gates: [gate, gate], maxInFlight: 2 }));
    await putMirror(gateway, 1);
    for (const question of questions(4)) {
      await ask(gateway, question);
      await settled(gateway);
    }
    expect(await settled(gateway, 4)).toMatchObject({ picked: 4, failed: 0 });
    expect(engines.map(({ counted }) => counted.most).filter((most) => most > 1)).toEqual([]);
    for (const { counted } of engines) counted.fails = true;
    for (const question of questions(2, 4)) await ask(gateway, question);
    expect((await settled(gateway, 6)).failed).toBeGreaterThan(0);
    const { replicas } = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as GatewayStatus;
    expect(replicas.map(({ inFlight }) => inFlight)).toEqual([0, 0, 0]);
  });

  it("is none for a request of whose further answers only a part had room", async () => {
    const held: ServerResponse[] = [];
    const engines = await Promise.all(
      ["small", "middle", "large"].map((model) =>
        startTestEngine((asked, response) => {
          if (model === "large" && isCopy(asked)) held.push(response);
          else sayCompletion(response, "4");
        }),
      ),
    );
    const gateway = await startTestGateway();
    const stages = engines.map(({ url }, at) => ({ model: ["small", "middle", "large"][at] ?? "", urls: [url] }));
    const gate = { kind: "agreement" as const, answer: "whole" as const, samples: { count: 1, temperature: 1 }, peers: ["large"] };
    await gateway.put(testConfig({ stages, thresholds: [50, 50], gates: [gate, gate], maxInFlight: 2 }));
    await putMirror(gateway, 1);
    await ask(gateway, "one");
    // The samples of both stages are there, and the peer's engine is as full as it may be.
    await until(() => engines.slice(0, 2).every(({ asked }) => asked.some(isSampleOfMirror)) && held.length === 1);
    await new Promise((wake) => setTimeout(wake, 200));
    for (const response of held) sayCompletion(response, "4");
    expect(await settled(gateway, 1)).toMatchObject({ completed: 0, skipped: 1, failed: 0, scores: {} });
  });

  it("holds no more copies at once than it may", async () => {
    const large = await heldEngine();
    const { gateway } = await smallSuffices(large, { maxInFlight: 100 });
    await putMirror(gateway, 1, 2);
    await askAll(gateway, questions(10), 2);
    await until(async () => (await readMirror(gateway)).skipped === 8);
    expect(large.asked).toHaveLength(2);
    large.open();
    expect(await settled(gateway)).toMatchObject({ picked: 10, completed: 2, skipped: 8 });
  });
});
