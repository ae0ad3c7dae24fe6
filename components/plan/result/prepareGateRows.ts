import { ABSENT, formatCount, formatScore, formatScoreBound, formatSeconds, formatUsd } from "@/components/ui/format";
import type { ComparedGate } from "@/solver/plan/planGates";
import { noGatePlanText, plannedGateName } from "@/solver/plan/planGates";

/** The best plan with one kind of gate, in words. */
export interface GateRow {
  readonly kind: ComparedGate["kind"];
  readonly name: string;
  readonly models: string;
  readonly chosen: boolean;
  readonly p95: string;
  readonly quality: string;
  readonly bound: string | null;
  readonly gpus: string;
  readonly cost: string;
  /** Why there is no plan with it; empty where there is one. */
  readonly reason: string;
}

/** Rows of the gates that were compared for a plan, the chosen one first, then the fastest. */
export function prepareGateRows(gates: readonly ComparedGate[]): readonly GateRow[] {
  const seconds = ({ p95Seconds }: ComparedGate): number => p95Seconds ?? Number.POSITIVE_INFINITY;
  return gates
    .toSorted((a, b) => Number(b.chosen) - Number(a.chosen) || seconds(a) - seconds(b))
    .map((gate) => ({
      kind: gate.kind,
      name: plannedGateName(gate),
      models: gate.models.join(", "),
      chosen: gate.chosen,
      p95: formatSeconds(gate.p95Seconds),
      quality: formatScore(gate.quality),
      bound: gate.qualityLow === null ? null : formatScoreBound(gate.qualityLow),
      gpus: gate.gpus === null ? ABSENT : formatCount(gate.gpus),
      cost: formatUsd(gate.costUsdPerRequest),
      reason: gate.noPlan === undefined ? "" : noGatePlanText(gate.noPlan),
    }));
}
