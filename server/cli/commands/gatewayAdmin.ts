import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AdminClient, createAdminClient } from "@/server/clusters/connector/adminClient";
import { studioSettings } from "@/server/lib/studioSettings";

/** Calls the gateway that the environment names, with its token, so that no studio is needed. */
export function gatewayAdmin(): AdminClient {
  const { gatewayAdminUrl, stateDir, adminToken } = studioSettings(process.env);
  return createAdminClient("gateway", gatewayAdminUrl, adminToken || keptToken(stateDir));
}

/** The token as the launcher stores it; empty if it stores none. */
function keptToken(stateDir: string): string {
  try {
    return readFileSync(join(stateDir, "admin-token"), "utf8").trim();
  } catch {
    return "";
  }
}
