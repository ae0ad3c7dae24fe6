import { z } from "zod";
import type { AdminClient, AdminRequest } from "@/server/clusters/adminClient";
import type { GatewayAudit } from "@/server/clusters/gatewayAudit";
import { gatewayStatusSchema } from "@/server/contracts/gatewayAdmin";
import type { Candidate } from "@/server/contracts/gatewayControls";
import type { Outcome } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import { modelsOf } from "@/solver/plan/policySchema";
import type { Actor, GatewayService } from "./services";

/** A cluster's gateway, as the studio speaks to it. */
export interface ControlledGateway {
  readonly admin: AdminClient;
  readonly audit: GatewayAudit;
  /** Reads what it does now, so that pages show an act at once. */
  readonly look: () => Promise<void>;
}

export interface GatewayServiceOptions {
  readonly store: Store;
  /** null: the cluster is only described and has none. */
  readonly gatewayOf: (clusterId: string) => ControlledGateway | null;
}

/** What is done, as the audit will say, and how the gateway is told. */
interface Act extends Omit<AdminRequest<z.ZodType>, "schema"> {
  readonly path: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: string;
}

/** What the gateway answers to a change of its configuration. */
const revisedSchema = z.object({ policyHash: z.string().optional() });

/** What an operator does to live traffic: asked of the gateway in their name, noted down, and read back in the gateway's own words. */
export function createGatewayService({ store, gatewayOf }: GatewayServiceOptions): GatewayService {
  const none: Outcome<never> = { ok: false, message: "This cluster is only described: it has no gateway." };

  async function act<Schema extends z.ZodType>(
    clusterId: string,
    { path, action, subject, detail, ...request }: Act,
    { actor, schema }: { readonly actor: Actor; readonly schema: Schema },
  ): Promise<Outcome<{ readonly value: z.infer<Schema> | null }>> {
    const gateway = gatewayOf(clusterId);
    if (gateway === null) return none;
    const answer = await gateway.admin(path, { ...request, schema });
    if (!answer.ok) return answer;
    store.audit.add({ at: new Date().toISOString(), actor, action, subject, detail });
    await Promise.all([gateway.audit.take(), gateway.look()]);
    return { ok: true, value: answer.value.value };
  }

  async function done(clusterId: string, what: Act, actor: Actor): Promise<Outcome<object>> {
    const outcome = await act(clusterId, what, { actor, schema: z.unknown() });
    return outcome.ok ? { ok: true } : outcome;
  }

  /** The policy of a kept plan. */
  function candidate(planId: string): Outcome<{ readonly candidate: Candidate; readonly cascade: string }> {
    const plan = store.plans.get(planId);
    if (plan === null) return { ok: false, message: `There is no plan ${planId}.` };
    const { policy, policyHash } = plan;
    return { ok: true, candidate: { planId, policyHash, policy }, cascade: modelsOf(policy).join(", ") };
  }

  const end = (control: "panic" | "canary" | "shadow" | "mirror", action: string) =>
    function endIt(clusterId: string, reason: string, actor: Actor) {
      const body = { by: actor, reason };
      return done(clusterId, { path: `/${control}`, method: "DELETE", body, action, subject: "gateway", detail: reason }, actor);
    };

  return {
    async models(clusterId) {
      const gateway = gatewayOf(clusterId);
      if (gateway === null) return none;
      const status = await gateway.admin("/status", { schema: gatewayStatusSchema });
      if (!status.ok) return status;
      const engines = new Map<string, number>();
      for (const { model, state } of status.value.value?.replicas ?? []) {
        engines.set(model, (engines.get(model) ?? 0) + (state === "active" ? 1 : 0));
      }
      return { ok: true, models: [...engines].map(([model, active]) => ({ model, engines: active })) };
    },
    panic(clusterId, { model, reason }, actor) {
      const body = { model, reason, by: actor };
      return done(clusterId, { path: "/panic", method: "PUT", body, action: "order panic", subject: model, detail: reason }, actor);
    },
    liftPanic: end("panic", "order end of panic"),
    async startCanary(clusterId, { planId, ...request }, actor) {
      const asked = candidate(planId);
      if (!asked.ok) return asked;
      // As for an application: the approval is bound to the plan's hash, which is its id.
      if (store.approvals.ofPlan(planId).length === 0) return { ok: false, message: `Plan ${planId.slice(0, 8)} is not approved.` };
      const body = { ...request, candidate: asked.candidate, by: actor };
      const shares = request.shares.map((share) => `${Math.round(share * 1000) / 10} %`).join(", ");
      const detail = [`${asked.cascade}: ${shares} of programs`, request.reason].filter((part) => part !== "").join("; ");
      return done(clusterId, { path: "/canary", method: "PUT", body, action: "order canary", subject: planId, detail }, actor);
    },
    stopCanary: end("canary", "order end of canary"),
    startShadow(clusterId, { planId, reason }, actor) {
      const asked = candidate(planId);
      if (!asked.ok) return Promise.resolve(asked);
      const body = { candidate: asked.candidate, reason, by: actor };
      return done(clusterId, { path: "/shadow", method: "PUT", body, action: "order shadow", subject: planId, detail: reason }, actor);
    },
    endShadow: end("shadow", "order end of shadow"),
    startMirror(clusterId, { share, maxInFlight, reason }, actor) {
      const body = { share, maxInFlight, reason, by: actor };
      const detail = `${Math.round(share * 1000) / 10} % of requests, at most ${maxInFlight} at once${reason === "" ? "" : `; ${reason}`}`;
      return done(clusterId, { path: "/mirror", method: "PUT", body, action: "order mirror", subject: "gateway", detail }, actor);
    },
    endMirror: end("mirror", "order end of mirror"),
    async turnKnobs(clusterId, { etag, reason, ...knobs }, actor) {
      const turned = Object.entries(knobs).map(([knob, value]) => `${knob} ${[value].flat().join(", ")}`);
      const detail = [...turned, reason].filter((part) => part !== "").join("; ");
      const headers = { "if-match": `"${etag}"` };
      const what = { path: "/knobs", method: "PATCH", headers, body: { ...knobs, reason, by: actor } } as const;
      const outcome = await act(
        clusterId,
        { ...what, action: "order knobs", subject: "gateway", detail },
        { actor, schema: revisedSchema },
      );
      return outcome.ok ? { ok: true, policyHash: outcome.value?.policyHash ?? null } : outcome;
    },
    rollBack(clusterId, { etag, reason }, actor) {
      const headers = { "if-match": `"${etag}"` };
      const body = { by: actor, reason };
      const what = { path: "/rollback", method: "POST", headers, body } as const;
      return done(clusterId, { ...what, action: "order rollback", subject: "gateway", detail: reason }, actor);
    },
  };
}
