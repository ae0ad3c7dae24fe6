import { z } from "zod";
import type { AdminClient, AdminRequest } from "@/server/clusters/connector/adminClient";
import type { GatewayAudit } from "@/server/clusters/connector/gatewayAudit";
import { gatewaySubject } from "@/server/clusters/connector/gatewaySubject";
import type { Outcome, ServingModel } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import type { Actor } from "../base/actor";

/** The studio's access to a cluster's gateway. */
export interface ControlledGateway {
  /** URL of its admin listener, if the command line would use another gateway's by default; absent: it would not. */
  readonly adminUrl?: string;
  readonly admin: AdminClient;
  readonly audit: GatewayAudit;
  /** Reads its present state, so that pages show an action at once. */
  readonly look: () => Promise<void>;
  /** Models with engines there, as last known; null before its first answer. */
  readonly models: () => readonly ServingModel[] | null;
}

/** A user waits for it, and may have to act on the gateway's machine instead. */
export const orderLimitMs = 5_000;

export interface GatewayActsOptions {
  readonly store: Store;
  /** null: the cluster is not connected. */
  readonly gatewayOf: (clusterId: string) => ControlledGateway | null;
}

/** An action: its audit entry, and the request to the gateway. */
export interface Act extends Omit<AdminRequest<z.ZodType>, "schema"> {
  readonly path: string;
  /** How to do the same without the studio. */
  readonly instead?: string | undefined;
  readonly action: string;
  /** Absent: the gateway. */
  readonly subject?: string;
  readonly detail: string;
}

/** The refusal for a cluster without a gateway. */
export const noGateway: Outcome<never> = { ok: false, message: "This cluster is not connected: it has no gateway to ask." };

/** The non-empty parts of an action's description. */
export const joined = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("; ");

/** A command of the command line that addresses this gateway. */
export const onMachine = ({ adminUrl }: ControlledGateway, command: string): string =>
  adminUrl === undefined ? command : `WEIR_GATEWAY_ADMIN_URL=${adminUrl} ${command}`;

/**
 * Actions on live traffic: requested from the gateway in their actor's name, audited if they took or may have taken effect, followed by a
 * read of its state.
 */
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
    const attempt = { actor, action, subject, objectKind: "gateway", objectId: clusterId, clusterId } as const;
    if (!answer.ok && answer.failure === "answered") store.audit.refused({ ...attempt, detail: answer.message });
    if (answer.ok || late) {
      const doubt = late ? "the gateway did not answer in time: it may have taken effect" : "";
      store.audit.add({ ...attempt, at, detail: joined([detail, doubt]) });
      // Not awaited: the order is answered, however long the gateway takes to report it.
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
