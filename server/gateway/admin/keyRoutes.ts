import { z } from "zod";
import { type GatewayKey, type GatewayKeys, type GatewayUsage, keysRequestSchema } from "@/server/contracts/gateway/gatewayKeys";
import { labelText } from "../budgets/keyBudgets";
import { keptDays } from "../budgets/keyUseFiles";
import { badRequest, sendError, sendJson } from "../http/apiError";
import { documentOf, readDocument } from "../http/readDocument";
import { withReason } from "../lib/auditLog";
import type { AdminOptions, AdminRoutes } from "./adminRoutes";
import { matchRefusal, ordered } from "./configRoutes";

/** A thousand keys with long names. */
const keysBytes = 1024 * 1024;

/** Admin routes for the clients' keys: read them with their last use; replace them, by an order of the studio. */
export function keyRoutes({ configuration, serving, mutex, orders, budgets, keyUsage }: AdminOptions): AdminRoutes {
  const view = (): GatewayKeys => {
    const { keys, priorityClasses = [] } = configuration.current?.settings ?? {};
    const lastUsedAt = ({ sha256 }: GatewayKey): string | null => {
      const usedMs = serving.callers.uses.get(sha256);
      return usedMs === undefined ? null : new Date(usedMs).toISOString();
    };
    const listed = keys?.map((key) => ({
      ...{ ...key, lastUsedAt: lastUsedAt(key) },
      ...(key.limits !== undefined && { use: budgets.useOf(key) }),
    }));
    return { keys: listed ?? null, priorityClasses };
  };
  const etag = () => ({ etag: `"${configuration.etag}"` });
  return {
    "GET /keys": (_, response) => sendJson(response, view(), { headers: etag() }),
    "PUT /keys": async (request, response) => {
      const read = await readDocument(request, keysRequestSchema, keysBytes);
      if (read === null) return;
      const refusal = await mutex.run(async () => {
        const refused = matchRefusal(request, configuration.etag);
        if (refused !== null) return refused;
        return ordered(orders, request, read, ({ keys, by, reason }, order) => {
          const detail = withReason(keyChange(configuration.current?.settings?.keys ?? [], keys), reason);
          return configuration.setKeys(keys, { by, action: "keys changed", detail }, order);
        });
      });
      if (refusal === null) sendJson(response, view(), { headers: etag() });
      else sendError(response, refusal, { ...etag(), ...orders.revisionHeaders(refusal) });
    },
    "GET /usage": async (request, response) => {
      const { searchParams } = new URL(request.url ?? "", "http://localhost");
      const read = documentOf(Object.fromEntries(searchParams), daysSchema);
      if ("error" in read) return sendError(response, read.error);
      const { from = "0000-01-01", to = "9999-12-31" } = read.document;
      if (from > to) return sendError(response, badRequest(`The range begins at ${from}, after its end at ${to}.`));
      sendJson(response, { rows: await keyUsage.read({ from, to }), keptDays } satisfies GatewayUsage);
    },
  };
}

const daysSchema = z.strictObject({ from: z.iso.date().optional(), to: z.iso.date().optional() });

/** What changes, by the names of the keys: a sentence without its full stop. */
function keyChange(before: readonly GatewayKey[], after: readonly GatewayKey[]): string {
  const was = new Map(before.map((key) => [key.name, key]));
  const kept = after.filter(({ name, sha256 }) => was.get(name)?.sha256 === sha256);
  const changes = {
    added: after.filter((key) => !kept.includes(key)),
    removed: before.filter(({ name, sha256 }) => !kept.some((key) => key.name === name && key.sha256 === sha256)),
    revoked: kept.filter(({ name, revokedAt }) => revokedAt !== undefined && was.get(name)?.revokedAt === undefined),
    altered: kept.filter(
      (key) => key.revokedAt === was.get(key.name)?.revokedAt && JSON.stringify(key) !== JSON.stringify(was.get(key.name)),
    ),
  };
  const parts = Object.entries(changes).flatMap(([what, keys]) =>
    keys.length === 0 ? [] : [`${what}: ${keys.map(({ name, labels }) => `${name}${labelText(labels)}`).join(", ")}`],
  );
  return `API keys ${parts.length === 0 ? "stay as they are" : parts.join("; ")}`;
}
