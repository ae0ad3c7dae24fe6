import { TYPICAL_PROGRAMS } from "@/server/lab/labCells";
import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import { arrivals } from "@/solver/engine/arrivals";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { capacityOf, engineFigures, meanTokens } from "@/solver/lab/engineFigures";
import { type SuggestedSystem, suggestedSystems } from "@/solver/lab/suggestedSystems";
import { mean } from "@/solver/numeric/quantile";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { workflows } from "@/solver/workflow/templates";
import type { OutcomeTable } from "@/solver/workload/workload";
import { emulatedGpu } from "../lib/emulation";
import { shippedReplica } from "../lib/replica";

/** Programs, their engines, and the systems that may serve them there. */
export interface AgreementSetup {
  readonly sample: ProgramSample;
  readonly replicas: readonly ClusterReplica[];
  /** Limit of each replica: further requests wait in the gateway's queue, where the policy orders them. */
  readonly maxInFlight: number;
  readonly systems: readonly SuggestedSystem[];
}

interface SetupOptions {
  readonly outcomes: OutcomeTable;
  /** Rows of the table that programs are drawn from. */
  readonly prompts: Int32Array;
  readonly workflowNames: readonly string[];
  readonly programs: number;
  /** Rate of programs relative to that at which the engines saturate. */
  readonly load: number;
  readonly enginesEach: number;
  readonly maxInFlight: number;
  readonly seed: number;
}

/** The middle one of the suggested slacks. */
const MIDDLE_SLACK = 0.5;

/** Programs at Poisson arrivals on engines of one GPU each. */
export function agreementSetup(options: SetupOptions): AgreementSetup {
  const { outcomes, prompts, workflowNames, programs, load, enginesEach, maxInFlight, seed } = options;
  const draw = (programsPerSecond: number, requests: number): ProgramSample =>
    drawPrograms({
      outcomes,
      prompts,
      mix: workflows.filter(({ name }) => workflowNames.includes(name)).map((workflow) => ({ workflow, share: 1 })),
      correlation: 0.5,
      arrivalSeconds: arrivals({ law: { kind: "poisson" }, requests, requestsPerSecond: programsPerSecond, seed }),
      seed,
    });
  const atOne = draw(1, TYPICAL_PROGRAMS);
  const engines = outcomes.models.map(({ model }) => ({
    model,
    // Requests that the gateway holds back are no part of the engine's batch.
    replicas: [{ replica: { ...emulatedReplica(model), maxSequences: maxInFlight }, count: enginesEach }],
  }));
  return {
    sample: draw(load * capacityOf(engines, atOne), programs),
    replicas: engines.flatMap(({ model }) =>
      Array.from({ length: enginesEach }, (_, at) => ({ id: `${model}-${at}`, model, replica: emulatedReplica(model), maxInFlight })),
    ),
    maxInFlight,
    systems: suggestedSystems(
      engines.map((of, index) => ({
        ...engineFigures(of, meanTokens(atOne, index)),
        model: of.model,
        quality: mean(outcomes.models[index]?.label ?? []) / 100,
      })),
    ),
  };
}

/** The system of a setup by its name; with several slacks, the middle one. */
export function policyOf({ systems }: AgreementSetup, name: string): PolicyDocument {
  const found = systems.find(({ name: own, policy }) => own === name && (policy.kind !== "slack" || policy.tau === MIDDLE_SLACK));
  if (found === undefined) throw new Error(`No system ${name} is suggested`);
  return found.policy;
}

/** Settings of an emulated engine of a model on so many GPUs, without its perturbation. */
export const emulatedReplica = (model: string, tp?: number): ReplicaModel => shippedReplica(model, emulatedGpu, tp);
