import { setTimeout as sleep } from "node:timers/promises";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { type GatewayRounds, gatewayRoundsSchema } from "@/server/contracts/gateway/gatewayRounds";
import { type GatewayWorkflows, gatewayWorkflowsSchema } from "@/server/contracts/gateway/gatewayWorkflows";
import { emulatedPrograms } from "@/server/load/emulatedPrograms";
import { type ProgramLoadOptions, type ProgramLoadReport, runProgramLoad } from "@/server/load/programLoad";
import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { Emulation } from "../lib/emulation";
import { type BenchGateway, cascadeModel, startBenchGateway } from "./gatewayBench";

/** Programs and their engines. */
interface SessionSetup extends Pick<ProgramLoadOptions, "sample"> {
  readonly replicas: readonly ClusterReplica[];
  /** Limit of each replica: further requests wait in the gateway's queue, where the policy orders them. */
  readonly maxInFlight: number;
}

interface SessionOptions extends Pick<ProgramLoadOptions, "timeScale" | "textOf" | "said"> {
  readonly setup: SessionSetup;
  /** One after another, without restarting the gateway: it keeps its learnt state. */
  readonly policies: readonly PolicyDocument[];
  /** Has the engines deviate from their model, each name in a different way; left out: they match the model. */
  readonly modelPerturbation?: string | undefined;
  /** GPUs of each engine; left out: one each. */
  readonly gpus?: readonly number[];
  /** Trained predictors that the policies name. */
  readonly artefacts?: readonly Uint8Array[];
}

/** The same programs at the same arrivals under one policy. Seconds are the engines'. */
export interface LiveRun {
  readonly policy: PolicyDocument;
  readonly report: ProgramLoadReport;
  readonly decisions: readonly Decision[];
}

export interface LiveSession {
  readonly runs: readonly LiveRun[];
  /** The gateway's learnt state once all programs have ended. */
  readonly learnt: GatewayWorkflows;
  /** Prediction statistics of accurate configurations, over all runs. */
  readonly searches: GatewayRounds["predictions"];
}

/** Programs without further requests are considered ended after half a minute of the engines. */
const MOST_QUIET_SECONDS = 120;

/** Sends programs through separate gateway and emulator processes, once for each policy; the policies are activated as plans are. */
export async function runSession({ setup, policies, timeScale, ...options }: SessionOptions): Promise<LiveSession> {
  const { sample, replicas, maxInFlight } = setup;
  const { gpus, modelPerturbation, artefacts = [], ...load } = options;
  const [first] = policies;
  if (first === undefined) throw new RangeError("A session needs a policy");
  const emulation = await Emulation.start({
    models: replicas.map(({ model }) => model),
    outcomes: emulatedPrograms("programs", sample),
    ...{ gpus, timeScale, modelPerturbation },
  });
  try {
    const gateway = await startBenchGateway(first, {
      engines: (model) => emulation.engineUrls.filter((_, index) => replicas[index]?.model === model),
      judge: emulation.judgeUrl,
      ...{ maxInFlight, timeScale, artefacts },
    });
    try {
      const runs: LiveRun[] = [];
      for (const [at, policy] of policies.entries()) {
        if (at > 0) await gateway.put(policy);
        const before = await gateway.decisionsAfter(0);
        const report = await runProgramLoad({ id: `run${at}`, gatewayUrl: gateway.url, model: cascadeModel, timeScale, sample, ...load });
        runs.push({ policy, report, decisions: await gateway.decisionsAfter(before.at(-1)?.sequence ?? 0) });
      }
      const { predictions: searches } = gatewayRoundsSchema.parse(await (await gateway.read("/rounds")).json());
      return { runs, learnt: await settled(gateway, timeScale), searches };
    } finally {
      await gateway.close();
    }
  } finally {
    await emulation.end();
  }
}

/** The learnt state when no program is in flight any more. */
async function settled(gateway: Pick<BenchGateway, "read">, timeScale: number): Promise<GatewayWorkflows> {
  for (let waitedSeconds = 0; ; waitedSeconds += 0.1 * timeScale) {
    const answer = await gateway.read("/workflows");
    if (!answer.ok) throw new Error(`GET /workflows: ${answer.status} ${await answer.text()}`);
    const workflows = gatewayWorkflowsSchema.parse(await answer.json());
    if (workflows.learnt.counts.openPrograms === 0 || waitedSeconds > MOST_QUIET_SECONDS) return workflows;
    await sleep(100);
  }
}
