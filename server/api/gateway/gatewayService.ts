import { z } from "zod";
import { approvalRefusal } from "@/server/clusters/apply/approvalRefusal";
import { gatewaySubject } from "@/server/clusters/connector/gatewaySubject";
import { uploadPredictors } from "@/server/clusters/connector/uploadPredictors";
import { gatewayConfigSchema, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { type Candidate, captureSchema } from "@/server/contracts/gateway/gatewayControls";
import { revisedPolicy } from "@/server/contracts/gateway/policyHash";
import { policyPart } from "@/server/contracts/gateway/signedOrder";
import type { Capture, Outcome, ServingModel } from "@/server/contracts/studio";
import { servingModels } from "@/server/telemetry/gatewayWatch";
import { modelsOf, type PolicyDocument } from "@/solver/plan/policySchema";
import type { Actor } from "../base/actor";
import { auditedRefusal } from "../base/auditedRefusal";
import type { CanaryOrder, CaptureOrder, KnobsOrder, MirrorOrder, PanicOrder, RollBackOrder, ShadowOrder } from "../base/inputs";
import { plannedChange, plannedChangeTexts } from "./controlChanges";
import { type ControlForecastParts, createControlForecasts, type ForecastRequest } from "./controlForecasts";
import { createGatewayActs, type GatewayActsOptions, joined, noGateway, onMachine, orderLimitMs } from "./gatewayActs";
import { knobsRefusal } from "./knobsRefusal";

/** The gateway's answer to a change of its configuration. */
const revisedSchema = z.object({ policyHash: z.string().optional() });

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

type GatewayServiceOptions = GatewayActsOptions & ControlForecastParts;

export type GatewayService = ReturnType<typeof createGatewayService>;

/** An operator's actions on live traffic: requested from the gateway in their name, audited, and read back from the gateway. */
export function createGatewayService({ store, gatewayOf, clusterOf, planning }: GatewayServiceOptions) {
  const forecasts = createControlForecasts({ store, clusterOf, planning });
  const { act, done } = createGatewayActs({ store, gatewayOf });

  /** The policy of a saved plan, as a candidate. */
  function candidate(planId: string): Outcome<{ readonly candidate: Candidate; readonly cascade: string }> {
    const plan = store.plans.get(planId);
    if (plan === null) return { ok: false, message: `There is no plan ${planId}.` };
    const { policy, policyHash } = plan;
    return { ok: true, candidate: { planId, policyHash, policy }, cascade: modelsOf(policy).join(", ") };
  }

  /** Uploads the predictors of a candidate to the cluster's gateway. */
  async function bring(clusterId: string, policy: PolicyDocument): Promise<Outcome<object>> {
    const gateway = gatewayOf(clusterId);
    if (gateway === null) return noGateway;
    const artefactOf = (hash: string) => store.artefacts.get(hash)?.bytes ?? null;
    const brought = await uploadPredictors(policy, { gateway: gateway.admin, artefactOf });
    return brought.ok ? { ok: true } : { ok: false, message: brought.message };
  }

  /** Why routing cannot be changed now: the next step of an application would undo it. */
  function applying(clusterId: string): Outcome<never> | null {
    const application = store.applications.open().find((one) => one.clusterId === clusterId);
    if (application === undefined) return null;
    const { planId, undoing } = application;
    const what = planId === null ? "The cluster is being emptied" : `Plan ${planId.slice(0, 8)} is being ${undoing ? "undone" : "applied"}`;
    return { ok: false, message: `${what}: wait for its end${undoing ? "" : ", or abort it"}.` };
  }

  const end = (control: "panic" | "canary" | "shadow" | "mirror" | "capture" | "strict-stages", action: string) =>
    function endIt(clusterId: string, reason: string, actor: Actor) {
      const body = { by: actor, reason };
      const instead = control === "panic" ? "weir panic --clear" : undefined;
      return done(clusterId, { path: `/${control}`, method: "DELETE", body, instead, action, detail: reason }, actor);
    };

  return {
    /** Models with engines at the gateway, as last known; the gateway is asked only before its first answer. */
    async models(clusterId: string): Promise<Outcome<{ readonly models: readonly ServingModel[] }>> {
      const gateway = gatewayOf(clusterId);
      if (gateway === null) return noGateway;
      const known = gateway.models();
      if (known !== null) return { ok: true, models: known };
      const status = await gateway.admin("/status", { schema: gatewayStatusSchema, limitMs: orderLimitMs });
      if (!status.ok)
        return { ok: false, message: `${status.message} On the gateway's machine: ${onMachine(gateway, "weir panic MODEL --reason WHY")}` };
      return { ok: true, models: servingModels(status.value.value ?? { replicas: [] }) };
    },
    panic(clusterId: string, { model, reason }: PanicOrder, actor: Actor): Promise<Outcome<object>> {
      const body = { model, reason, by: actor };
      const what = { path: "/panic", method: "PUT", body, instead: `weir panic ${model} --reason WHY` } as const;
      return done(clusterId, { ...what, action: "order panic", subject: model, detail: reason }, actor);
    },
    clearPanic: end("panic", "order end of panic"),
    /** Refused for a plan that is not approved. */
    async startCanary(clusterId: string, { planId, ...request }: CanaryOrder, actor: Actor): Promise<Outcome<object>> {
      const about = { subject: planId, objectKind: "plan", objectId: planId, clusterId } as const;
      const refuse = (refusal: Outcome<never>) => auditedRefusal(store, { actor, action: "order canary", ...about }, refusal);
      const hindrance = applying(clusterId);
      if (hindrance !== null) return refuse(hindrance);
      const asked = candidate(planId);
      if (!asked.ok) return refuse(asked);
      const unapproved = approvalRefusal(store, planId, clusterId);
      if (unapproved !== null) return refuse({ ok: false, message: unapproved });
      const brought = await bring(clusterId, asked.candidate.policy);
      if (!brought.ok) return brought;
      const body = { ...request, candidate: asked.candidate, by: actor };
      const shares = request.shares.map(percent).join(", ");
      const detail = joined([`${asked.cascade}: ${shares} of programs`, request.reason]);
      return done(
        clusterId,
        {
          path: "/canary",
          method: "PUT",
          body,
          parts: { policy: policyPart(asked.candidate) },
          action: "order canary",
          subject: planId,
          detail,
        },
        actor,
      );
    },
    stopCanary: end("canary", "order end of canary"),
    /** Any saved plan: a shadow acts on nothing. */
    async startShadow(clusterId: string, { planId, reason }: ShadowOrder, actor: Actor): Promise<Outcome<object>> {
      const asked = candidate(planId);
      if (!asked.ok) return asked;
      const brought = await bring(clusterId, asked.candidate.policy);
      if (!brought.ok) return brought;
      const body = { candidate: asked.candidate, reason, by: actor };
      return done(
        clusterId,
        {
          path: "/shadow",
          method: "PUT",
          body,
          parts: {},
          action: "order shadow",
          subject: planId,
          detail: reason,
        },
        actor,
      );
    },
    endShadow: end("shadow", "order end of shadow"),
    startMirror(clusterId: string, { share, maxInFlight, reason }: MirrorOrder, actor: Actor): Promise<Outcome<object>> {
      const body = { share, maxInFlight, reason, by: actor };
      const detail = joined([`${percent(share)} of requests, at most ${maxInFlight} at once`, reason]);
      return done(clusterId, { path: "/mirror", method: "PUT", body, parts: {}, action: "order mirror", detail }, actor);
    },
    endMirror: end("mirror", "order end of mirror"),
    /** Refuses requests that only a smaller model than the policy chose could answer, because every larger one is lost. */
    holdStages(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>> {
      const body = { by: actor, reason };
      return done(
        clusterId,
        { path: "/strict-stages", method: "PUT", body, parts: {}, action: "order strict stages", detail: reason },
        actor,
      );
    },
    /** Lets the largest remaining model answer them, marked. */
    releaseStages: end("strict-stages", "order end of strict stages"),
    /** The stored prompts of live traffic, as the gateway reports them now. */
    async capture(clusterId: string): Promise<Outcome<{ readonly capture: Capture }>> {
      const gateway = gatewayOf(clusterId);
      if (gateway === null) return noGateway;
      const answer = await gateway.admin("/capture", { schema: captureSchema, limitMs: orderLimitMs });
      if (!answer.ok) return { ok: false, message: answer.message };
      return answer.value.value === null ? noGateway : { ok: true, capture: answer.value.value };
    },
    startCapture(clusterId: string, order: CaptureOrder, actor: Actor): Promise<Outcome<object>> {
      const { share, keys, redactions, retentionDays, reason } = order;
      const names = [...redactions.builtIn, ...redactions.own.map(({ name }) => name)].join(", ") || "nothing";
      const of = `${percent(share)} of requests of ${keys.includes("*") ? "everybody" : keys.join(", ")}`;
      const detail = joined([`${of}, without ${names}, for ${retentionDays} days`, reason]);
      return done(
        clusterId,
        { path: "/capture", method: "PUT", body: { ...order, by: actor }, parts: {}, action: "order capture", detail },
        actor,
      );
    },
    /** Stored prompts stay until their retention ends. */
    endCapture: end("capture", "order end of capture"),
    /** Ends it if it runs, and deletes all that is stored. */
    eraseCapture(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>> {
      const body = { by: actor, reason };
      const what = { path: "/capture?erase=1", method: "DELETE", body } as const;
      return done(clusterId, { ...what, action: "order erasure of captured prompts", detail: reason }, actor);
    },
    /** What other values of the controls would give on the engines that serve now; refused for values that cannot be set. */
    forecastControls: (clusterId: string, values: ForecastRequest, signal: AbortSignal) => forecasts.forecast(clusterId, values, signal),
    /**
     * Stored with the forecast that was shown of it; refused unless the gateway serves an approved plan of this studio. Returns the hash of the changed policy; null if the gateway does not report it.
     */
    async setControls(
      clusterId: string,
      { etag, reason, ...knobs }: KnobsOrder,
      actor: Actor,
    ): Promise<Outcome<{ readonly policyHash: string | null }>> {
      const hindrance = applying(clusterId);
      if (hindrance !== null) return hindrance;
      const gateway = gatewayOf(clusterId);
      if (gateway === null) return noGateway;
      const seen = await gateway.admin("/config", { schema: gatewayConfigSchema, limitMs: orderLimitMs });
      // Of another configuration than the one that the operator saw the gateway refuses the change. Without one it is kept without a forecast.
      const config = seen.ok && seen.value.etag === `"${etag}"` ? seen.value.value : null;
      const unsigned = config === null ? null : knobsRefusal(store, config, clusterId);
      if (unsigned !== null) {
        const about = {
          subject: gatewaySubject(store.clusters.get(clusterId)?.spec),
          objectKind: "gateway",
          objectId: clusterId,
          clusterId,
        } as const;
        return auditedRefusal(store, { actor, action: "order knobs", ...about }, { ok: false, message: unsigned });
      }
      const change = config === null ? null : plannedChange({ store, forecasts }, config, { clusterId, values: knobs });
      const asked = Object.entries(knobs).map(([knob, value]) => `${knob} ${[value].flat().join(", ")}`);
      const detail = joined([...(change === null ? asked : plannedChangeTexts(change)), reason]);
      const headers = { "if-match": `"${etag}"` };
      // A change that cannot be made is refused by the gateway, with the reason.
      const revised = config === null ? "" : revisedPolicy(config, knobs);
      const parts =
        config === null || typeof revised === "string" ? {} : { policy: policyPart({ ...config, policyHash: revised.policyHash }) };
      const what = { path: "/knobs", method: "PATCH", headers, body: { ...knobs, reason, by: actor }, parts } as const;
      const at = new Date().toISOString();
      const outcome = await act(clusterId, { ...what, action: "order knobs", detail }, { actor, schema: revisedSchema });
      if (!outcome.ok) return outcome;
      const policyHash = outcome.value?.policyHash ?? null;
      if (change !== null && policyHash !== null) store.controlChanges.insert({ ...change, at, actor, reason, hashAfter: policyHash });
      return { ok: true, policyHash };
    },
    async rollBack(clusterId: string, { etag, reason }: RollBackOrder, actor: Actor): Promise<Outcome<object>> {
      const hindrance = applying(clusterId);
      if (hindrance !== null) return hindrance;
      const headers = { "if-match": `"${etag}"` };
      const body = { by: actor, reason };
      const what = { path: "/rollback", method: "POST", headers, body } as const;
      return done(clusterId, { ...what, action: "order rollback", detail: reason }, actor);
    },
    /** Deletes all that it learnt of workflows; it starts again with the next call. */
    forgetWorkflows(clusterId: string, reason: string, actor: Actor): Promise<Outcome<object>> {
      const what = { path: "/workflows", method: "DELETE", body: { by: actor, reason } } as const;
      return done(clusterId, { ...what, action: "order forgetting of workflows", detail: reason }, actor);
    },
  };
}
