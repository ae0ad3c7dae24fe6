import type { GatewayWorkflows } from "@/server/contracts/gateway/gatewayWorkflows";
import { stageOf, upstreamAgents } from "@/server/load/emulatedPrograms";
import { mean, quantile } from "@/solver/numeric/quantile";
import type { ProgramSample } from "@/solver/workflow/programSample";
import type { LiveRun } from "../gateway/session";

/** Programs' results. */
export interface LiveFigures {
  readonly meanSeconds: number;
  readonly p95Seconds: number;
  readonly meanSecondsPerToken: number;
  readonly p95SecondsPerToken: number;
  /** Waiting for an engine divided by end-to-end time. */
  readonly queueShare: number;
  /** Among the requests: those with a forecast in their record. */
  readonly forecastShare: number;
  /** Delay that at least one program in twenty had at its start: other activity of the machine shows here first. */
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
type EdgeCalls = Readonly<Record<string, number>>;

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
