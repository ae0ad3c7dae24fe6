import { hashSecret, newSecret } from "@/server/auth/secret";
import { gatewayConfigSchema, withKeys } from "@/server/contracts/gateway/gatewayAdmin";
import {
  type GatewayKey,
  type GatewayKeys,
  type GatewayUsage,
  gatewayKeysSchema,
  gatewayUsageSchema,
  keyEnd,
} from "@/server/contracts/gateway/gatewayKeys";
import { partsOf } from "@/server/contracts/gateway/signedOrder";
import type { GatewayKeySummary, KeyTerms, Outcome } from "@/server/contracts/studio";
import { keyLimits } from "@/solver/wording/keyLimits";
import type { Actor } from "../base/actor";
import { createGatewayActs, type GatewayActsOptions, joined, noGateway, orderLimitMs } from "./gatewayActs";

type ListedKey = NonNullable<GatewayKeys["keys"]>[number];

/** What a change makes of the present keys, with its audit line; or why not. */
type Change = Outcome<{ readonly keys: readonly GatewayKey[]; readonly action: string; readonly subject: string; readonly detail: string }>;

interface ChangedKey {
  readonly key: GatewayKey;
  readonly action: string;
  readonly detail: string;
}

interface KeyRequest extends KeyTerms {
  readonly clusterId: string;
  readonly label: string;
  /** Days until it expires; null: it does not. */
  readonly days: number | null;
}

interface NamedKey {
  readonly clusterId: string;
  readonly name: string;
}

const dayMs = 24 * 3_600_000;

const refused = (message: string): { readonly ok: false; readonly message: string } => ({ ok: false, message });

/** The time `days` from now, ISO 8601. */
const after = (days: number): string => new Date(Date.now() + days * dayMs).toISOString();

/** Keys of the clients of clusters' gateways: made here, known to the gateway by their SHA-256 only. Every change has an audit line. */
export function createGatewayKeyService(options: GatewayActsOptions) {
  const { gatewayOf } = options;
  const { done } = createGatewayActs(options);

  async function read(
    clusterId: string,
  ): Promise<Outcome<{ readonly keys: readonly ListedKey[] | null; readonly classes: readonly string[] }>> {
    const gateway = gatewayOf(clusterId);
    if (gateway === null) return noGateway;
    const answer = await gateway.admin("/keys", { schema: gatewayKeysSchema, limitMs: orderLimitMs });
    if (!answer.ok) return answer;
    const { keys = null, priorityClasses = [] } = answer.value.value ?? {};
    return { ok: true, keys, classes: priorityClasses.map(({ name }) => name) };
  }

  /** Sends the keys that a change makes of the present ones; the gateway refuses them where its configuration changed meanwhile. */
  async function change(clusterId: string, actor: Actor, make: (keys: readonly GatewayKey[]) => Change): Promise<Outcome<object>> {
    const gateway = gatewayOf(clusterId);
    if (gateway === null) return noGateway;
    const answer = await gateway.admin("/config", { schema: gatewayConfigSchema, alsoFine: [404], limitMs: orderLimitMs });
    if (!answer.ok) return { ok: false, message: answer.message };
    const { value: config, etag } = answer.value;
    const made = make(config?.settings?.keys ?? []);
    if (!made.ok) return made;
    const { keys, action, subject, detail } = made;
    const parts = config === null ? {} : { engines: partsOf(gatewayConfigSchema.parse(withKeys(config, keys))).engines };
    const headers = { "if-match": etag ?? "" };
    const request = { path: "/keys", method: "PUT", headers, body: { keys, by: actor, reason: "" }, parts } as const;
    return done(clusterId, { ...request, action, subject, detail }, actor);
  }

  /** Changes one key that is not revoked. */
  const changeOne = ({ clusterId, name }: NamedKey, actor: Actor, turn: (key: GatewayKey) => ChangedKey): Promise<Outcome<object>> =>
    change(clusterId, actor, (keys) => {
      const known = keys.find((key) => key.name === name);
      if (known === undefined) return refused(`The gateway has no key ${name}.`);
      if (known.revokedAt !== undefined) return refused(`The key ${name} was revoked already.`);
      const { key, action, detail } = turn(known);
      return { ok: true, keys: keys.map((one) => (one === known ? key : one)), action, subject: name, detail };
    });

  return {
    /** The keys of a cluster's gateway; null: it has none and accepts every client. */
    async list(
      clusterId: string,
    ): Promise<Outcome<{ readonly keys: readonly GatewayKeySummary[] | null; readonly classes: readonly string[] }>> {
      const now = await read(clusterId);
      if (!now.ok) return now;
      return { ok: true, keys: now.keys?.map(summary) ?? null, classes: now.classes };
    },
    /** What requests with keys used, by day, key and model. @param days the first and the last day, such as 2026-01-31 */
    async usage(clusterId: string, days: { readonly from: string; readonly to: string }): Promise<Outcome<GatewayUsage>> {
      const gateway = gatewayOf(clusterId);
      if (gateway === null) return noGateway;
      if (days.from > days.to) return refused(`The range begins at ${days.from}, after its end at ${days.to}.`);
      const path = `/usage?from=${days.from}&to=${days.to}`;
      const answer = await gateway.admin(path, { schema: gatewayUsageSchema, limitMs: orderLimitMs });
      if (!answer.ok) return answer;
      return answer.value.value === null ? refused("The gateway gave no usage.") : { ok: true, ...answer.value.value };
    },
    /** @returns the key itself, which is shown once and not stored */
    async create({ clusterId, label, days, ...terms }: KeyRequest, actor: Actor): Promise<Outcome<{ readonly key: string }>> {
      const secret = `wgk_${newSecret()}`;
      const made = await change(clusterId, actor, (keys) => {
        if (keys.some(({ name }) => name === label)) return refused(`The gateway has a key ${label} already: give this one another label.`);
        const key: GatewayKey = {
          ...{ name: label, sha256: hashSecret(secret) },
          ...given(terms),
          ...(days === null ? {} : { expiresAt: after(days) }),
        };
        const detail = joined([days === null ? "without expiry" : `${days} days`, termsText(terms)]);
        return { ok: true, keys: [...keys, key], action: "create gateway key", subject: label, detail };
      });
      return made.ok ? { ok: true, key: secret } : made;
    },
    /** Requests with it are refused from then on; it stays listed. */
    revoke: (which: NamedKey, actor: Actor): Promise<Outcome<object>> =>
      changeOne(which, actor, (key) => {
        return { key: { ...key, revokedAt: new Date().toISOString() }, action: "revoke gateway key", detail: "" };
      }),
    /** Replaces what it allows; what it has used stays counted. */
    setTerms: ({ clusterId, name, ...terms }: NamedKey & KeyTerms, actor: Actor): Promise<Outcome<object>> =>
      changeOne({ clusterId, name }, actor, ({ sha256, expiresAt }) => ({
        key: { ...{ name, sha256 }, ...(expiresAt === undefined ? {} : { expiresAt }), ...given(terms) },
        action: "set limits of gateway key",
        detail: termsText(terms) || "no limits",
      })),
    /** @param days from now; null: it does not expire */
    setExpiry: ({ days, ...which }: NamedKey & { readonly days: number | null }, actor: Actor): Promise<Outcome<object>> =>
      changeOne(which, actor, ({ expiresAt: _, ...key }) => ({
        key: days === null ? key : { ...key, expiresAt: after(days) },
        action: "set expiry of gateway key",
        detail: days === null ? "none" : `${days} days`,
      })),
  };
}

/** The terms that a key has. */
function given({ requestsPerMinute, limits, models, labels, objective }: KeyTerms): Partial<GatewayKey> {
  return {
    ...(requestsPerMinute !== null && { requestsPerMinute }),
    ...(limits !== null && { limits }),
    ...(models !== null && { models: [...models] }),
    ...(labels !== null && { labels }),
    ...(objective !== null && { objective }),
  };
}

/** The terms that a key has, for the audit. */
function termsText({ requestsPerMinute, limits, models, labels, objective }: KeyTerms): string {
  return joined([
    requestsPerMinute === null ? "" : `${requestsPerMinute} requests a minute`,
    ...keyLimits.flatMap(({ name, unit, period }) => {
      const most = limits?.[name];
      return most === undefined ? [] : [`${most} ${unit === "usd" ? "USD" : "tokens"} a ${period}`];
    }),
    limits?.warnAt === undefined ? "" : `warns at ${Math.round(100 * limits.warnAt)} %`,
    models === null ? "" : `only ${models.join(", ")}`,
    ...Object.entries(labels ?? {}).map(([label, value]) => `${label} ${value}`),
    objective === null ? "" : `class ${objective}`,
  ]);
}

function summary({ sha256: _, requestsPerMinute, expiresAt, revokedAt, ...key }: ListedKey): GatewayKeySummary {
  return {
    ...{ name: key.name, objective: key.objective ?? null, lastUsedAt: key.lastUsedAt },
    ...{ limits: key.limits ?? null, models: key.models ?? null, labels: key.labels ?? null, use: key.use ?? [] },
    requestsPerMinute: requestsPerMinute ?? null,
    expiresAt: expiresAt ?? null,
    revokedAt: revokedAt ?? null,
    state: keyEnd({ expiresAt, revokedAt }, Date.now()) ?? "valid",
  };
}
