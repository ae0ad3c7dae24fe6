import { setTimeout as sleep } from "node:timers/promises";
import { type Decision, decisionPageSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { type GatewayRounds, gatewayRoundsSchema } from "@/server/contracts/gateway/gatewayRounds";
import { type GatewayWorkflows, gatewayWorkflowsSchema } from "@/server/contracts/gateway/gatewayWorkflows";
import { emulatedPrograms, stageOf, upstreamAgents } from "@/server/load/emulatedPrograms";
import { type ProgramLoadReport, runProgramLoad } from "@/server/load/programLoad";
import { mean, quantile } from "@/solver/numeric/quantile";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { cascadeModel, startBenchGateway } from "../gateway/gatewayBench";
import { Emulation } from "../lib/emulation";
import type { LiveSetup } from "./liveSetup";

interface SessionOptions {
  readonly setup: Pick<LiveSetup, "sample" | "replicas" | "maxInFlight">;
  /** One after another, without the gateway being started anew: it keeps what it has learnt. */
  readonly policies: readonly PolicyDocument[];
  readonly timeScale: number;
  /** Has the engines deviate from their model, each name in ways of its own. */
  readonly modelPerturbation: string;
  /** GPUs of each engine; left out: one each. */
  readonly gpus?: readonly number[];
  /** Trained predictors that the policies name. */
  readonly artefacts?: readonly Uint8Array[];
  /** Texts of the sample's prompts by row of the outcome table; left out: filler. */
  readonly textOf?: (row: number) => string | null;
}

/** The same programs at the same arrivals under one policy. Seconds are the engines'. */
export interface LiveRun {
  readonly policy: PolicyDocument;
  readonly report: ProgramLoadReport;
  readonly decisions: readonly Decision[];
}

export interface LiveSession {
  readonly runs: readonly LiveRun[];
  /** What the gateway has learnt once all programs have ended. */
  readonly learnt: GatewayWorkflows;
  /** How accurate configurations were predicted, over all runs. */
  readonly searches: GatewayRounds["predictions"];
}

/** Programs of which nothing more comes are taken to have ended after half a minute of the engines. */
const MOST_QUIET_SECONDS = 120;

/** Sends a ground's programs through gateway and emulator, processes of their own, once for each policy, which are put into force as plans are. */
export async function runSession({ setup, policies, timeScale, modelPerturbation, ...options }: SessionOptions): Promise<LiveSession> {
  const { sample, replicas, maxInFlight } = setup;
  const { gpus, artefacts = [], textOf = () => null } = options;
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
        const before = await latestDecision(gateway.adminUrl);
        const report = await runProgramLoad({ id: `run${at}`, gatewayUrl: gateway.url, model: cascadeModel, timeScale, sample, textOf });
        runs.push({ policy, report, decisions: await decisionsAfter(gateway.adminUrl, before) });
      }
      const { predictions: searches } = gatewayRoundsSchema.parse(await (await fetch(`${gateway.adminUrl}/rounds`)).json());
      return { runs, learnt: await settled(gateway.adminUrl, timeScale), searches };
    } finally {
      await gateway.close();
    }
  } finally {
    await emulation.end();
  }
}

async function latestDecision(adminUrl: string): Promise<number> {
  return decisionPageSchema.parse(await (await fetch(`${adminUrl}/decisions?after=0`)).json()).latest;
}

async function decisionsAfter(adminUrl: string, after: number): Promise<readonly Decision[]> {
  const decisions: Decision[] = [];
  for (let cursor = after; ; ) {
    const page = decisionPageSchema.parse(await (await fetch(`${adminUrl}/decisions?after=${cursor}`)).json());
    decisions.push(...page.decisions);
    cursor = page.decisions.at(-1)?.sequence ?? page.latest;
    if (cursor >= page.latest) return decisions;
  }
}

/** What is learnt when no program is under way any more. */
async function settled(adminUrl: string, timeScale: number): Promise<GatewayWorkflows> {
  for (let waitedSeconds = 0; ; waitedSeconds += 0.1 * timeScale) {
    const answer = await fetch(`${adminUrl}/workflows`);
    if (!answer.ok) throw new Error(`GET /workflows: ${answer.status} ${await answer.text()}`);
    const workflows = gatewayWorkflowsSchema.parse(await answer.json());
    if (workflows.learnt.counts.openPrograms === 0 || waitedSeconds > MOST_QUIET_SECONDS) return workflows;
    await sleep(100);
  }
}

/** What programs felt. */
export interface LiveFigures {
  readonly meanSeconds: number;
  readonly p95Seconds: number;
  readonly meanSecondsPerToken: number;
  readonly p95SecondsPerToken: number;
  /** Waiting for an engine over end-to-end time. */
  readonly queueShare: number;
  /** Of the requests: with a forecast in their record. */
  readonly forecastShare: number;
  /** One program in twenty began so much later than it should have, or more: what else the machine did shows here first. */
  readonly lateSeconds: number;
  readonly failures: number;
}

export function figuresOf({ report, decisions }: LiveRun): LiveFigures {
  const { endToEndSeconds, outputTokens, lateSeconds, failures } = report;
  const served = endToEndSeconds.filter(Number.isFinite);
  const perToken = Array.from(endToEndSeconds, (seconds, program) => seconds / (outputTokens[program] ?? 1)).filter(Number.isFinite);
  const queued = decisions.reduce((sum, { stages }) => sum + stages.reduce((all, { queueSeconds }) => all + queueSeconds, 0), 0);
  return {
    meanSeconds: mean(served),
    p95Seconds: quantile(served, 0.95),
    meanSecondsPerToken: mean(perToken),
    p95SecondsPerToken: quantile(perToken, 0.95),
    queueShare: queued / served.reduce((sum, seconds) => sum + seconds, 0),
    forecastShare: decisions.filter(({ forecast }) => forecast !== undefined).length / decisions.length,
    lateSeconds: quantile(lateSeconds, 0.95),
    failures: failures.length,
  };
}

/** Calls of a graph by `application/agent -> application/agent`. */
export type EdgeCalls = Readonly<Record<string, number>>;

/** The edges that a sample's programs have in `times` runs of it: from every agent that a call reads. */
export function trueEdges(sample: ProgramSample, times: number): EdgeCalls {
  const calls: Record<string, number> = {};
  for (const request of sample.program.keys()) {
    const application = sample.workflows[sample.workflow[sample.program[request] ?? 0] ?? 0]?.name ?? "";
    for (const from of upstreamAgents(sample, request)) {
      const edge = `${application}/${from} -> ${application}/${stageOf(sample, request).role}`;
      calls[edge] = (calls[edge] ?? 0) + times;
    }
  }
  return calls;
}

export const learntEdges = ({ learnt }: GatewayWorkflows): EdgeCalls =>
  Object.fromEntries(learnt.applications.flatMap(({ edges }) => edges.map(({ from, to, calls }) => [`${from} -> ${to}`, calls])));
