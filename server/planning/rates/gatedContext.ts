import { GATE_LOAD } from "@/solver/baselines/gateEngines";
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
  /** null: outside the cluster, or nothing. Else readings a second of one GPU, one for each answer that is scored. */
  readonly engines: { readonly readingsPerGpuSecond: number } | null;
  /** Whether trained heads may let requests start at a later stage; the outcomes then have their scores. */
  readonly starts: boolean;
}

/** A system planned at a rate, with the scores that it routes by and the GPUs that its gate takes of the cluster. */
export interface GatedSystem {
  /** Of the gate; `none` where the plan asks nothing. */
  readonly kind: string;
  readonly system: System;
  readonly outcomes: OutcomeTable;
  readonly judgeSeconds: number;
  readonly usdPerJudgement: number;
  readonly gateGpus: number;
  /** Requests a second at which the gate's engines are saturated; Infinity where it has none, or is not asked. */
  readonly gateRate: number;
  /** By the plan, in seconds: what systems with other gates are chosen by. */
  readonly plannedSeconds: number;
  /** Whether the plan says of a stage that it is near saturation, so that its figures cannot be relied on. */
  readonly isNearSaturation: boolean;
}

/** A system on the GPUs of a context, and its p95 by the plan. */
interface PlannedSystem extends Pick<GatedSystem, "plannedSeconds" | "isNearSaturation"> {
  readonly system: System;
}

/** Identifies scores that were trained for a comparison and are in no artefact. */
const TRAINED = { predictor: "0".repeat(64) } as const;

/** The kind of gate of a plan that asks nothing. */
const UNASKED = "none";

/** Plans tried until a gate's engines are enough for what the plan asks. */
const MOST_SIZINGS = 4;

/** A floor at a rate. */
interface PlannedFor {
  readonly floor: number;
  readonly requestsPerSecond: number;
}

/**
 * Weir's plan with a gate in place of the judge, on the GPUs that the gate leaves.
 *
 * @returns null where there is no plan at this rate.
 */
export const planCascade = (context: ComparisonContext, gate: ComparedGate, at: PlannedFor): GatedSystem | null =>
  planBeside(context, gate, at.requestsPerSecond, (own) => planOn(own, gate, at));

/**
 * The smallest model alone that meets the floor and has a plan, on all GPUs: it asks no gate.
 *
 * @returns null where there is none at this rate.
 */
export function planAlone(context: ComparisonContext, gate: ComparedGate, at: PlannedFor): GatedSystem | null {
  // No router starts requests of a model alone.
  const unasked = { ...gate, starts: false };
  for (const [index, model] of context.models.entries()) {
    const shapes = context.shapes[index] ?? [];
    if (shapes.length === 0) continue;
    const own = { ...context, models: [model], shapes: [shapes] };
    const alone = planBeside(own, unasked, at.requestsPerSecond, (on) => planOn(on, unasked, at));
    if (alone !== null) return alone;
  }
  return null;
}

function planOn(own: ComparisonContext, { outcomes }: ComparedGate, { floor, requestsPerSecond }: PlannedFor): PlannedSystem | null {
  const planned = planAt(own, floor, requestsPerSecond);
  if (planned.outcome === "none") return null;
  const { p95Seconds, stages } = planned.plan.predictions;
  const isNearSaturation = stages.some(({ stability }) => stability === "near-saturation");
  return { system: systemOf(planned.plan, outcomes), plannedSeconds: p95Seconds, isNearSaturation };
}

/**
 * A system on the GPUs that a gate's engines leave. First planned on all GPUs: where it asks nothing, it is that. Else planned again beside
 * engines for what it asks, with more of them where the new plan asks more.
 *
 * @param plan makes the system on a context with the gate's scores and time; null where it has none.
 */
export function planBeside(
  context: ComparisonContext,
  gate: ComparedGate,
  requestsPerSecond: number,
  plan: (own: ComparisonContext) => PlannedSystem | null,
): GatedSystem | null {
  const { kind, outcomes, secondsPerCall, usdPerCall, engines } = gate;
  let gateGpus = 0;
  for (let sizing = 0; sizing < MOST_SIZINGS && gateGpus < context.gpus; sizing += 1) {
    const planned = plan(withGate(context, gate, gateGpus));
    if (planned === null) return null;
    const { system } = planned;
    const readings = judgementsOf(system, routedBy(system, outcomes, context.planning));
    const carried = engines?.readingsPerGpuSecond ?? Number.POSITIVE_INFINITY;
    const needed = engines === null ? 0 : Math.ceil((requestsPerSecond * readings) / carried);
    if (needed <= gateGpus)
      return {
        ...{ kind: readings === 0 ? UNASKED : kind, outcomes, judgeSeconds: secondsPerCall, usdPerJudgement: usdPerCall, ...planned },
        gateGpus: needed === 0 ? 0 : gateGpus,
        gateRate: needed === 0 ? Number.POSITIVE_INFINITY : (gateGpus * carried) / (readings * GATE_LOAD),
      };
    gateGpus = needed;
  }
  return null;
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
