import { z } from "zod";
import type { AdminClient, AdminRequest } from "@/server/clusters/connector/adminClient";
import type { GatewayAudit } from "@/server/clusters/connector/gatewayAudit";
import { gatewaySubject } from "@/server/clusters/connector/gatewaySubject";
import type { Outcome, ServingModel } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import type { Actor } from "../base/actor";

/** A cluster's gateway, as the studio speaks to it. */
export interface ControlledGateway {
  /** Of its admin listener, where the command line would ask another gateway's unless it is told; left out: it would not. */
  readonly adminUrl?: string;
  readonly admin: AdminClient;
  readonly audit: GatewayAudit;
  /** Reads what it does now, so that pages show an act at once. */
  readonly look: () => Promise<void>;
  /** Models it has engines of, as last known; null while it was not heard. */
  readonly models: () => readonly ServingModel[] | null;
}

/** Somebody waits for it, and may have to act on the gateway's machine instead. */
export const orderLimitMs = 5_000;

export interface GatewayActsOptions {
  readonly store: Store;
  /** null: the cluster is not connected. */
  readonly gatewayOf: (clusterId: string) => ControlledGateway | null;
}

/** What is done, as the audit will say, and how the gateway is told. */
export interface Act extends Omit<AdminRequest<z.ZodType>, "schema"> {
  readonly path: string;
  /** The way to the same without the studio. */
  readonly instead?: string | undefined;
  readonly action: string;
  /** Left out: the gateway. */
  readonly subject?: string;
  readonly detail: string;
}

/** Said of a cluster without a gateway. */
export const noGateway: Outcome<never> = { ok: false, message: "This cluster is not connected: it has no gateway to ask." };

/** What was said of an act, without what is empty. */
export const joined = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("; ");

/** A command of the command line, such that it asks this gateway. */
export const onMachine = ({ adminUrl }: ControlledGateway, command: string): string =>
  adminUrl === undefined ? command : `WEIR_GATEWAY_ADMIN_URL=${adminUrl} ${command}`;

/** Acts on live traffic: asked of the gateway in their actor's name, noted down where they took or may have taken effect, and looked at at once. */
export function createGatewayActs({ store, gatewayOf }: GatewayActsOptions) {
  async function act<Schema extends z.ZodType>(
    clusterId: string,
    { path, instead, action, subject: about, detail, ...request }: Act,
    { actor, schema }: { readonly actor: Actor; readonly schema: Schema },
  ): Promise<Outcome<{ readonly value: z.infer<Schema> | null }>> {
    const gateway = gatewayOf(clusterId);
    if (gateway === null) return noGateway;
    const at = new Date().toISOString();
    const subject = about ?? gatewaySubject(store.clusters.get(clusterId)?.spec);
    const answer = await gateway.admin(path, { ...request, schema, limitMs: orderLimitMs });
    const late = !answer.ok && answer.failure === "late";
    if (answer.ok || late) {
      const doubt = late ? "the gateway did not answer in time: it may have taken effect" : "";
      store.audit.add({ at, actor, action, subject, detail: joined([detail, doubt]) });
      // Not waited for: the order is answered, however long the gateway takes to tell of it.
      void gateway.audit.take();
      void gateway.look();
    }
    if (answer.ok) return { ok: true, value: answer.value.value };
    const doubt = late ? " It may have taken effect: look before you order it again." : "";
    const way = instead === undefined || answer.failure === "answered" ? "" : ` On the gateway's machine: ${onMachine(gateway, instead)}`;
    return { ok: false, message: `${answer.message}${doubt}${way}` };
  }

  async function done(clusterId: string, what: Act, actor: Actor): Promise<Outcome<object>> {
    const outcome = await act(clusterId, what, { actor, schema: z.unknown() });
    return outcome.ok ? { ok: true } : outcome;
  }

  return { act, done };
}
