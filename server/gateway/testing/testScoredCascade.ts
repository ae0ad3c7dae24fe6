import { createHash } from "node:crypto";
import type { Candidate } from "@/server/contracts/gateway/gatewayControls";
import { policyHash } from "@/server/contracts/gateway/policyHash";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { type Asked, sayCompletion, startTestEngine } from "./testEngine";
import { startTestGateway, type TestCascade, type TestGateway, testConfig } from "./testGateway";

export const models = ["small", "medium", "large"] as const;

interface ScoredCascade extends Partial<TestCascade> {
  /** Answer time of an engine. */
  readonly answerMs?: number;
  readonly enginesEach?: number;
}

/** One question to the judge, and its answer. */
interface Judgement {
  readonly model: string;
  /** Null if it refused. */
  readonly score: number | null;
}

/**
 * A real gateway over engines of three models that identify themselves, and a judge whose score of an answer is any number from 0 to 100,
 * always the same for the same answer; it refuses to score about every twentieth answer.
 */
export async function startScoredCascade({ answerMs = 0, enginesEach = 1, ...given }: ScoredCascade = {}) {
  const answer = ({ body }: Asked, response: Parameters<typeof sayCompletion>[0]): void => {
    const text = `answer of ${body.model} to ${questionOf(body)}`;
    if (answerMs === 0) sayCompletion(response, text, String(body.model));
    else setTimeout(() => sayCompletion(response, text, String(body.model)), answerMs);
  };
  const engines = await Promise.all(models.flatMap(() => Array.from({ length: enginesEach }, () => startTestEngine(answer))));
  const judgements: Judgement[] = [];
  const judge = await startTestEngine(({ body }, response) => {
    const [, model = "", question = ""] = /answer of (\S+) to (\S+)/.exec(questionOf(body)) ?? [];
    const score = scoreOf(model, question);
    judgements.push({ model, score });
    if (score === null) response.writeHead(400).end();
    else sayCompletion(response, String(score), "weir-judge");
  });
  const gateway = await startTestGateway();
  const stages = models.map((model, index) => ({
    model,
    urls: engines.slice(index * enginesEach, (index + 1) * enginesEach).map(({ url }) => url),
  }));
  const config = testConfig({ stages, thresholds: [50, 50], judgeUrl: judge.url, ...given });
  await gateway.put(config);
  return { gateway, config, engines, judge, judgements };
}

/** The score that the judge gives a model's answer to a question. */
export function scoreOf(model: string, question: string): number | null {
  const digest = createHash("sha256").update(`${model} ${question}`).digest();
  return digest.readUInt8(4) < 13 ? null : digest.readUInt32BE(0) % 101;
}

/** A policy as the candidate of a plan. */
export const candidateOf = (policy: PolicyDocument): Candidate => ({ planId: "plan-b", policyHash: policyHash(policy), policy });

/** Requests a control from the admin listener; returns the answer's document with its status. */
export async function control({ adminUrl }: TestGateway, method: string, path: string, body?: unknown) {
  const init = body === undefined ? { method } : { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(`${adminUrl}${path}`, init);
  return { status: answer.status, document: await answer.json() };
}

/** One request of the cascade, with a question that determines the judge's score. */
export function ask({ post }: TestGateway, question: string, headers: Record<string, string> = {}): Promise<Response> {
  return post("/v1/chat/completions", { model: "cascade/test", messages: [{ role: "user", content: question }] }, headers);
}

/** Asks all of them, with a limit on concurrent ones, and reads every answer whole. */
export async function askAll(gateway: TestGateway, questions: readonly string[], atOnce: number): Promise<void> {
  const left = [...questions];
  const askOn = async (): Promise<void> => {
    for (let question = left.shift(); question !== undefined; question = left.shift()) {
      const answer = await ask(gateway, question);
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, askOn));
}

function questionOf({ messages }: Record<string, unknown>): string {
  const [message] = messages as readonly { readonly content: string }[];
  return message?.content ?? "";
}
