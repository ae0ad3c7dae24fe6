import { gatewayStatusSchema } from "@/server/contracts/gatewayAdmin";
import { gatewayEnsemblesSchema } from "@/server/contracts/gatewayEnsembles";
import type { Outcome } from "@/server/contracts/studio";
import type { Actor } from "./actor";
import type { EnsembleService } from "./ensembleServices";
import { type Act, createGatewayActs, type GatewayActsOptions, joined, noGateway, orderLimitMs } from "./gatewayActs";

type EnsemblesAtGateway = Pick<EnsembleService, "served" | "serve" | "withdraw" | "setTau">;

/** What clusters' gateways serve of ensembles, and orders about it in their actor's name. */
export function createEnsembleGateway(options: GatewayActsOptions): EnsemblesAtGateway {
  const { store, gatewayOf } = options;
  const { done } = createGatewayActs(options);

  /** The configuration's tag as it is now, so that an order does not undo what somebody else does meanwhile. */
  async function guarded(clusterId: string, act: Act, actor: Actor): Promise<Outcome<object>> {
    const gateway = gatewayOf(clusterId);
    if (gateway === null) return noGateway;
    const status = await gateway.admin("/status", { schema: gatewayStatusSchema, limitMs: orderLimitMs });
    if (!status.ok) return { ok: false, message: status.message };
    const headers = { "if-match": `"${status.value.value?.configEtag ?? "none"}"` };
    return done(clusterId, { ...act, headers }, actor);
  }

  const pathOf = (name: string): string => `/ensembles/${encodeURIComponent(name)}`;

  return {
    async served(clusterId) {
      const gateway = gatewayOf(clusterId);
      if (gateway === null) return noGateway;
      const answer = await gateway.admin("/ensembles", { schema: gatewayEnsemblesSchema, limitMs: orderLimitMs });
      if (!answer.ok) return { ok: false, message: answer.message };
      return { ok: true, served: answer.value.value ?? { ensembles: [] } };
    },
    async serve({ clusterId, name, reason }, actor) {
      const kept = store.ensembles.find(name);
      if (kept === null) return { ok: false, message: `There is no ensemble ${name}.` };
      const { ensemble, version } = kept;
      const detail = joined([`version ${version}, tau ${ensemble.tau}`, reason]);
      const body = { ensemble, by: actor, reason };
      return guarded(clusterId, { path: pathOf(name), method: "PUT", body, action: "serve ensemble", subject: name, detail }, actor);
    },
    withdraw({ clusterId, name, reason }, actor) {
      const body = { by: actor, reason };
      const act = { path: pathOf(name), method: "DELETE", body, action: "withdraw ensemble", subject: name, detail: reason } as const;
      return guarded(clusterId, act, actor);
    },
    setTau({ clusterId, name, tau, reason }, actor) {
      const body = { tau, by: actor, reason };
      const detail = joined([`tau ${tau}`, reason]);
      const act = { path: `${pathOf(name)}/tau`, method: "PUT", body, action: "set tau of ensemble", subject: name, detail } as const;
      return guarded(clusterId, act, actor);
    },
  };
}
