import { afterEach, describe, expect, it, vi } from "vitest";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { type Answer, heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, type TestCascade, type TestGateway, testConfig, until } from "../testing/testGateway";

const scorer = "scorer";
const scores: Answer = (_, response) => void setTimeout(() => sayCompletion(response, "90"), 10);

/** A cascade whose judge is the engines at `urls`, which hold `room` requests each. */
function judgedOn(stageUrl: string, urls: readonly string[], given: Partial<TestCascade> & { room?: number; cordoned?: number } = {}) {
  const { room = 2, cordoned = -1, ...cascade } = given;
  const stages = ["small", "large"].map((model) => ({ model, urls: [stageUrl] }));
  const config = testConfig({ stages, thresholds: [50], maxInFlight: 100, ...cascade });
  const engines = urls.map((url, index) => ({
    id: `${scorer}-${index}`,
    model: scorer,
    url,
    state: index === cordoned ? ("cordoned" as const) : ("active" as const),
    maxInFlight: room,
  }));
  return { ...config, judge: { model: scorer }, replicas: [...config.replicas, ...engines] };
}

const stageEngine = () => startTestEngine(({ body }, response) => sayCompletion(response, "four", String(body.model)));

async function start(config: (stageUrl: string) => GatewayConfig, limits = {}) {
  const gateway = await startTestGateway(limits);
  const { url } = await stageEngine();
  await gateway.put(config(url));
  return { ...gateway, stageUrl: url };
}

const judged = async ({ decisions }: Pick<TestGateway, "decisions">) =>
  (await decisions()).map(({ stages }) => stages[0]?.judgedScore ?? stages[0]?.detail);

const ask = ({ chat }: Pick<TestGateway, "chat">, requests: number) =>
  Promise.all(Array.from({ length: requests }, () => chat({}).then((answer) => answer.text())));

describe("a judge on engines of the configuration", () => {
  it("scores on all replicas of its model, each with no more at once than it holds", async () => {
    const most = [0, 0];
    const engines = await Promise.all(
      most.map((_, index) => {
        let underWay = 0;
        return startTestEngine((_, response) => {
          underWay += 1;
          most[index] = Math.max(most[index] ?? 0, underWay);
          setTimeout(() => {
            underWay -= 1;
            sayCompletion(response, "90");
          }, 10);
        });
      }),
    );
    const gateway = await start((url) =>
      judgedOn(
        url,
        engines.map((engine) => engine.url),
      ),
    );
    await ask(gateway, 12);
    expect(await judged(gateway)).toEqual(Array(12).fill(90));
    expect(most).toEqual([2, 2]);
    expect(engines.flatMap(({ asked }) => asked.map(({ body }) => body.model))).toEqual(Array(12).fill(scorer));
    const listed = (await (await fetch(`${gateway.dataUrl}/v1/models`)).json()) as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id)).toContain(scorer);
    const status = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { replicas: { inFlight: number }[]; queued: object };
    expect(status.replicas.every(({ inFlight }) => inFlight === 0)).toBe(true);
    expect(status.queued).toMatchObject({ [scorer]: 0 });
  });

  it("waits for a place that a request by the model's own name holds, and gives up after its time", async () => {
    const engine = await heldEngine();
    const gateway = await start((url) => judgedOn(url, [engine.url], { room: 1, settings: { judge: { timeoutSeconds: 0.3 } } }));
    const direct = gateway.chat({ model: scorer });
    await until(() => engine.asked.length === 1);
    await ask(gateway, 1);
    expect(await judged(gateway)).toEqual(["no engine of scorer had room for 0.3 s"]);
    const waits = ask(gateway, 1);
    engine.open();
    await Promise.all([direct, waits]);
    // The held engine says no number, so the call was made and gave no score.
    expect((await judged(gateway)).at(-1)).toBe("the judge's answer is not a single number from 0 to 100");
  });

  it("asks another replica when one is dead, and sends it nothing more until it is healthy", async () => {
    const [dead, alive] = [await startTestEngine(scores), await startTestEngine(scores)];
    const gateway = await start((url) => judgedOn(url, [dead.url, alive.url], { room: 4 }));
    await dead.close();
    // More concurrent calls to the dead engine than failures until a judge pauses.
    await ask(gateway, 8);
    expect(await judged(gateway)).toEqual(Array(8).fill(90));
    const status = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { replicas: { id: string; state: string }[] };
    expect(status.replicas.find(({ id }) => id === "scorer-0")?.state).toBe("unhealthy");
    expect(alive.asked).toHaveLength(8);
  });

  it("holds nobody up when none of its engines takes work, and goes where the plan says", async () => {
    const engine = await startTestEngine(scores);
    const gateway = await start((url) => judgedOn(url, [engine.url], { cordoned: 0, whenDown: "largest" }));
    const startedMs = performance.now();
    const answer = await gateway.chat({});
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    expect([answer.headers.get("x-weir-model"), answer.headers.get("x-weir-degraded")]).toEqual(["large", "judge"]);
    expect(engine.asked).toEqual([]);
  });

  it("drains a replica that is cordoned under load: no call after that, and every answer judged", async () => {
    const engines = [await startTestEngine(scores), await startTestEngine(scores)];
    const urls = engines.map(({ url }) => url);
    const gateway = await start((url) => judgedOn(url, urls));
    let loading = true;
    const client = async () => {
      while (loading) await ask(gateway, 1);
    };
    const clients = Array.from({ length: 8 }, client);
    await until(() => engines.every(({ asked }) => asked.length > 5));
    await gateway.put(judgedOn(gateway.stageUrl, urls, { cordoned: 0 }));
    const [atPut = 0, others = 0] = engines.map(({ asked }) => asked.length);
    await until(async () => {
      const { replicas } = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { replicas: { id: string; inFlight: number }[] };
      return replicas.find(({ id }) => id === `${scorer}-0`)?.inFlight === 0;
    });
    const drained = engines[0]?.asked.length ?? 0;
    // Only those that were on their way to it.
    expect(drained - atPut).toBeLessThanOrEqual(2);
    await until(() => (engines[1]?.asked.length ?? 0) > others + 10);
    expect(engines[0]?.asked.length).toBe(drained);
    loading = false;
    await Promise.all(clients);
    expect(new Set(await judged(gateway))).toEqual(new Set([90]));
  });

  it("scores what waited for it when another judge takes its place", async () => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const engine = await startTestEngine((_, response) => void opened.then(() => sayCompletion(response, "90")));
    const other = await startTestEngine((_, response) => sayCompletion(response, "80"));
    const gateway = await start((url) => judgedOn(url, [engine.url], { room: 1 }));
    const waiting = ask(gateway, 5);
    await until(async () => {
      const { queued } = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { queued: Record<string, number> };
      return engine.asked.length === 1 && queued[scorer] === 4;
    });
    await gateway.put({ ...judgedOn(gateway.stageUrl, [engine.url], { room: 1 }), judge: { model: "outside", url: other.url } });
    open();
    await waiting;
    await ask(gateway, 1);
    expect(await judged(gateway)).toEqual([90, 90, 90, 90, 90, 80]);
  });

  it("scores in turn what is asked of it in the words of an earlier configuration", async () => {
    const [stage, engine] = [await heldEngine(), await heldEngine()];
    const given = (rubric: string) => judgedOn(stage.url, [engine.url], { room: 1, settings: { judge: { rubric } } });
    const gateway = await start(() => given("First: {prompt} {answer}"));
    const late = ask(gateway, 1);
    await until(() => stage.asked.length === 1);
    await gateway.put(given("Second: {prompt} {answer}"));
    // The judge's only slot is taken when the answer arrives, and free soon after.
    const direct = gateway.chat({ model: scorer });
    await until(() => engine.asked.length === 1);
    stage.open();
    await new Promise((resolve) => setTimeout(resolve, 50));
    engine.open();
    await Promise.all([direct, late]);
    expect(engine.asked).toHaveLength(2);
    expect(JSON.stringify(engine.asked[1]?.body)).toContain("First: user");
    expect((await gateway.decisions()).find(({ asked }) => asked === "cascade/test")?.stages[0]?.detail).toContain(
      "is not a single number",
    );
  });

  it("judges on after a restart of the gateway", async () => {
    const engine = await startTestEngine(scores);
    const first = await start((url) => judgedOn(url, [engine.url]));
    await first.close();
    const second = await startTestGateway({}, { stateDirectory: first.stateDirectory });
    await ask(second, 1);
    expect(await judged(second)).toEqual([90]);
  });
});

describe("a judge's configuration", () => {
  it.each<[Partial<GatewayConfig>, RegExp]>([
    [{ judge: { model: "nobody" } }, /judge nobody has neither a url nor a replica/],
    [{ judge: { model: "small", keyFromEnvironment: "WEIR_JUDGE_KEY" } }, /key from WEIR_JUDGE_KEY but no url/],
    [
      { judge: { model: "j", url: "http://127.0.0.1:1", keyFromEnvironment: "WEIR_JUDGE_NO_SUCH_KEY" } },
      /WEIR_JUDGE_NO_SUCH_KEY, which is not set/,
    ],
    [{ judge: { model: "j", url: "http://127.0.0.1:1", keyFromEnvironment: "WEIR_ADMIN_TOKEN" } }, /must begin with WEIR_JUDGE_/],
    [{ judge: { model: "j", url: "http://127.0.0.1:1", keyFromEnvironment: "AWS_SECRET_ACCESS_KEY" } }, /must begin with WEIR_JUDGE_/],
    [{ settings: { judge: { rubric: "How good is {answer}?" } } }, /\{prompt\} and \{answer\}/],
  ])("is refused: %j", async (change, sentence) => {
    const { put } = await startTestGateway();
    const { url } = await stageEngine();
    await expect(put({ ...judgedOn(url, [url]), ...change })).rejects.toThrow(sentence);
  });

  it("asks in the operator's words, with the key from the environment", async () => {
    vi.stubEnv("WEIR_JUDGE_TEST_KEY", "secret");
    const judge = await startTestEngine(scores);
    const settings = { judge: { rubric: "Grade {answer} for {prompt}." } };
    const gateway = await start((url) => ({
      ...judgedOn(url, [], { settings }),
      judge: { model: "outside", url: judge.url, keyFromEnvironment: "WEIR_JUDGE_TEST_KEY" },
    }));
    await ask(gateway, 1);
    expect(await judged(gateway)).toEqual([90]);
    const [call] = judge.asked;
    expect(call?.headers.authorization).toBe("Bearer secret");
    expect(call?.body.messages).toEqual([{ role: "user", content: "Grade four for user: What is 2 + 2?." }]);
    expect(await (await fetch(`${gateway.adminUrl}/config`)).text()).not.toContain("secret");
  });

  it("starts without the key it had, with the judge down until it is back", async () => {
    vi.stubEnv("WEIR_JUDGE_TEST_KEY", "secret");
    const judge = await startTestEngine(scores);
    const first = await start((url) => ({
      ...judgedOn(url, []),
      judge: { model: "outside", url: judge.url, keyFromEnvironment: "WEIR_JUDGE_TEST_KEY" },
    }));
    await first.close();
    vi.unstubAllEnvs();
    const second = await startTestGateway({}, { stateDirectory: first.stateDirectory });
    await ask(second, 1);
    expect(await judged(second)).toEqual(["the judge cannot be called: the key's variable WEIR_JUDGE_TEST_KEY is not set"]);
  });

  afterEach(() => void vi.unstubAllEnvs());
});
