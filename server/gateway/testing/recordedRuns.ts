import { expect } from "vitest";
import { type Decision, type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { gatewayWorkflowsSchema } from "@/server/contracts/gateway/gatewayWorkflows";
import type { RecordedRequest } from "@/solver/cluster/recordedWorld";
import { type Random, seededRandom } from "@/solver/numeric/random";
import { type PolicyDocument, singleStagesOf } from "@/solver/plan/policySchema";
import { sayCompletion, startTestEngine, streamEvent } from "./testEngine";
import { sayScored } from "./testGates";
import { hashed, startTestGateway, type TestGateway, testConfig, until } from "./testGateway";
import { putArtefact, type TestArtefact } from "./testPredictors";
import { ladder } from "./testRounds";

/** The engines of a recorded run: three of each model. */
export interface RecordedEngines {
  /** Tokens of each engine. */
  readonly kvTokens: number;
  readonly maxInFlight: number;
  readonly timeScale: number;
  /** Wall milliseconds that engines of later stages take in addition; left out: none. */
  readonly laterMs?: number;
}

interface RunToRecord {
  readonly policy: PolicyDocument;
  readonly engines: RecordedEngines;
  /** Number of requests that the load makes. */
  readonly requests: number;
  /** Of accurate configurations, for a just-in-time policy. */
  readonly predictor: TestArtefact;
  /** Sends the requests; ends once they are answered. */
  readonly load: (gateway: TestGateway, random: Random) => Promise<void>;
}

/**
 * A gateway's decisions on a load for engines and a judge that take random times; the engines answer nothing before a fifth of the load
 * waits for them.
 */
export async function recordRun({
  policy,
  engines,
  requests,
  predictor,
  load,
}: RunToRecord): Promise<{ readonly config: GatewayConfig; readonly decisions: readonly Decision[] }> {
  const { kvTokens, maxInFlight, timeScale, laterMs = 0 } = engines;
  const random = seededRandom(17);
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const engine = async (model: string) => {
    const leastMs = model === ladder[0] ? 1 : 1 + laterMs;
    const started = await startTestEngine(async (asked, response) => {
      const { body } = asked;
      await opened;
      await new Promise((resolve) => setTimeout(resolve, leastMs + random.int(12)));
      if (body.logprobs === true) return sayScored(asked, response, [["An answer.", (1 + random.int(98)) / 100]]);
      if (body.stream !== true) return sayCompletion(response, "An answer.");
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`${streamEvent({ content: "An answer." }, "stop")}data: [DONE]\n\n`);
    });
    const size = `vllm:cache_config_info{block_size="16",num_gpu_blocks="${kvTokens / 16}"} 1`;
    started.pages.set("/metrics", (response) => response.end(`vllm:kv_cache_usage_perc 0.2\nvllm:num_preemptions_total 0\n${size}\n`));
    return started;
  };
  let judged = 0;
  const breaks = policy.kind === "cascade" && policy.judge.whenDown === "largest";
  const judge = await startTestEngine((_, response) => {
    judged += 1;
    const said = random.next() < 0.02 || (breaks && judged > requests / 2) ? "no idea" : String(random.int(101));
    setTimeout(() => sayCompletion(response, said), random.int(5));
  });
  const stages = await Promise.all(
    ladder.map(async (model) => ({
      model,
      urls: (await Promise.all([engine(model), engine(model), engine(model)])).map(({ url }) => url),
    })),
  );
  const config = { ...testConfig({ stages, thresholds: [60, 40], judgeUrl: judge.url, maxInFlight }), ...hashed(policy), timeScale };
  const gateway = await startTestGateway({ predictionSeconds: 5, searchSeconds: 5 });
  if (policy.kind === "just-in-time") expect((await putArtefact(gateway, predictor)).status).toBe(200);
  await gateway.put(config);
  if (policy.place.kind === "time-slots") await until(() => knowsMemory(gateway, kvTokens));
  const queued = async () => Object.values(gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json()).queued);
  const opens = until(async () => (await queued()).reduce((sum, count) => sum + count) > requests / 5).then(open);
  await load(gateway, random);
  await opens;
  return { config, decisions: await gateway.decisions() };
}

/** Whether the policy has read how much each engine of the first model holds. */
async function knowsMemory({ adminUrl }: TestGateway, kvTokens: number): Promise<boolean> {
  const { memory } = gatewayWorkflowsSchema.parse(await (await fetch(`${adminUrl}/workflows`)).json());
  return memory?.replicas.every(({ capacityTokens }) => capacityTokens === kvTokens) === true;
}

/** The stage of a model in a decision: calls of declared workflows have their stages after those of single requests. */
function stageOf(policy: PolicyDocument, { call, candidates = [] }: Decision, model: string): number {
  const workflows = policy.kind === "just-in-time" ? policy.workflows.map(({ workflow }) => workflow) : [];
  const isCall = workflows.some(({ name, agents }) => name === call?.workflow && agents.some((agent) => agent.name === call.agent));
  return candidates.indexOf(model) + (isCall ? singleStagesOf(policy).length : 0);
}

/** The hashes of a record. */
function blocksOf(promptBlocks: string): Uint32Array {
  const bytes = Buffer.from(promptBlocks, "base64");
  return Uint32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32LE(4 * at));
}

type Stage = Decision["stages"][number];

/** A stage with its times. @throws Error where it was never sent. */
function timed(stage: Stage): Stage & { readonly at: NonNullable<Stage["at"]> } {
  if (stage.at === undefined) throw new Error(`The record has no times of ${stage.model}`);
  return { ...stage, at: stage.at };
}

/** What a record of the gateway says of a request, for a replay. */
export const recorded =
  (policy: PolicyDocument) =>
  (decision: Decision): RecordedRequest => {
    const { program = null, inputTokens = 0, predictedTokens, predictedProgramTokens, routerScores = {}, startReason } = decision;
    const { programStart, forecast, reforecasts = [], call, configurations, searched, due, promptBlocks } = decision;
    return {
      program,
      ...(programStart !== undefined && { programStartSeconds: programStart }),
      ...(forecast !== undefined && { forecast }),
      reforecasts: reforecasts.map(({ at, forecast }) => ({ atSeconds: at, forecast })),
      ...(call !== undefined && { call }),
      ...(configurations !== undefined && { accurate: Uint32Array.from(configurations.set) }),
      ...(configurations?.margins !== undefined && { margins: Int8Array.from(Buffer.from(configurations.margins, "base64")) }),
      ...(searched !== undefined && { searchedSeconds: searched }),
      inputTokens,
      ...(predictedTokens !== undefined && { predictedTokens }),
      ...(predictedProgramTokens !== undefined && { predictedProgramTokens }),
      ...(due !== undefined && { dueSeconds: due }),
      ...(promptBlocks !== undefined && { promptBlocks: blocksOf(promptBlocks) }),
      routerScores,
      judgeResting: startReason === "judge-unavailable",
      visits: decision.stages.map(timed).map(({ model, at, judgedScore }) => ({
        stage: stageOf(policy, decision, model),
        queuedSeconds: at.queued,
        answeredSeconds: at.answered,
        ...(at.firstToken !== undefined && { firstTokenSeconds: at.firstToken }),
        judgedSeconds: at.judged,
        judgedScore,
      })),
    };
  };

/** What it says was decided. */
export const decided = (policy: PolicyDocument) => (decision: Decision) => ({
  startReason: decision.startReason,
  visits: decision.stages.map(timed).map(({ model, replica, at, verdict, reason, judgedScore }) => ({
    stage: stageOf(policy, decision, model),
    replicaId: replica,
    dispatchedSeconds: at.dispatched,
    verdict,
    // The record also says how the judge failed.
    reason: at.judged !== null && judgedScore === null ? reason.replace(/: .*$/, "") : reason,
  })),
});
