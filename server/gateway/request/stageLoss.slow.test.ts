import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gatewayAuditPageSchema } from "@/server/contracts/gateway/gatewayControls";
import { answeringStage } from "@/solver/policies/routes/answeringStage";
import { type Asked, heldEngine, sayCompletion, startTestEngine } from "../testing/testEngine";
import { startTestGateway, type TestCascade, type TestGateway, testConfig, until } from "../testing/testGateway";
import { type StageProcess, startStageProcess } from "../testing/testStageProcesses";

const models = ["small", "medium", "large"] as const;
type Model = (typeof models)[number];

/** Every model but the last is below its threshold of 50, so that a judge that is up escalates each request as far as possible. */
const scores = { small: 20, medium: 30, large: 90 };

const subsets: readonly (readonly Model[])[] = Array.from({ length: 2 ** models.length }, (_, bits) =>
  models.filter((_, stage) => bits & (1 << stage)),
);

/** The judge's state, by arm; router scores make requests start at the last stage, which is not judged. */
const arms = {
  "judge up": { judge: "up" },
  "judge down": { judge: "down" },
  "judge down, then the largest": { judge: "down", whenDown: "largest" },
  "no judge needed": { judge: "up", startBelow: 50, routerScores: "small=0,medium=0,large=0" },
} as const;
type Arm = keyof typeof arms;

/** Two seconds for an unhealthy engine, at each of three stages at most, and a busy machine. */
const boundSeconds = 6;

interface Processes {
  readonly engines: ReadonlyMap<Model, StageProcess>;
  readonly judge: StageProcess;
}

async function startProcesses(atEnd?: Parameters<typeof startStageProcess>[2]): Promise<Processes> {
  const [judge, ...engines] = await Promise.all([
    startStageProcess("weir-judge", scores, atEnd),
    ...models.map(async (model) => [model, await startStageProcess(model, null, atEnd)] as const),
  ]);
  return { judge, engines: new Map(engines) };
}

async function lossyCascade(
  arm: Arm,
  given: Partial<TestCascade> = {},
  { limits, processes }: { readonly limits?: Parameters<typeof startTestGateway>[0]; readonly processes?: Processes } = {},
) {
  const { engines, judge } = processes ?? (await startProcesses());
  const gateway = await startTestGateway(limits);
  const stages = models.map((model) => ({ model, urls: [engines.get(model)?.url ?? ""] }));
  await gateway.put(testConfig({ stages, thresholds: [50, 50], judgeUrl: judge.url, ...arms[arm], ...given }));
  if (arms[arm].judge === "down") await judge.kill();
  return { gateway, engines, judge };
}

type Lossy = Awaited<ReturnType<typeof lossyCascade>>;

/** One request: the answering model, the status, the duration, and what the headers say. */
async function ask({ gateway }: Pick<Lossy, "gateway">, arm: Arm, stream: boolean) {
  const startedMs = performance.now();
  const { routerScores = "" } = { routerScores: "", ...arms[arm] };
  const answer = await gateway.post(
    "/v1/chat/completions",
    { model: "cascade/test", messages: [{ role: "user", content: "What is 2 + 2?" }], stream },
    routerScores === "" ? {} : { "x-weir-router-scores": routerScores },
  );
  const text = await answer.text();
  const header = (name: string): string => answer.headers.get(name) ?? "";
  return {
    status: answer.status,
    by: /answer of (\w+)/.exec(text)?.[1] ?? null,
    seconds: (performance.now() - startedMs) / 1000,
    model: header("x-weir-model"),
    degraded: new Set(
      header("x-weir-degraded")
        .split(",")
        .filter((word) => word !== ""),
    ),
    skipped: new Set(
      header("x-weir-skipped")
        .split(",")
        .filter((word) => word !== ""),
    ),
    retryAfter: header("retry-after"),
    whole: !stream || text.includes("data: [DONE]"),
  };
}

/** The model that must answer, by the rule: if a stage is dead the next larger, else the largest below. */
function expectedOf(arm: Arm, dead: readonly Model[]) {
  const live = (stage: number): boolean => !dead.includes(models[stage] ?? "small");
  const rule = { stages: models.length, canAnswer: live, lowerMayAnswer: true };
  const firstLive = answeringStage(0, rule);
  const largestLive = answeringStage(models.length - 1, rule);
  const answers = arm === "judge down" ? firstLive : largestLive;
  return answers === null ? null : { by: models[answers] ?? "", lower: arm !== "judge down" && !live(models.length - 1) };
}

const series = async (adminUrl: string, name: string): Promise<readonly string[]> =>
  (await (await fetch(`${adminUrl}/metrics`)).text()).split("\n").filter((line) => line.startsWith(name));

describe("a cascade of three whose engines are killed", () => {
  describe.each(Object.keys(arms) as Arm[])("with the %s", (arm) => {
    // The same processes for every case: those that were killed are started again. The gateway is a new one, which knows of no loss.
    const kills: (() => Promise<void>)[] = [];
    let processes: Processes;
    beforeAll(async () => {
      processes = await startProcesses((kill) => kills.push(kill));
    });
    afterAll(() => Promise.all(kills.map((kill) => kill())));

    it.each(subsets.map((dead) => ({ dead, name: dead.length === 0 ? "none" : dead.join(" and ") })))(
      "answers each request by the stage that is left, plain and streamed, where $name is dead",
      async ({ dead }) => {
        await Promise.all([processes.judge, ...processes.engines.values()].map((each) => each.revive()));
        const lossy = await lossyCascade(arm, {}, { processes });
        await Promise.all(dead.map((model) => lossy.engines.get(model)?.kill()));
        const expected = expectedOf(arm, dead);
        // Immediately after the kill in parallel, then one after the other when the loss is known.
        const first = await Promise.all([false, true, false, true].map((stream) => ask(lossy, arm, stream)));
        const later = [await ask(lossy, arm, false), await ask(lossy, arm, true)];
        for (const answer of [...first, ...later]) {
          expect(answer.seconds).toBeLessThan(boundSeconds);
          expect(answer.status).toBe(expected === null ? 503 : 200);
          expect(answer.by).toBe(expected?.by ?? null);
          if (expected === null) expect(Number(answer.retryAfter)).toBeGreaterThan(0);
          else {
            expect(answer.whole).toBe(true);
            expect(answer.model).toBe(expected.by);
            expect(answer.degraded.has("lower-stage")).toBe(expected.lower);
            // Every stage but the last is judged; the last alone is called because there is no judge or no other stage.
            if (arm === "judge down, then the largest" && !(dead.includes("small") && dead.includes("medium")))
              expect(answer.degraded.has("judge")).toBe(true);
            for (const model of answer.skipped) expect(dead).toContain(model);
            expect(answer.degraded.has("stage") || answer.degraded.has("lower-stage")).toBe(answer.skipped.size > 0);
          }
        }
        for (const answer of later) expect(answer.seconds).toBeLessThan(1);
        const { adminUrl } = lossy.gateway;
        const gauges = await series(adminUrl, "weir_gateway_stage_lost{");
        const skips = await series(adminUrl, "weir_gateway_stage_skips_total{");
        for (const model of models) {
          // An engine that is not needed is not called, so its failure stays unknown.
          const skipped = later.some((answer) => answer.skipped.has(model));
          if (skipped) expect(gauges).toContain(`weir_gateway_stage_lost{model="${model}"} 1`);
          if (skipped) expect(skips.join()).toContain(`{model="${model}",cause="lost"}`);
          if (!dead.includes(model)) expect(gauges).toContain(`weir_gateway_stage_lost{model="${model}"} 0`);
          if (!dead.includes(model)) expect(skips.join()).not.toContain(`model="${model}"`);
        }
      },
      60_000,
    );
  });
});

describe("a stage of a cascade that is lost", () => {
  it("does not hold up the requests that wait for its only engine when that is killed under load", async () => {
    const lossy = await lossyCascade("judge up");
    const asked: ReturnType<typeof ask>[] = [];
    const load = setInterval(() => asked.push(ask(lossy, "judge up", asked.length % 2 === 0)), 50);
    await until(() => asked.length >= 10);
    await lossy.engines.get("small")?.kill();
    await until(() => asked.length >= 60);
    clearInterval(load);
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(Math.max(...answers.map(({ seconds }) => seconds))).toBeLessThan(boundSeconds);
  }, 60_000);

  it("is noticed within seconds where its engine takes connections and says nothing any more", async () => {
    const lossy = await lossyCascade("judge up");
    lossy.engines.get("small")?.signal("SIGSTOP");
    const first = await ask(lossy, "judge up", false);
    expect(first).toMatchObject({ status: 200, by: "large" });
    // Five seconds of silence, two health checks of two seconds each, two seconds out of service, and a busy machine.
    expect(first.seconds).toBeLessThan(13);
    expect((await ask(lossy, "judge up", true)).seconds).toBeLessThan(1);
    lossy.engines.get("small")?.signal("SIGCONT");
  }, 60_000);

  it("answers again soon after its engine is back", async () => {
    const lossy = await lossyCascade("judge down");
    await lossy.engines.get("small")?.kill();
    expect(await ask(lossy, "judge down", false)).toMatchObject({ status: 200, by: "medium" });
    await lossy.engines.get("small")?.revive();
    const backMs = performance.now();
    await until(async () => (await ask(lossy, "judge down", false)).by === "small");
    expect((performance.now() - backMs) / 1000).toBeLessThan(4);
  }, 60_000);
});

describe("a judge that takes connections and says nothing any more", () => {
  const judgeSeconds = 2;

  it.each([
    { whenDown: "accept", dead: [], by: "small", calls: 1 },
    { whenDown: "accept", dead: ["small"], by: "medium", calls: 1 },
    { whenDown: "largest", dead: [], by: "large", calls: 1 },
    // The answer of the first stage sends it to the last; the largest remaining stage is judged as well.
    { whenDown: "largest", dead: ["large"], by: "medium", calls: 2 },
  ] as const)(
    "holds a request up for $calls judge calls at most, where the plan says $whenDown and $dead are dead",
    async ({ whenDown, dead, by, calls }) => {
      const lossy = await lossyCascade("judge up", { whenDown }, { limits: { judgeSeconds } });
      await Promise.all(dead.map((model) => lossy.engines.get(model)?.kill()));
      lossy.judge.signal("SIGSTOP");
      const answers = await Promise.all([false, true].map((stream) => ask(lossy, "judge up", stream)));
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: 200, by, whole: true });
        expect(answer.degraded.has("judge")).toBe(true);
        expect(answer.seconds).toBeLessThan(calls * judgeSeconds + boundSeconds);
      }
      lossy.judge.signal("SIGCONT");
      await lossy.judge.kill();
    },
    60_000,
  );
});

describe("requests that wait for an engine", () => {
  it("are told when to come again where a configuration takes the last engine away", async () => {
    const held = await heldEngine();
    const gateway = await startTestGateway();
    const config = testConfig({ stages: [{ model: "small", urls: [held.url] }], maxInFlight: 1 });
    await gateway.put(config);
    const first = gateway.chat({});
    await until(() => held.asked.length === 1);
    const waiting = [gateway.chat({ model: "small" }), gateway.chat({ model: "small", stream: true })];
    await until(async () => (await queuedFor(gateway, "small")) === waiting.length);
    // The configuration in force no longer serves the model by its name.
    const other = await startTestEngine(says("other"));
    await gateway.put(testConfig({ stages: [{ model: "other", urls: [other.url] }], planId: "plan-b" }));
    for (const answer of await Promise.all(waiting)) {
      expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([503, true]);
    }
    held.open();
    expect((await first).status).toBe(200);
  });
});

/** A cascade of small and large on test engines under a judge that gives every answer of the small one 20. */
async function twoStages(small: Parameters<typeof startTestEngine>[0], large: Parameters<typeof startTestEngine>[0], limits = {}) {
  const engines = [await startTestEngine(small), await startTestEngine(large)] as const;
  const judge = await startTestEngine((_, response) => sayCompletion(response, "20", "weir-judge"));
  const gateway = await startTestGateway(limits);
  const stages = ["small", "large"].map((model, at) => ({ model, urls: [engines[at]?.url ?? ""] }));
  await gateway.put(testConfig({ stages, thresholds: [50], judgeUrl: judge.url, maxInFlight: 1 }));
  return { gateway, engines };
}

const says = (text: string) => (_: Asked, response: Parameters<typeof sayCompletion>[0]) => sayCompletion(response, text);
const fails = (status: number) => (_: Asked, response: Parameters<typeof sayCompletion>[0]) => response.writeHead(status).end("{}");

const strict = ({ adminUrl }: TestGateway, method: "PUT" | "DELETE") =>
  fetch(`${adminUrl}/strict-stages`, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ by: "ann", reason: "quality is promised" }),
  });

describe("a stage whose engines fail a request", () => {
  it.each([500, 429])("is passed over after three times %s, for the larger stage", async (status) => {
    const { gateway, engines } = await twoStages(fails(status), says("large says"));
    const answer = await gateway.chat({});
    expect([answer.status, answer.headers.get("x-weir-skipped"), answer.headers.get("x-weir-degraded")]).toEqual([200, "small", "stage"]);
    expect(await answer.text()).toContain("large says");
    expect(engines.map(({ asked }) => asked.length)).toEqual([3, 1]);
    expect((await gateway.decisions())[0]).toMatchObject({ skipped: [{ model: "small", cause: "failed" }], status: 200 });
    expect(await series(gateway.adminUrl, "weir_gateway_stage_skips_total{")).toEqual([
      'weir_gateway_stage_skips_total{model="small",cause="failed"} 1',
    ]);
  });

  it.each([false, true])(
    "leaves its client the smaller stage's answer that is there, which is not asked again (stream: %s)",
    async (stream) => {
      const { gateway, engines } = await twoStages(says("small says"), fails(500));
      const answer = await gateway.chat({ stream });
      expect([answer.status, answer.headers.get("x-weir-model"), answer.headers.get("x-weir-degraded")]).toEqual([
        200,
        "small",
        "lower-stage",
      ]);
      expect(await answer.text()).toContain("small says");
      expect(engines.map(({ asked }) => asked.length)).toEqual([1, 3]);
      expect((await gateway.decisions())[0]?.stages.at(-1)).toMatchObject({ model: "small", verdict: "accepted", reason: "lower-stage" });
      expect(await series(gateway.adminUrl, "weir_gateway_lower_stage_answers_total{")).toEqual([
        'weir_gateway_lower_stage_answers_total{model="small"} 1',
      ]);
    },
  );

  it("leaves no smaller answer where the operator holds stages strict, and says when to come again", async () => {
    const { gateway } = await twoStages(says("small says"), fails(500));
    expect((await strict(gateway, "PUT")).status).toBe(200);
    const refused = await gateway.chat({});
    expect([refused.status, (await refused.json()) as unknown]).toMatchObject([503, { error: { code: "no_endpoint" } }]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await strict(gateway, "DELETE")).status).toBe(200);
    expect((await gateway.chat({})).status).toBe(200);
    const { lines } = gatewayAuditPageSchema.parse(await (await fetch(`${gateway.adminUrl}/audit`)).json());
    expect(lines.map(({ action }) => action)).toEqual(expect.arrayContaining(["strict stages", "strict stages lifted"]));
  });

  it("answers 429 with a time to come again where all are full", async () => {
    const { gateway } = await twoStages(fails(429), fails(429));
    const answer = await gateway.chat({});
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("the queues of the stages that are left", () => {
  it("keep their bound: who would join a full one is answered 429", async () => {
    const held = await heldEngine();
    const { gateway, engines } = await twoStages(
      says("small says"),
      async (_, response) => {
        await fetch(held.url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
        sayCompletion(response, "large says");
      },
      { queuedPerModel: 2 },
    );
    await engines[0].close();
    await until(async () => (await gateway.chat({ model: "small" })).status === 503);
    const first = Array.from({ length: 3 }, () => gateway.chat({}));
    await until(async () => (await queuedFor(gateway, "large")) === 2);
    const turnedAway = await gateway.chat({});
    expect(turnedAway.status).toBe(429);
    expect(Number(turnedAway.headers.get("retry-after"))).toBeGreaterThan(0);
    held.open();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

const queuedFor = async ({ adminUrl }: TestGateway, model: string): Promise<number> =>
  ((await (await fetch(`${adminUrl}/status`)).json()) as { queued: Record<string, number> }).queued[model] ?? 0;

describe("the audit of the gateway", () => {
  it("has a line when a stage is lost and one when it is back", async () => {
    const lossy = await lossyCascade("judge down");
    await lossy.engines.get("small")?.kill();
    await until(async () => (await ask(lossy, "judge down", false)).by === "medium");
    const status = (await (await fetch(`${lossy.gateway.adminUrl}/status`)).json()) as { lostStages: { model: string; sinceMs: number }[] };
    expect(status.lostStages.map(({ model }) => model)).toEqual(["small"]);
    await lossy.engines.get("small")?.revive();
    const actions = async () => {
      const page = gatewayAuditPageSchema.parse(await (await fetch(`${lossy.gateway.adminUrl}/audit`)).json());
      return page.lines.flatMap(({ action, detail }) => (action.startsWith("stage") ? [`${action}: ${detail.includes("small")}`] : []));
    };
    await until(async () => (await actions()).length === 2);
    expect(await actions()).toEqual(["stage lost: true", "stage back: true"]);
  }, 60_000);
});
