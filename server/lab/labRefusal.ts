import type { FieldFault } from "@/server/contracts/studio";
import type { LabReplicas, LabSpec, LabSystem } from "@/server/contracts/studio/lab";
import { systemRefusal } from "@/solver/lab/systemRefusal";
import type { Artefact } from "@/solver/prediction/checkedArtefact";
import { gateRefusalText, isRefused } from "@/solver/stageGates/gateRefusal";
import { callScores } from "@/solver/stageGates/stageGate";
import { workflows } from "@/solver/workflow/templates";
import type { Workload } from "@/solver/workload/workload";
import { namedConfigurations, undeclared, unfitPredictor } from "./labConfigurations";
import { type LabHardware, modelledEngine } from "./labEngines";

/** Requests of a run at most: hours of work. */
export const MOST_REQUESTS = 200_000_000;

/** Cells of a run at most, each of some kB: more than a page draws or a reader takes in. */
const MOST_CELLS = 3000;

export interface LabPremises extends LabHardware {
  readonly workload: Workload;
  /** null: no such predictor is kept here. */
  readonly artefactOf: (hash: string) => Artefact | null;
}

/** Says which field of a description is at fault, and why; null when it can be run. */
export function labRefusal(spec: LabSpec, premises: LabPremises): FieldFault | null {
  return (
    mixRefusal(spec.mix) ??
    twice("rates", spec.rates) ??
    twice("seeds", spec.seeds) ??
    arrivalsRefusal(spec, premises) ??
    enginesRefusal("replicas", spec.replicas, premises) ??
    first(spec.systems, (system, index) => inSystem(index, system, spec, premises)) ??
    sizeRefusal(spec)
  );
}

/** Why a mix of workflows cannot be drawn; null when it can. */
export function mixRefusal(mix: LabSpec["mix"]): FieldFault | null {
  const names = workflows.map(({ name }) => name);
  return first(mix, ({ workflow }, index) =>
    names.includes(workflow)
      ? null
      : { path: `mix.${index}.workflow`, reason: `there is no workflow "${workflow}"; known are ${names.join(", ")}.` },
  );
}

/** Duplicate cells would make intervals look narrower than they are. */
function twice(field: "rates" | "seeds", values: readonly number[]): FieldFault | null {
  return first(values, (value, index) =>
    values.indexOf(value) < index ? { path: `${field}.${index}`, reason: `${value} is listed twice.` } : null,
  );
}

function arrivalsRefusal({ arrivals, programs }: LabSpec, { workload }: LabPremises): FieldFault | null {
  const { arrivalSeconds } = workload;
  const used = arrivalSeconds.subarray(0, programs);
  if (arrivals === "poisson" || (used.length >= 2 && (used[used.length - 1] ?? 0) > 0)) return null;
  return {
    path: "arrivals",
    reason: `the first ${programs} arrivals of the workload are all at one time and have no rate: take more programs, or "poisson".`,
  };
}

/** Says which engine cannot be modelled for a workload, and why; null when all can. */
export function enginesRefusal(
  field: string,
  replicas: readonly LabReplicas[],
  premises: LabHardware & { readonly workload: Pick<Workload, "outcomes"> },
): FieldFault | null {
  const known = premises.workload.outcomes.models.map(({ model }) => model);
  return first(replicas, (engine, index) => {
    if (!known.includes(engine.model))
      return {
        path: `${field}.${index}.model`,
        reason: `the workload has no answers of ${engine.model}; it has those of ${known.join(", ")}.`,
      };
    const modelled = modelledEngine(engine, premises);
    return modelled.ok ? null : { path: `${field}.${index}`, reason: modelled.message };
  });
}

function inSystem(index: number, system: LabSystem, spec: LabSpec, premises: LabPremises): FieldFault | null {
  const field = `systems.${index}`;
  const refused = systemRefusal(system, spec.replicas);
  if (refused !== null) return { path: field, of: system.name, reason: refused };
  const { order } = system.policy;
  if (order.kind === "mlfq" && order.preempts && spec.queue === "centre") {
    const reason = "a request that was sent from a central queue is not taken back: let the engines queue, or leave preemption out.";
    return { path: `${field}.policy.order.preempts`, of: system.name, reason };
  }
  if (system.replicas !== undefined) {
    const engines = enginesRefusal(`${field}.replicas`, system.replicas, premises);
    if (engines !== null) return engines;
  }
  return (
    callGatesRefusal(field, system, premises) ??
    configurationsRefusal(field, system, spec, premises) ??
    predictorsRefusal(field, system, spec, premises)
  );
}

/** Why the workload does not have the scores of agents' answers that a system reads; null where it has, or none are read. */
function callGatesRefusal(field: string, { name, policy }: LabSystem, { workload }: LabPremises): FieldFault | null {
  if (policy.kind !== "just-in-time") return null;
  const scores = callScores(policy, workload, { models: [], row: new Int32Array() });
  return scores !== null && isRefused(scores) ? { path: `${field}.policy.callGates`, of: name, reason: gateRefusalText(scores) } : null;
}

/** Why a system that chooses models just in time has nothing to choose among in a run; null where it has. */
function configurationsRefusal(field: string, system: LabSystem, { mix }: LabSpec, { artefactOf }: LabPremises): FieldFault | null {
  const { name, policy } = system;
  if (policy.kind !== "just-in-time") return null;
  const without = undeclared(policy, mix);
  if (without.length === mix.length && policy.singles === undefined)
    return {
      path: `${field}.policy.workflows`,
      of: name,
      reason: `none declares ${without.join(" or ")} with the agents that are raced, so that all requests would go to the largest model.`,
    };
  const named = new Set(namedConfigurations(system));
  return first(policy.workflows, ({ workflow, predictor }, index) => {
    if (predictor === undefined || !named.has(predictor)) return null;
    const at = { path: `${field}.policy.workflows.${index}.predictor`, of: name };
    const short = predictor.slice(0, 12);
    const found = artefactOf(predictor);
    if (found === null) return { ...at, reason: `no predictor ${short} is kept here.` };
    const unfit = unfitPredictor(found, policy, workflow.name);
    return unfit === null ? null : { ...at, reason: `the predictor ${short} ${unfit}.` };
  });
}

function predictorsRefusal(field: string, system: LabSystem, spec: LabSpec, premises: LabPremises): FieldFault | null {
  return first(["lengths", "confidence"] as const, (part) => {
    const source = system[part];
    if (typeof source !== "object") return null;
    const found = premises.artefactOf(source.artefact);
    const at = { path: `${field}.${part}`, of: system.name };
    const short = source.artefact.slice(0, 12);
    if (found === null) return { ...at, reason: `no predictor ${short} is kept here.` };
    if (found.kind !== part) return { ...at, reason: `the predictor ${short} tells ${found.kind}, not ${part}.` };
    if (found.kind === "confidence" && found.features === "embedding")
      return {
        ...at,
        reason: `the predictor ${short} reads an encoder's embeddings, which the lab does not make: name one that reads words.`,
      };
    const served = (system.replicas ?? spec.replicas).map(({ model }) => model);
    const unknown = served.find((model) => !found.models.includes(model));
    return unknown === undefined
      ? null
      : { ...at, reason: `the predictor ${short} was not trained for ${unknown}, only for ${found.models.join(", ")}.` };
  });
}

/** Requests that a run serves in all, from the mean number of stages of its mix, each workflow's shapes by their shares. */
export function labRequests({ mix, programs, rates, seeds, systems }: LabSpec): number {
  const shares = mix.reduce((sum, { share }) => sum + share, 0);
  const stages = mix.reduce((sum, { workflow, share }) => {
    const { stages: own, otherShapes = [] } = workflows.find(({ name }) => name === workflow) ?? { stages: [workflow] };
    const mean = otherShapes.reduce((length, shape) => length + shape.share * (shape.stages.length - own.length), own.length);
    return sum + (share / shares) * mean;
  }, 0);
  return Math.round(stages * programs * rates.length * seeds.length * systems.length);
}

function sizeRefusal(spec: LabSpec): FieldFault | null {
  const { systems, rates, seeds } = spec;
  const cells = systems.length * rates.length * seeds.length;
  if (cells > MOST_CELLS)
    return {
      path: "systems",
      reason: `${systems.length} systems at ${rates.length} rates under ${seeds.length} seeds are ${cells.toLocaleString("en-US")} cells, and a run takes at most ${MOST_CELLS.toLocaleString("en-US")}: ask for fewer.`,
    };
  const requests = labRequests(spec);
  if (requests <= MOST_REQUESTS) return null;
  const million = (count: number): string => `${Math.round(count / 1e6).toLocaleString("en-US")} million`;
  return {
    path: "programs",
    reason: `the run would serve ${million(requests)} requests, and takes at most ${million(MOST_REQUESTS)}: ask for fewer programs, rates, seeds or systems.`,
  };
}

/** The first fault of any of them. */
function first<Item>(items: readonly Item[], say: (item: Item, index: number) => FieldFault | null): FieldFault | null {
  for (const [index, item] of items.entries()) {
    const said = say(item, index);
    if (said !== null) return said;
  }
  return null;
}
