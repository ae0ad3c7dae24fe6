import { routedBy } from "@/solver/baselines/measure";
import { judgementsOf, type System, systemOf } from "@/solver/baselines/system";
import { shapesOf } from "@/solver/cascade/explore/situationExplorer";
import { gpuCount } from "@/solver/plan/clusterGpus";
import type { OutcomeTable } from "@/solver/workload/workload";
import { type ComparisonContext, planAt } from "../compare/compareGround";

/** What scores answers in a cascade: a judge outside the cluster, or a gate whose engines take GPUs of it. */
export interface ComparedGate {
  readonly kind: string;
  /** The whole table with the gate's scores as judged ones and, if the plan may let a router start requests, its scores. */
  readonly outcomes: OutcomeTable;
  readonly secondsPerCall: number;
  readonly usdPerCall: number;
  /** null: outside the cluster, or nothing. Else readings a second of one GPU, one for each request or one for each judged answer. */
  readonly engines: { readonly readingsPerGpuSecond: number; readonly per: "request" | "judged answer" } | null;
  /** Whether trained heads may let requests start at a later stage; the outcomes then have their scores. */
  readonly starts: boolean;
}

/** A system planned at a rate, with the scores that it routes by and the GPUs that its gate takes of the cluster. */
export interface GatedSystem {
  readonly kind: string;
  readonly system: System;
  readonly outcomes: OutcomeTable;
  readonly judgeSeconds: number;
  readonly usdPerJudgement: number;
  readonly gateGpus: number;
  /** By the plan, in seconds: what systems with other gates are chosen by. */
  readonly plannedSeconds: number;
}

/** Identifies scores that were trained for a comparison and are in no artefact. */
const TRAINED = { predictor: "0".repeat(64) } as const;

/** A floor at a rate. */
interface PlannedFor {
  readonly floor: number;
  readonly requestsPerSecond: number;
}

/**
 * Weir's plan with a gate in place of the judge, on the GPUs that the gate leaves. Where the plan asks the gate more often than its engines
 * were sized for, it is planned once more with more of them. Where it asks nothing, or no plan is left beside the gate's engines, a plan on all
 * GPUs that asks nothing is taken: one model alone needs no gate.
 *
 * @returns null where there is no plan at this rate.
 */
export function planGated(context: ComparisonContext, gate: ComparedGate, at: PlannedFor): GatedSystem | null {
  const sized = planSized(context, gate, { ...at, readings: 1 });
  const readings = sized?.readings ?? 0;
  if (gate.engines === null) return sized?.planned ?? null;
  if (readings === 0) {
    const free = planSized(context, gate, { ...at, readings: 0 });
    if (free?.readings === 0) return free.planned;
  }
  if (gate.engines.per === "judged answer" && readings > 1) return planSized(context, gate, { ...at, readings })?.planned ?? null;
  return sized?.planned ?? null;
}

/** A plan beside engines for so many readings of each request, and how many it takes. */
function planSized(
  context: ComparisonContext,
  gate: ComparedGate,
  { floor, requestsPerSecond, readings }: PlannedFor & { readonly readings: number },
): { readonly planned: GatedSystem; readonly readings: number } | null {
  const gateGpus = gate.engines === null ? 0 : Math.ceil((requestsPerSecond * readings) / gate.engines.readingsPerGpuSecond);
  if (gateGpus >= context.gpus) return null;
  const planned = planAt(withGate(context, gate, gateGpus), floor, requestsPerSecond);
  if (planned.outcome === "none") return null;
  const { kind, outcomes, secondsPerCall, usdPerCall } = gate;
  const system = systemOf(planned.plan, outcomes);
  return {
    planned: {
      ...{ kind, system, outcomes, judgeSeconds: secondsPerCall, usdPerJudgement: usdPerCall, gateGpus },
      plannedSeconds: planned.plan.predictions.p95Seconds,
    },
    readings: judgementsOf(system, routedBy(system, outcomes, context.planning).share),
  };
}

/** The context with the gate's scores and time, on the GPUs that its engines leave: those of the last nodes are taken first. */
export function withGate(context: ComparisonContext, gate: ComparedGate, gateGpus: number): ComparisonContext {
  const { request, models } = context;
  const { workload, cluster } = request.situation;
  let left = gateGpus;
  const nodes = [...cluster.nodes].reverse().flatMap((node) => {
    const taken = Math.min(left, node.gpus);
    left -= taken;
    return taken === node.gpus ? [] : [{ ...node, gpus: node.gpus - taken }];
  });
  const { directStart: _, ...rest } = request.situation;
  const situation = {
    ...rest,
    workload: { ...workload, outcomes: gate.outcomes },
    cluster: { ...cluster, nodes: nodes.reverse() },
    judge: { kind: "fixed", secondsPerCall: gate.secondsPerCall, usdPerCall: gate.usdPerCall } as const,
    ...(gate.starts ? { directStart: TRAINED } : {}),
  };
  return {
    ...context,
    request: { ...request, situation },
    shapes: gateGpus === 0 ? context.shapes : shapesOf(situation, models),
    gpus: gpuCount(situation.cluster),
    judge: { ...context.judge, secondsPerCall: gate.secondsPerCall, usdPerCall: gate.usdPerCall },
  };
}
