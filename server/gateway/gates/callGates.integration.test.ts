import { describe, expect, it } from "vitest";
import { type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import type { GateDocument } from "@/solver/gates/gateDocument";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { configRefusal } from "../serving/configRefusal";
import { type Answer, sayCompletion, startTestEngine } from "../testing/testEngine";
import { sayScored } from "../testing/testGates";
import { startTestGateway, until } from "../testing/testGateway";
import { putArtefact, shortText, testConfigurations } from "../testing/testPredictors";
import { askAs, callOf, jitConfig, justInTime, ladder, voting } from "../testing/testRounds";

/** The larger its models, the surer a configuration is accurate for a short prompt. */
const predictor = testConfigurations(voting, ladder, (place) => Math.min(0.95, 0.03 + 2 * place));
const gate: GateDocument = { kind: "confidence", measure: "minimum", calibration: { raw: [0, 100], calibrated: [0, 100] } };
const voters = voting.agents.slice(0, -1).map(({ name }) => name);

/** Agents' answers by the smaller models are scored; programs are as accurate as those that they call right. */
const scored: JustInTimePolicy = justInTime(
  [
    {
      ...{ workflow: voting, predictor: predictor.hash },
      answers: voters.flatMap((agent) => ["small", "medium"].map((model) => ({ agent, model, rightIfAccurate: 0.99, rightIfNot: 0.01 }))),
    },
  ],
  { selection: { kind: "cheapest" }, callGates: ["small", "medium"].map((model) => ({ model, gate, prior: 0.5 })) },
);

async function gatewayOf(answer: Answer, policy: JustInTimePolicy = scored) {
  const engines = await Promise.all(ladder.map(() => startTestEngine(answer)));
  const gateway = await startTestGateway({ predictionSeconds: 5, searchSeconds: 5 });
  expect((await putArtefact(gateway, predictor)).status).toBe(200);
  await gateway.put(
    jitConfig(
      engines.map(({ url }) => url),
      policy,
    ),
  );
  return { gateway, engines };
}

describe("agents' answers under a policy that has them scored", () => {
  it("are asked for with log probabilities, and given to clients that asked for none without", async () => {
    const { gateway, engines } = await gatewayOf((asked, response) =>
      sayScored(asked, response, [
        ["Yes", 0.9],
        [".", 0.8],
      ]),
    );
    const answer = await askAs(gateway, callOf(voting, "voter-1", "p1"), shortText("q"));
    expect(answer.headers.get("x-weir-judge-score")).toBe("80");
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "Yes." }, logprobs: null }] });
    expect(engines[0]!.asked[0]!.body).toMatchObject({ logprobs: true });
    const [decision] = await gateway.decisions();
    expect(decision).toMatchObject({
      call: { workflow: "voting", agent: "voter-1" },
      degraded: [],
      stages: [{ model: "small", judgedScore: 80, threshold: null, verdict: "accepted", reason: "scored-for-later-agents" }],
    });
    expect(decision!.stages[0]!.gate).toMatchObject({ kind: "confidence", raw: [80] });
    expect(Buffer.from(decision!.configurations!.margins!, "base64")).toHaveLength(decision!.configurations!.of);
  });

  it("change the models of the agents after them: a bad one leaves fewer configurations than a good one", async () => {
    let probability = 0.5;
    const { gateway } = await gatewayOf((asked, response) => sayScored(asked, response, [["Yes", probability]]));
    const leftAfter = async (program: string, said: number): Promise<number> => {
      probability = said;
      await askAs(gateway, callOf(voting, "voter-1", program), shortText("q"));
      const { programs } = (await (await fetch(`${gateway.adminUrl}/rounds`)).json()) as {
        programs: { programId: string; left: number[] }[];
      };
      const left = programs.find(({ programId }) => programId.endsWith(program))!.left;
      return left.reduce((sum, word) => sum + word.toString(2).replaceAll("0", "").length, 0);
    };
    const [bad, even, good] = [await leftAfter("bad", 0.05), await leftAfter("even", 0.5), await leftAfter("good", 0.99)];
    expect(bad).toBeLessThan(even);
    expect(even).toBeLessThanOrEqual(good);
  });

  it("are accepted without a score where the model calls a tool alone, and where its engine reports no log probabilities", async () => {
    const { gateway } = await gatewayOf((asked, response) => {
      if (asked.body.user === "silent") return sayCompletion(response, "Yes.");
      const message = {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }],
      };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: "tool_calls" }];
      return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: "1", choices }));
    });
    const messages = [{ role: "user", content: shortText("q") }];
    const ask = async (user: string): Promise<number> =>
      (await gateway.post("/v1/chat/completions", { model: "cascade/test", messages, user }, callOf(voting, "voter-1", user))).status;
    expect([await ask("tool"), await ask("silent")]).toEqual([200, 200]);
    for (const { stages, degraded } of await gateway.decisions()) {
      expect(stages).toMatchObject([{ model: "small", judgedScore: null, verdict: "accepted", reason: "no-gate-score" }]);
      expect(degraded).toEqual([]);
    }
  });

  it("by the largest model, and those that only the other policy has scored, are not scored", async () => {
    const { callGates: _, ...plain } = scored;
    const unscored = { ...plain, workflows: [{ workflow: voting, predictor: predictor.hash }] };
    const { gateway, engines } = await gatewayOf((asked, response) => sayScored(asked, response, [["Yes", 0.9]]), unscored);
    await askAs(gateway, callOf(voting, "voter-1", "p1"), shortText("q"));
    expect(engines[0]!.asked[0]!.body).not.toHaveProperty("logprobs");
    const [decision] = await gateway.decisions();
    expect(decision!.stages).toMatchObject([{ model: "small", judgedScore: null, reason: "not-judged" }]);
    expect(decision!.configurations).not.toHaveProperty("margins");
  });

  it("are streamed once they are scored", async () => {
    const { gateway } = await gatewayOf((asked, response) => sayScored(asked, response, [["Yes", 0.9]]));
    const body = { model: "cascade/test", messages: [{ role: "user", content: shortText("q") }], stream: true };
    const answer = await gateway.post("/v1/chat/completions", body, callOf(voting, "voter-1", "p1"));
    expect(await answer.text()).toContain("Yes");
    const [decision] = await gateway.decisions();
    expect(decision!.stages).toMatchObject([{ judgedScore: 90, reason: "scored-for-later-agents" }]);
  });
});

it("a configuration whose engines report no log probabilities is refused where a gate of agents' answers reads them", () => {
  const config: GatewayConfig = jitConfig(["http://a", "http://b", "http://c"], scored);
  const [small, ...others] = config.replicas;
  expect(configRefusal(config)).toBeNull();
  expect(configRefusal({ ...config, replicas: [{ ...small!, logProbabilities: false }, ...others] })).toBe(
    `The confidence gate of agents' answers by small reads log probabilities, which its engine ${small!.id} does not report.`,
  );
});

it("models whose answers get no score are reported as stages of cascades are", async () => {
  const { gateway } = await gatewayOf((_, response) => sayCompletion(response, "Yes."));
  for (let call = 0; call < 5; call += 1) await askAs(gateway, callOf(voting, "voter-1", `p${call}`), shortText("q"));
  await until(async () => {
    const { unscoredStages = [] } = gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json());
    return unscoredStages.some(({ model, cause }) => model === "small" && cause === "no-log-probabilities");
  });
});
