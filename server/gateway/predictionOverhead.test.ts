import { expect, it } from "vitest";
import { type Decision, decisionPageSchema } from "@/server/contracts/gatewayAdmin";
import { quantile } from "@/solver/numeric/quantile";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { sayCompletion, startTestEngine } from "./testEngine";
import { hashed, oneModel, startTestGateway } from "./testGateway";
import { putArtefact, shortText, slackBy, testConfidence, testLengths } from "./testPredictors";

const lengths = testLengths();
const confidence = testConfidence();
const queueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
const stjf = { kind: "stjf", agingReleases: 100 } as const;
const policies: Readonly<Record<string, PolicyDocument>> = {
  "no predictors": { kind: "fixed", model: "large", ...queueing },
  "features remembered": { kind: "fixed", model: "large", ...queueing, order: stjf },
  "predicted lengths": { kind: "fixed", model: "large", ...queueing, order: stjf, learnt: { lengths: lengths.hash } },
  "predicted lengths and confidence": slackBy({ lengths: lengths.hash, confidence: confidence.hash }),
};
/** All records after a sequence, page by page. */
async function decisionsAfter(adminUrl: string, sequence: number): Promise<readonly Decision[]> {
  const { decisions, latest } = decisionPageSchema.parse(await (await fetch(`${adminUrl}/decisions?after=${sequence}`)).json());
  const last = decisions.at(-1)?.sequence ?? latest;
  return last >= latest ? decisions : [...decisions, ...(await decisionsAfter(adminUrl, last))];
}

const rounds = 6;
const atOnce = 32;

it("the gateway's own time per request is measured under policies with predictors and without", async () => {
  const engine = await startTestEngine((_, response) => sayCompletion(response, "done"));
  const gateway = await startTestGateway({ predictionSeconds: 5 });
  for (const artefact of [lengths, confidence]) await putArtefact(gateway, artefact);
  const replicas = ["small", "large"].map((model) => ({ id: model, model, url: engine.url, state: "active" as const, maxInFlight: 64 }));
  /** Median of the own time of requests, in milliseconds, asked so many at once. */
  const measured = async (batch: number): Promise<number> => {
    const before = (await decisionsAfter(gateway.adminUrl, 0)).length;
    for (let round = 0; round < rounds; round += 1) {
      const answers = Array.from({ length: batch }, () => gateway.chat({ messages: [{ role: "user", content: shortText(`q${round}`) }] }));
      for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    }
    const own = (await decisionsAfter(gateway.adminUrl, before)).map(({ overheadSeconds }) => 1000 * overheadSeconds);
    expect(own).toHaveLength(rounds * batch);
    return quantile(own, 0.5);
  };
  const told: string[] = [];
  for (const [name, policy] of Object.entries(policies)) {
    await gateway.put({ ...oneModel([]), replicas, ...hashed(policy) });
    await measured(1);
    const [alone, together] = [await measured(1), await measured(atOnce)];
    told.push(`${name} ${alone.toFixed(2)} ms alone, ${together.toFixed(2)} ms of ${atOnce} at once`);
  }
  console.log(`Gateway's own time per request, median: ${told.join("; ")}.`);
  const decisions = await decisionsAfter(gateway.adminUrl, 0);
  expect(
    decisions.filter(({ predictions }) => predictions !== undefined).every(({ predictions }) => predictions?.absent === undefined),
  ).toBe(true);
});
