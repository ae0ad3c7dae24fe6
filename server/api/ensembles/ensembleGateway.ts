import { type Act, createGatewayActs, type GatewayActsOptions, joined, noGateway, orderLimitMs } from "@/server/api/gateway/gatewayActs";
import { type GatewayEnsembles, gatewayEnsemblesSchema } from "@/server/contracts/gateway/gatewayEnsembles";
import type { Outcome } from "@/server/contracts/studio";
import { formatTau } from "@/solver/ensemble/gate/tauText";
import type { Actor } from "../base/actor";

/** The ensembles that clusters' gateways serve, and orders about them in their actor's name. */
export function createEnsembleGateway(options: GatewayActsOptions) {
  const { store, gatewayOf } = options;
  const { done } = createGatewayActs(options);

  /** The ensembles that a gateway serves, and the ETag of that configuration. */
  async function read(clusterId: string): Promise<Outcome<{ readonly served: GatewayEnsembles; readonly etag: string }>> {
    const gateway = gatewayOf(clusterId);
    if (gateway === null) return noGateway;
    const answer = await gateway.admin("/ensembles", { schema: gatewayEnsemblesSchema, limitMs: orderLimitMs });
    if (!answer.ok) return { ok: false, message: answer.message };
    const { value, etag } = answer.value;
    return { ok: true, served: value ?? { ensembles: [] }, etag: etag ?? "" };
  }

  /**
   * Sends the order computed from the present state, and nothing if that has changed meanwhile, so that no order overwrites another user's
   * change.
   */
  async function guarded(clusterId: string, make: (served: GatewayEnsembles) => Act, actor: Actor): Promise<Outcome<object>> {
    const before = await read(clusterId);
    if (!before.ok) return before;
    return done(clusterId, { ...make(before.served), headers: { "if-match": before.etag } }, actor);
  }

  const pathOf = (name: string): string => `/ensembles/${encodeURIComponent(name)}`;

  return {
    /** The ensembles that a cluster's gateway serves; refused if it does not answer. */
    async served(clusterId: string): Promise<Outcome<{ readonly served: GatewayEnsembles }>> {
      const now = await read(clusterId);
      return now.ok ? { ok: true, served: now.served } : now;
    },
    /** Makes a gateway serve a saved ensemble under its name, from the next request on. */
    async serve(
      { clusterId, name, reason }: { readonly clusterId: string; readonly name: string; readonly reason: string },
      actor: Actor,
    ): Promise<Outcome<object>> {
      const kept = store.ensembles.find(name);
      if (kept === null) return { ok: false, message: `There is no ensemble ${name}.` };
      const { ensemble, version } = kept;
      const detail = joined([`version ${version}, tau ${formatTau(ensemble.tau, ensemble.expertsPerQuestion)}`, reason]);
      const body = { ensemble, by: actor, reason };
      const act = { path: pathOf(name), method: "PUT", body, action: "serve ensemble", subject: name, detail } as const;
      return guarded(clusterId, () => act, actor);
    },
    withdraw(
      { clusterId, name, reason }: { readonly clusterId: string; readonly name: string; readonly reason: string },
      actor: Actor,
    ): Promise<Outcome<object>> {
      const body = { by: actor, reason };
      const act = { path: pathOf(name), method: "DELETE", body, action: "withdraw ensemble", subject: name, detail: reason } as const;
      return guarded(clusterId, () => act, actor);
    },
    /** From the next decision on. */
    setTau(
      {
        clusterId,
        name,
        tau,
        reason,
      }: { readonly clusterId: string; readonly name: string; readonly tau: number; readonly reason: string },
      actor: Actor,
    ): Promise<Outcome<object>> {
      const order = { path: `${pathOf(name)}/tau`, method: "PUT", body: { tau, by: actor, reason } } as const;
      const make = ({ ensembles }: GatewayEnsembles): Act => {
        const before = ensembles.find(({ ensemble }) => ensemble.name === name)?.ensemble;
        // An order for one that is not served is not audited: the gateway refuses it.
        const change = before === undefined ? "" : [before.tau, tau].map((each) => formatTau(each, before.expertsPerQuestion)).join(" → ");
        return { ...order, action: "set tau of ensemble", subject: name, detail: joined([`tau ${change}`, reason]) };
      };
      return guarded(clusterId, make, actor);
    },
  };
}
