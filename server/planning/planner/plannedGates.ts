import type { SolveRequest } from "@/server/contracts/planRequest";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { catalogue, modelsOf, shapesOf } from "@/solver/cascade/explore/situationExplorer";
import { cardOf } from "@/solver/hardware/catalogue";
import { type GateCandidate, gateCandidates } from "@/solver/stageGates/gateCandidates";
import { gateRefusalText, isRefused } from "@/solver/stageGates/gateRefusal";
import { stageGatesOf } from "@/solver/stageGates/stageGate";

/**
 * The gates that a task's cascades choose from. The judge alone where the situation names its gates, where no cascades are asked for, or where a
 * routing is set by hand and no one gate is asked for.
 *
 * @returns a sentence where the gate that was asked for is not available.
 */
export function gatesToPlan(
  situation: PlanningSituation,
  { fixed, policy, gateChoice = "any" }: Pick<SolveRequest, "fixed" | "policy" | "gateChoice">,
): readonly GateCandidate[] | string {
  const judge: GateCandidate = { kind: "judge", documents: null };
  const hasJudgesScores = fixed !== null && gateChoice === "any";
  const hasNoGate = policy === "slack" || policy === "one-model";
  if (hasJudgesScores || hasNoGate || situation.gates !== undefined || gateChoice === "judge") return [judge];
  const isAvailable = (model: string): boolean =>
    cardOf(catalogue(situation).models, model) !== undefined && (shapesOf(situation, [model])[0]?.length ?? 0) > 0;
  const candidates = gateCandidates(situation.workload, modelsOf(situation), isAvailable);
  if (gateChoice === "any") return candidates;
  const asked = candidates.filter(({ kind }) => kind === gateChoice);
  return asked.length > 0
    ? asked
    : `The workload ${situation.workload.name} does not have what a gate of ${gateChoice} reads for every model but the largest, or a model that it compares with is not available: plan with another gate.`;
}

/** Why a situation's own gates cannot be simulated, in one sentence; null where they can, or there are none. */
export function gatesRefusal(situation: PlanningSituation): string | null {
  const { workload, gates } = situation;
  if (gates === undefined) return null;
  const scored = stageGatesOf(workload, gates);
  if (isRefused(scored)) return gateRefusalText(scored);
  const models = modelsOf(situation);
  const peers = [...scored.values()].flatMap((gate) => gate.peers);
  const stage = peers.find((peer) => models.includes(peer));
  if (stage !== undefined) return gateRefusalText({ kind: "peer-is-stage", model: stage });
  const unknown = peers.find((peer) => cardOf(catalogue(situation).models, peer) === undefined);
  return unknown === undefined ? null : `There is no card of ${unknown}, with whose answers a gate compares.`;
}
