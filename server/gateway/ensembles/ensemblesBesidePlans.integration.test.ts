import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { begin, asked as canaryAsked, canaryOf } from "../testing/testCanary";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { ask, contentOf, ensembleOf, told } from "../testing/testEnsembles";
import { hashed, startTestGateway, testConfig } from "../testing/testGateway";
import { putMirror, readMirror } from "../testing/testMirror";
import { jitConfig, justInTime, ladder, roundsOf, voting } from "../testing/testRounds";
import { putShadow, readShadow, slackOver } from "../testing/testShadow";

/** An ensemble of the models of these plans; the largest aggregates. */
const ladderOf = (change: Parameters<typeof ensembleOf>[0] = {}) =>
  ensembleOf({ experts: ladder, aggregator: { model: "large" }, ...change });

/**
 * A gateway whose engines, smallest first, vote A, A and B, and whose aggregator, the largest of them, says D; `settings` are added to the
 * ensemble.
 */
async function gatewayUnder(planOf: (urls: readonly string[]) => GatewayConfig, settings: GatewayConfig["settings"] = {}) {
  const engines = await Promise.all(
    ladder.map((model) =>
      startTestEngine(({ body }, response) => {
        const aggregates = JSON.stringify(body.messages).includes("Answer: ");
        sayCompletion(response, `Answer: ${aggregates ? "D" : model === "large" ? "B" : "A"}`);
      }),
    ),
  );
  const gateway = await startTestGateway();
  await gateway.put({ ...planOf(engines.map(({ url }) => url)), settings: { ...settings, ensembles: [ladderOf()] } });
  return { gateway, engines };
}

const cascadeOver = (urls: readonly string[]): GatewayConfig =>
  testConfig({ stages: ladder.map((model, at) => ({ model, urls: [urls[at] ?? ""] })), thresholds: [50, 50], judgeUrl: urls[0] ?? "" });

it.each<[string, (urls: readonly string[]) => GatewayConfig]>([
  ["just-in-time plan", (urls) => jitConfig(urls, justInTime([{ workflow: voting }]))],
  ["slack plan", (urls) => ({ ...cascadeOver(urls), ...hashed(slackOver(0.2)) })],
  ["cascade", cascadeOver],
])("under a %s each expert is asked by its own name, one that aggregates too, and the plan decides nothing of it", async (_, planOf) => {
  const { gateway, engines } = await gatewayUnder(planOf);
  const { asOfSeconds: _before, ...rounds } = await roundsOf(gateway);
  const answer = await ask(gateway, {}, { "x-weir-workflow": "voting", "x-weir-stage": "voter-1", "x-session-id": "mine" });
  expect(told(answer)).toEqual({ outcome: "aggregated", votes: "2:1", confidence: 0.6667, model: "large" });
  expect(await contentOf(answer)).toBe("Answer: D");
  expect(engines.map(({ asked }) => asked.length)).toEqual([1, 1, 2]);
  const decisions = await gateway.decisions();
  const id = answer.headers.get("x-weir-ensemble-call");
  expect(decisions.map(({ asked, planId, policyHash, program, call }) => ({ asked, planId, policyHash, program, call }))).toEqual(
    decisions.map(({ asked }) => ({ asked, planId: "", policyHash: "direct", program: id, call: undefined })),
  );
  expect(decisions.map(({ asked }) => asked).sort()).toEqual(["large", "large", "medium", "small"]);
  expect(await roundsOf(gateway)).toMatchObject(rounds);
});

it("is none of the programs that a canary, a shadow and a mirror look at", async () => {
  const { gateway, engines } = await gatewayUnder(cascadeOver);
  await putShadow(gateway, slackOver(0.2));
  await putMirror(gateway, 1);
  const canary = await begin(gateway, { ...canaryAsked, shares: [0.5, 1], minRequests: 5, stepSeconds: 60 });
  expect(canary.status).toBe(200);
  for (let request = 0; request < 10; request += 1) expect(told(await ask(gateway))).toMatchObject({ outcome: "aggregated" });
  const none = { finished: 0, failed: 0, slow: 0 };
  expect(await canaryOf(gateway)).toMatchObject({ state: "running", step: 0, candidateArm: none, currentArm: none });
  expect([(await readShadow(gateway)).requests, (await readMirror(gateway)).picked]).toEqual([0, 0]);
  expect(engines.map(({ asked }) => asked.length)).toEqual([10, 10, 20]);
});

it("has the class of work of its key, or of its client, go on with every call", async () => {
  const priorityClasses = [{ name: "batch", queueFraction: 0.5 }];
  const plain = await gatewayUnder(cascadeOver, { priorityClasses });
  await (await ask(plain.gateway, {}, { "x-gateway-inference-objective": "batch" })).text();
  expect((await plain.gateway.decisions()).map(({ objective }) => objective)).toEqual(Array(4).fill("batch"));
  const sha256 = createHash("sha256").update("sk-one").digest("hex");
  const keyed = await gatewayUnder(cascadeOver, {
    priorityClasses,
    keys: [{ name: "app", sha256, objective: "batch", requestsPerMinute: 1 }],
  });
  expect((await ask(keyed.gateway, {}, { authorization: "Bearer sk-one" })).status).toBe(200);
  const told = (await keyed.gateway.decisions()).map(({ key, objective }) => [key, objective]);
  expect(told).toEqual(Array(4).fill(["app", "batch"]));
});
