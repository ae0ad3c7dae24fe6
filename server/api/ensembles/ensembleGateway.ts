import { type Act, createGatewayActs, type GatewayActsOptions, joined, noGateway, orderLimitMs } from "@/server/api/gateway/gatewayActs";
import { gatewayConfigSchema, withEnsembles } from "@/server/contracts/gateway/gatewayAdmin";
import { type GatewayEnsembles, gatewayEnsemblesSchema } from "@/server/contracts/gateway/gatewayEnsembles";
import { partsOf } from "@/server/contracts/gateway/signedOrder";
import type { Outcome } from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { formatTau } from "@/solver/ensemble/gate/tauText";
import type { Actor } from "../base/actor";

/** The ensembles that clusters' gateways serve, and orders about them in their actor's name. */
export function createEnsembleGateway(options: GatewayActsOptions) {
  const { store, gatewayOf } = options;
  const { done } = createGatewayActs(options);

  /** The ensembles that a gateway serves. */
  async function read(clusterId: string): Promise<Outcome<{ readonly served: GatewayEnsembles }>> {
    const gateway = gatewayOf(clusterId);
    if (gateway === null) return noGateway;
    const answer = await gateway.admin("/ensembles", { schema: gatewayEnsemblesSchema, limitMs: orderLimitMs });
    if (!answer.ok) return { ok: false, message: answer.message };
    return { ok: true, served: answer.value.value ?? { ensembles: [] } };
  }

  /**
   * Sends the order computed from the present state, and nothing if that has changed meanwhile, so that no order overwrites another user's
   * change.
   *
   * @param change the ensembles that are served after it.
   */
  async function guarded(
    clusterId: string,
    change: (before: readonly Ensemble[]) => readonly Ensemble[],
    make: (before: readonly Ensemble[]) => Act,
    actor: Actor,
  ): Promise<Outcome<object>> {
    const gateway = gatewayOf(clusterId);
    if (gateway === null) return noGateway;
    const answer = await gateway.admin("/config", { schema: gatewayConfigSchema, alsoFine: [404], limitMs: orderLimitMs });
    if (!answer.ok) return { ok: false, message: answer.message };
    const { value: config, etag } = answer.value;
    const before = config?.settings?.ensembles ?? [];
    const parts = config === null ? {} : { engines: partsOf(gatewayConfigSchema.parse(withEnsembles(config, change(before)))).engines };
    return done(clusterId, { ...make(before), parts, headers: { "if-match": etag ?? "" } }, actor);
  }

  const pathOf = (name: string): string => `/ensembles/${encodeURIComponent(name)}`;

  return {
    /** The ensembles that a cluster's gateway serves; refused if it does not answer. */
    served: read,
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
      const isServed = (before: readonly Ensemble[]): boolean => before.some((one) => one.name === name);
      return guarded(
        clusterId,
        (before) => (isServed(before) ? before.map((one) => (one.name === name ? ensemble : one)) : [...before, ensemble]),
        () => act,
        actor,
      );
    },
    withdraw(
      { clusterId, name, reason }: { readonly clusterId: string; readonly name: string; readonly reason: string },
      actor: Actor,
    ): Promise<Outcome<object>> {
      const body = { by: actor, reason };
      const act = { path: pathOf(name), method: "DELETE", body, action: "withdraw ensemble", subject: name, detail: reason } as const;
      return guarded(
        clusterId,
        (before) => before.filter((one) => one.name !== name),
        () => act,
        actor,
      );
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
      const make = (served: readonly Ensemble[]): Act => {
        const before = served.find((one) => one.name === name);
        // An order for one that is not served is not audited: the gateway refuses it.
        const change = before === undefined ? "" : [before.tau, tau].map((each) => formatTau(each, before.expertsPerQuestion)).join(" → ");
        return { ...order, action: "set tau of ensemble", subject: name, detail: joined([`tau ${change}`, reason]) };
      };
      return guarded(clusterId, (before) => before.map((one) => (one.name === name ? { ...one, tau } : one)), make, actor);
    },
  };
}
