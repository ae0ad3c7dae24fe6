import { type RecalibratedGates, recalibratedGates } from "@/server/answerLabels/labelledGates";
import { type GivenLabel, type UsableLabel, usableLabels } from "@/server/answerLabels/usableLabels";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { Outcome } from "@/server/contracts/studio";
import type { AnswerLabel, KeptLabels, LabelledGates, RecalibrateGatesOrder } from "@/server/contracts/studio/answerLabels";
import type { Store } from "@/server/store/store";
import { type LeftOutLabels, leftOutText, NEEDED_LABELS } from "@/solver/gates/gates";
import type { Plan } from "@/solver/plan/plan";
import { cascadeOf, type PolicyDocument, withSinglesPolicy } from "@/solver/plan/policySchema";
import type { Actor } from "../base/actor";
import type { PlanService } from "../plans/planService";

/** Of a cluster's gateway, as last seen. */
export interface ServedAnswers {
  /** Newest first. */
  decisions(): readonly Decision[];
  /** null: not known. */
  routing(): { readonly planId: string | null; readonly policy: PolicyDocument } | null;
}

export interface AnswerLabelServiceOptions {
  readonly store: Store;
  /** null: nothing is seen of the cluster. */
  readonly answersOf: (clusterId: string) => ServedAnswers | null;
  readonly plans: Pick<PlanService, "reroute">;
}

interface InForce extends Omit<RecalibratedGates, "policy"> {
  readonly plan: Plan;
  /** The policy in force with the new calibrations; null as there. */
  readonly policy: PolicyDocument | null;
}

/** Labels of answers that gateways served, and the calibrations of the gates in force that follow from them. */
export function createAnswerLabelService({ store, answersOf, plans }: AnswerLabelServiceOptions) {
  const note = store.audit.noting("cluster");

  function inForce(clusterId: string): Outcome<InForce> {
    const refused = (message: string) => ({ ok: false, message }) as const;
    const cluster = store.clusters.get(clusterId);
    if (cluster === null) return refused(`There is no cluster ${clusterId}.`);
    const plan = cluster.runningPlanId === null ? null : store.plans.get(cluster.runningPlanId);
    if (plan === null) return refused(`No plan is in force on ${cluster.spec.name}, so there are no gates to calibrate.`);
    const routing = answersOf(clusterId)?.routing() ?? null;
    // Its thresholds may have been changed since the plan was put into force.
    const policy = routing?.planId === plan.id ? routing.policy : plan.policy;
    const cascade = cascadeOf(policy);
    if (cascade === null) return refused(`Only a cascade has gates: the policy in force on ${cluster.spec.name} is ${policy.kind}.`);
    const made = recalibratedGates(cascade, {
      newest: (model, limit) => store.answerLabels.newest(clusterId, model, limit),
      policyOf: (planId) => store.plans.get(planId)?.policy ?? null,
      madeAt: plan.metadata.createdAt,
    });
    if (made.gates.length === 0)
      return refused(`The policy in force on ${cluster.spec.name} accepts every answer at its first stage, so no gate scores any.`);
    return { ok: true, plan, ...made, policy: made.policy && withSinglesPolicy(policy, made.policy) };
  }

  return {
    /**
     * Keeps the labels that can count and leaves out the others, by reason. A repeated label of an answer replaces the earlier one.
     *
     * @returns a refusal where no label can count.
     */
    label(clusterId: string, labels: readonly GivenLabel[], actor: Actor): Outcome<KeptLabels> {
      const cluster = store.clusters.get(clusterId);
      if (cluster === null) return { ok: false, message: `There is no cluster ${clusterId}.` };
      const answers = answersOf(clusterId);
      if (answers === null) return { ok: false, message: `${cluster.spec.name} is only described: nothing is served there.` };
      const { usable, leftOut } = usableLabels(labels, answers.decisions());
      const leftOutNote = leftOutText(leftOut, labels.length);
      if (usable.length === 0) return { ok: false, message: leftOutNote ?? "There is no label." };
      const at = new Date().toISOString();
      store.atomically(() => {
        for (const { gate: _, ...label } of usable) store.answerLabels.save({ ...label, clusterId, actor, at });
        note(actor, "label served answers", { subject: cluster.spec.name, objectId: clusterId, clusterId }, labelCounts(usable, leftOut));
      });
      return { ok: true, kept: usable.length, leftOut, note: leftOutNote };
    },
    /** The labels of one decision's answers. */
    ofDecision: (clusterId: string, decisionId: string): readonly AnswerLabel[] =>
      store.answerLabels
        .ofDecision(clusterId, decisionId)
        .map(({ decisionId: id, model, quality, actor, at }) => ({ decisionId: id, model, quality, actor, at })),
    /** What labels say of the gates of the plan in force. */
    gates(clusterId: string): Outcome<{ readonly labelled: LabelledGates }> {
      const found = inForce(clusterId);
      if (!found.ok) return found;
      const { plan, gates } = found;
      return { ok: true, labelled: { planId: plan.id, workloadId: plan.inputs.workload.id, needed: NEEDED_LABELS, gates } };
    },
    /**
     * Saves the plan in force with new calibrations as another plan, to be approved and applied like any other: until then nothing that is
     * served changes.
     */
    recalibrate(
      { clusterId, planId }: RecalibrateGatesOrder,
      actor: Actor,
      personId: string | null = null,
    ): Outcome<{ readonly id: string }> {
      const found = inForce(clusterId);
      if (!found.ok) return found;
      const { plan, policy, notes } = found;
      if (plan.id !== planId) return { ok: false, message: "Another plan is in force by now: look at the labels of its gates first." };
      if (policy === null)
        return {
          ok: false,
          message: `No gate in force has ${NEEDED_LABELS.all} new labels yet, with ${NEEDED_LABELS.ofEach} good and ${NEEDED_LABELS.ofEach} bad answers among them.`,
        };
      return plans.reroute({ planId, policy, name: nameFor(plan), notes }, actor, personId);
    },
  };
}

/** How many labels were kept of which model's answers and which gates, and how many were left out, for the audit. */
function labelCounts(usable: readonly UsableLabel[], leftOut: readonly LeftOutLabels[]): string {
  const counts = new Map<string, number>();
  for (const { model, gate } of usable) {
    const name = `of ${model} (${gate})`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const out = leftOut.reduce((sum, { labels }) => sum + labels, 0);
  return [...[...counts].map(([name, count]) => `${count} ${name}`), ...(out === 0 ? [] : [`${out} left out`])].join(", ");
}

const SUFFIX = ", recalibrated";

const nameFor = ({ metadata: { name } }: Plan): string => (name.endsWith(SUFFIX) ? name : `${name}${SUFFIX}`);
