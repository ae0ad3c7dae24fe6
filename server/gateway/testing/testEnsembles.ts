import type { ServerResponse } from "node:http";
import { type GatewayEnsembles, gatewayEnsemblesSchema, type ServedEnsemble } from "@/server/contracts/gateway/gatewayEnsembles";
import { type Ensemble, ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import { type Answer, sayCompletion, startTestEngine, type TestEngine } from "./testEngine";
import { startTestGateway, type TestGateway, testConfig } from "./testGateway";

/** Experts `a`, `b` and `c`, all of which answer every question, and the aggregator `sum`. */
export const ensembleOf = (change: Partial<Ensemble> = {}): Ensemble =>
  ensembleSchema.parse({
    name: "trio",
    experts: ["a", "b", "c"],
    expertsPerQuestion: 3,
    extraction: { kind: "choice" },
    confidence: { kind: "plurality" },
    tau: 1,
    aggregator: { model: "sum" },
    quorum: 2,
    deadlineSeconds: 60,
    ...change,
  });

export type Model = "a" | "b" | "c" | "sum";
const models: readonly Model[] = ["a", "b", "c", "sum"];

/** Answers with a letter. */
export const says =
  (letter: string): Answer =>
  (_, response) =>
    sayCompletion(response, `I am sure.\nAnswer: ${letter}`);

/** Answers with an error that no other attempt could fix. */
export const fails: Answer = (_, response) => {
  response.writeHead(500, { "content-type": "application/json" }).end(JSON.stringify({ error: { message: "out of order" } }));
};

/** Holds requests until it is released. */
export function held(letter: string) {
  const waiting: ServerResponse[] = [];
  return {
    waiting,
    answer: ((_, response) => void waiting.push(response)) satisfies Answer,
    release() {
      for (const response of waiting.splice(0)) sayCompletion(response, `Answer: ${letter}`);
    },
  };
}

export interface ServedTrio {
  readonly gateway: TestGateway;
  readonly engines: Readonly<Record<Model, TestEngine>>;
  readonly config: ReturnType<typeof testConfig>;
}

/** A gateway that serves an ensemble over an engine of each model. */
export async function serving(
  answers: Readonly<Partial<Record<Model, Answer>>>,
  change: Partial<Ensemble> = {},
  limits: Parameters<typeof startTestGateway>[0] = {},
): Promise<ServedTrio> {
  const started = await Promise.all(models.map(async (model) => [model, await startTestEngine(answers[model] ?? says("A"))] as const));
  const engines = Object.fromEntries(started) as Record<Model, TestEngine>;
  const gateway = await startTestGateway({ attemptsPerStage: 1, ...limits });
  const stages = models.map((model) => ({ model, urls: [engines[model].url] }));
  const config = testConfig({ stages: stages.slice(0, 1), settings: { ensembles: [ensembleOf(change)] } });
  const all = { ...config, replicas: testConfig({ stages }).replicas };
  await gateway.put(all);
  return { gateway, engines, config: all };
}

/** Asks the ensemble. */
export const ask = (gateway: TestGateway, body: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
  gateway.post("/v1/chat/completions", { model: "ensemble/trio", messages: [{ role: "user", content: "Which one?" }], ...body }, headers);

/** The headers about how it reached its answer. */
export const told = ({ headers }: Response) => ({
  outcome: headers.get("x-weir-ensemble-outcome"),
  votes: headers.get("x-weir-ensemble-votes"),
  confidence: Number(headers.get("x-weir-ensemble-confidence")),
  model: headers.get("x-weir-model"),
});

export async function contentOf(response: Response): Promise<string> {
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return choices[0]?.message.content ?? "";
}

/** Asks the admin port about ensembles. */
export async function admin(gateway: TestGateway, method: string, path: string, body?: object) {
  const headers = { "content-type": "application/json", "if-match": (await fetch(`${gateway.adminUrl}/config`)).headers.get("etag") ?? "" };
  const answer = await fetch(`${gateway.adminUrl}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: answer.status, body: (await answer.json()) as GatewayEnsembles & { error?: { message: string; code: string } } };
}

export async function served(gateway: TestGateway): Promise<ServedEnsemble> {
  const { ensembles } = gatewayEnsemblesSchema.parse(await (await fetch(`${gateway.adminUrl}/ensembles`)).json());
  const [first] = ensembles;
  if (first === undefined) throw new Error("No ensemble is served.");
  return first;
}
