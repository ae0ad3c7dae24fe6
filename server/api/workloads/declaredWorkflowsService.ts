import { otherSpace } from "@/server/contracts/gateway/predictedSpace";
import type { Artefact, Outcome } from "@/server/contracts/studio";
import type { CapacityCurve, CapacityRequest, DeclaredWorkflow, ReadWorkflow } from "@/server/contracts/studio/declaredWorkflows";
import { inCapacityThread } from "@/server/planning/workflows/capacityThread";
import type { StoredWorkflow } from "@/server/store/declaredWorkflowRepository";
import type { Store } from "@/server/store/store";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import { canonicalJson, type Json } from "@/solver/plan/canonical";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { readWorkflowText } from "@/solver/workflow/graphs/importGraph";
import type { Actor } from "../base/actor";

/** Workflows declared in the studio. */
export function createDeclaredWorkflowService(store: Store) {
  const note = store.audit.noting("workflow");

  const predictorsOf = (document: WorkflowDocument, artefacts: readonly Artefact[]): readonly Artefact[] =>
    artefacts.filter(
      ({ kind, training: { workflow, models } }) =>
        kind === "configurations" && workflow !== undefined && otherSpace({ workflow, models }, { workflow: document, models }) === null,
    );

  return {
    /** By name. */
    list(): readonly DeclaredWorkflow[] {
      const artefacts = store.artefacts.list();
      return store.declaredWorkflows.list().map((kept): DeclaredWorkflow => {
        const predictors = predictorsOf(kept.document, artefacts);
        return {
          ...kept,
          predictors: predictors.map(({ hash, version, training }) => ({ hash, version, workloadName: training.workloadName })),
        };
      });
    },
    /** Reads a document or a graph of another tool; nothing is stored. Refused with the field and its problem. */
    read(text: string): Outcome<{ readonly read: ReadWorkflow }> {
      const read = readWorkflowText(text);
      return read.ok ? { ok: true, read: readOf(read) } : read;
    },
    /** Saves the result of `read` as the next version of its name; `again`: the newest is identical. */
    keep(text: string, actor: Actor): Outcome<{ readonly name: string; readonly version: number; readonly again: boolean }> {
      const read = readWorkflowText(text);
      if (!read.ok) return read;
      const { document, origin } = read;
      const { name } = document;
      return store.atomically((): Outcome<{ readonly name: string; readonly version: number; readonly again: boolean }> => {
        const latest = store.declaredWorkflows.find(name);
        if (latest !== null && sameDocument(latest, document)) return { ok: true, name, version: latest.version, again: true };
        const version = store.declaredWorkflows.put({ document, origin, actor, createdAt: new Date().toISOString() });
        note(actor, "declare workflow", name, `version ${version}${origin === "weir" ? "" : `, of a graph of ${origin}`}`);
        return { ok: true, name, version, again: false };
      });
    },
    /** `says`: what continues to run it. */
    remove: (name: string, actor: Actor): Outcome<{ readonly says: string }> =>
      store.atomically((): Outcome<{ readonly says: string }> => {
        if (!store.declaredWorkflows.remove(name, { actor, createdAt: new Date().toISOString() }))
          return { ok: false, message: `There is no declared workflow ${name}.` };
        note(actor, "remove workflow", name, "");
        return { ok: true, says: removedText(store, name) };
      }),
    /** Simulated in a thread, takes seconds; it ends when the signal aborts. */
    async capacity(
      { planId, workloadId, workflow: name }: CapacityRequest,
      signal: AbortSignal,
    ): Promise<Outcome<{ readonly curve: CapacityCurve }>> {
      const plan = store.plans.get(planId);
      const workload = loadWorkload(store, workloadId);
      const found = store.declaredWorkflows.find(name);
      if (plan === null) return { ok: false, message: `There is no kept plan ${planId}.` };
      if (workload === null) return { ok: false, message: `There is no workload ${workloadId}.` };
      if (found === null) return { ok: false, message: `There is no declared workflow ${name}.` };
      const { deployment, policy, inputs, predictions } = plan;
      const task = { deployment, policy, inputs, predictions: { stages: predictions.stages } };
      const made = await inCapacityThread({ plan: task, workload, workflow: found.document }, signal);
      if (!made.ok) return made;
      const { curve } = made;
      const deployed = deployment.map(({ model }) => model);
      const own = predictorsOf(found.document, store.artefacts.list()).find(({ training: { models } }) =>
        models.every((model) => deployed.includes(model)),
      );
      return { ok: true, curve: { ...curve, notes: [...curve.notes, oracleNote(own)] } };
    },
  };
}

const readOf = ({ document, origin, notes }: ReadWorkflow): ReadWorkflow => ({ document, origin, notes });

const sameDocument = ({ document }: StoredWorkflow, other: WorkflowDocument): boolean =>
  canonicalJson(document as unknown as Json) === canonicalJson(other as unknown as Json);

/** Plans have their own copies of workflows, so none of them changes. */
function removedText(store: Store, name: string): string {
  const running = store.clusters.list().filter(({ runningPlanId }) => {
    const policy = runningPlanId === null ? undefined : store.plans.get(runningPlanId)?.policy;
    return policy?.kind === "just-in-time" && policy.workflows.some(({ workflow }) => workflow.name === name);
  });
  return running.length === 0
    ? "Plans that run it have their own copy of it and stay as they are."
    : `The plan in force on ${running.map(({ spec }) => spec.name).join(", ")} has its own copy of it and goes on running it, as all plans that do.`;
}

/** The share of an empty set is stored without a number. */
const percent = (share: number): string =>
  Number.isFinite(share) ? `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %` : "an unknown share";

/**
 * The difference between a capacity curve, in which accurate configurations are known, and a plan, in which a predictor determines them.
 *
 * @param predictor the newest one for the workflow and the plan's models; undefined: there is none.
 */
export function oracleNote(predictor: Artefact | undefined): string {
  const known = "Which configurations are accurate is known here from the labels, as no predictor knows it";
  const told = predictor?.heldOut.configurations;
  if (predictor === undefined || told === undefined)
    return `${known}: without a predictor only the largest models throughout count, the last point.`;
  return `${known}: predictor ${predictor.hash.slice(0, 12)} accepts ${percent(told.recall)} of the accurate ones on prompts it was not trained on (precision ${percent(told.precision)}), so a plan with it stands near the point where so many of them are left.`;
}
