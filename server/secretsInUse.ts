import type { SecretUse } from "@/server/contracts/engine/engineAccess";
import { connectionUses, gatewayUses, keyAt, readConnection, studioToken } from "@/server/fleet/connection";
import type { StudioSettings } from "@/server/lib/studioSettings";
import { profileUses } from "@/server/profiling/profileProblems";
import type { Store } from "@/server/store/store";

/** The secrets that a studio sends by what it has stored, and where: of attached clusters, their gateways, and profiles that are not over. */
export function secretsInUse(store: Store, { gatewayAdminUrl }: Pick<StudioSettings, "gatewayAdminUrl">): readonly SecretUse[] {
  const attached = store.clusters.list().flatMap(({ connection, gateway }) => {
    const read = connection === null ? null : readConnection(connection);
    return [...(read?.ok === true ? connectionUses(read.value) : []), ...gatewayUses(gateway)];
  });
  const open = store.profiles.list().filter(({ state }) => state === "running" || state === "paused");
  return [...keyAt(studioToken, gatewayAdminUrl), ...attached, ...open.flatMap(({ request }) => profileUses(request))];
}
