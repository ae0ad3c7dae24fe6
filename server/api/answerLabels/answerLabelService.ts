import { labelledAnswer } from "@/server/answerLabels/labelledAnswer";
import { type RecalibratedGates, recalibratedGates } from "@/server/answerLabels/labelledGates";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { Outcome, StoredAnswerLabel } from "@/server/contracts/studio";
import type { AnswerLabel, AnswerLabelOrder, LabelledGates, RecalibrateGatesOrder } from "@/server/contracts/studio/answerLabels";
import type { Store } from "@/server/store/store";
import { NEEDED_LABELS } from "@/solver/gates/gates";
import type { Plan } from "@/solver/plan/plan";
import { cascadeOf, type PolicyDocument, withStagedPolicy } from "@/solver/plan/policySchema";
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
    return { ok: true, plan, ...made, policy: made.policy && withStagedPolicy(policy, made.policy) };
  }

  return {
    /** All of the labels or, where one cannot be kept, none of them. A repeated label of an answer replaces the earlier one. */
    label(clusterId: string, labels: readonly AnswerLabelOrder[], actor: Actor): Outcome<{ readonly kept: number }> {
      const cluster = store.clusters.get(clusterId);
      if (cluster === null) return { ok: false, message: `There is no cluster ${clusterId}.` };
      const answers = answersOf(clusterId);
      if (answers === null) return { ok: false, message: `${cluster.spec.name} is only described: nothing is served there.` };
      const wanted = new Set(labels.map(({ decisionId }) => decisionId));
      const decisions = new Map(answers.decisions().flatMap((each) => (wanted.has(each.id) ? [[each.id, each] as const] : [])));
      const at = new Date().toISOString();
      const rows: StoredAnswerLabel[] = [];
      for (const { quality, ...about } of labels) {
        const found = labelledAnswer(about, decisions.get(about.decisionId));
        if (!found.ok) return found;
        rows.push({ clusterId, decisionId: about.decisionId, ...found.answer, quality, actor, at });
      }
      store.atomically(() => {
        for (const row of rows) store.answerLabels.save(row);
      });
      return { ok: true, kept: rows.length };
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

const SUFFIX = ", recalibrated";

const nameFor = ({ metadata: { name } }: Plan): string => (name.endsWith(SUFFIX) ? name : `${name}${SUFFIX}`);
