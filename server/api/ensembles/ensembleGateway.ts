import { type Act, createGatewayActs, type GatewayActsOptions, joined, noGateway, orderLimitMs } from "@/server/api/gateway/gatewayActs";
import { type GatewayEnsembles, gatewayEnsemblesSchema } from "@/server/contracts/gateway/gatewayEnsembles";
import type { Outcome } from "@/server/contracts/studio";
import { formatTau } from "@/solver/ensemble/gate/tauText";
import type { Actor } from "../base/actor";

/** What clusters' gateways serve of ensembles, and orders about it in their actor's name. */
export function createEnsembleGateway(options: GatewayActsOptions) {
  const { store, gatewayOf } = options;
  const { done } = createGatewayActs(options);

  /** What a gateway serves, and the tag of the configuration that says so. */
  async function read(clusterId: string): Promise<Outcome<{ readonly served: GatewayEnsembles; readonly etag: string }>> {
    const gateway = gatewayOf(clusterId);
    if (gateway === null) return noGateway;
    const answer = await gateway.admin("/ensembles", { schema: gatewayEnsemblesSchema, limitMs: orderLimitMs });
    if (!answer.ok) return { ok: false, message: answer.message };
    const { value, etag } = answer.value;
    return { ok: true, served: value ?? { ensembles: [] }, etag: etag ?? "" };
  }

  /** Orders what is made of what is served now, and nothing where that has changed meanwhile, so that no order undoes what somebody else does. */
  async function guarded(clusterId: string, make: (served: GatewayEnsembles) => Act, actor: Actor): Promise<Outcome<object>> {
    const before = await read(clusterId);
    if (!before.ok) return before;
    return done(clusterId, { ...make(before.served), headers: { "if-match": before.etag } }, actor);
  }

  const pathOf = (name: string): string => `/ensembles/${encodeURIComponent(name)}`;

  return {
    /** What a cluster's gateway serves; refused where it does not answer. */
    async served(clusterId: string): Promise<Outcome<{ readonly served: GatewayEnsembles }>> {
      const now = await read(clusterId);
      return now.ok ? { ok: true, served: now.served } : now;
    },
    /** Has a gateway serve a kept ensemble under its name, from the next request on. */
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
        // Of one that is not served nothing is noted: the gateway refuses.
        const change = before === undefined ? "" : [before.tau, tau].map((each) => formatTau(each, before.expertsPerQuestion)).join(" → ");
        return { ...order, action: "set tau of ensemble", subject: name, detail: joined([`tau ${change}`, reason]) };
      };
      return guarded(clusterId, make, actor);
    },
  };
}
