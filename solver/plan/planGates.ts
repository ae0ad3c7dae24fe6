import { z } from "zod";
import { type GateDocument, gateKinds } from "@/solver/gates/gateDocument";
import { createGate } from "@/solver/gates/gates";
import { machineName } from "@/solver/wording/names";
import { noPlanKinds } from "./noPlanKind";
import { callGatesOf, gatesOf, type PolicyDocument, singleStagesOf } from "./policySchema";

/** Gates that the planner compares: one kind at every stage of a cascade. */
export const plannedGateKinds = gateKinds;

export type PlannedGateKind = (typeof plannedGateKinds)[number];

/** The gates to plan with; `any`: all that the workload's columns allow. */
export const gateChoices = ["any", ...plannedGateKinds] as const;

export type GateChoice = (typeof gateChoices)[number];

/** The best plan with one kind of gate on the same objective and GPUs; figures are null where there is none. */
export const comparedGateSchema = z.object({
  kind: z.enum(plannedGateKinds),
  /** Whether its scores are drawn by a model of a judge. */
  modelled: z.boolean(),
  models: z.array(machineName),
  thresholds: z.array(z.int()),
  quality: z.number().min(0).max(100).nullable(),
  qualityLow: z.number().min(0).max(100).nullable(),
  p95Seconds: z.number().nonnegative().nullable(),
  gpus: z.int().nonnegative().nullable(),
  costUsdPerRequest: z.number().nonnegative().nullable(),
  chosen: z.boolean(),
  /** As for a plan; `malformed` too where the workload does not have what the gate reads. Left out where there is a plan. */
  noPlan: z.enum(noPlanKinds).optional(),
});

export type ComparedGate = z.infer<typeof comparedGateSchema>;

const names: Readonly<Record<PlannedGateKind, string>> = {
  judge: "judge",
  confidence: "confidence",
  agreement: "agreement",
  scorer: "scorer",
  sequence: "confidence, then the judge",
};

/** A compared gate in words; a judge whose scores are modelled is called so. */
export const plannedGateName = ({ kind, modelled }: Pick<ComparedGate, "kind" | "modelled">): string =>
  modelled ? `${names[kind]} (modelled)` : names[kind];

const reasons: Readonly<Record<NonNullable<ComparedGate["noPlan"]>, string>> = {
  overloaded: "no cascade with it sustains the load",
  constraints: "the constraints conflict",
  "quality-floor": "no cascade with it reaches the floor",
  "latency-budget": "no cascade with it keeps the latency budget",
  "floor-and-budget": "no cascade with it keeps floor and budget",
  "no-room": "its replicas have no room",
  malformed: "it cannot be planned here",
};

/** Why a gate gives no plan, in words. */
export const noGatePlanText = (kind: NonNullable<ComparedGate["noPlan"]>): string => reasons[kind];

/** A gate that reads log probabilities of a model's answers. */
interface LogProbabilityGate {
  readonly model: string;
  readonly kind: GateDocument["kind"];
  /** From 0; null: of agents' answers. */
  readonly stage: number | null;
}

/** The gates of a policy that read log probabilities. */
export function logProbabilityGates(policy: PolicyDocument): readonly LogProbabilityGate[] {
  const models = singleStagesOf(policy);
  const ofStages = gatesOf(policy).map((gate, stage) => ({ gate, model: models[stage], stage }));
  const ofCalls = callGatesOf(policy).map(({ gate, model }) => ({ gate, model, stage: null }));
  return [...ofStages, ...ofCalls].flatMap(({ gate, model, stage }) =>
    model === undefined || !createGate(gate).needs.includes("log-probabilities") ? [] : [{ stage, model, kind: gate.kind }],
  );
}
