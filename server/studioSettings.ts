import { join } from "node:path";

/** What the studio is told by its environment. The other processes listen on the loopback address of the same machine. */
export interface StudioSettings {
  readonly stateDir: string;
  readonly studioUrl: string;
  readonly gatewayUrl: string;
  readonly gatewayAdminUrl: string;
  readonly emulatorUrl: string;
  readonly adminToken: string;
}

/** Reads the settings; addresses follow from ports unless they are given whole. */
export function studioSettings(environment: Readonly<Record<string, string | undefined>>): StudioSettings {
  const url = (name: string, portName: string, usualPort: number): string =>
    environment[name] ?? `http://127.0.0.1:${environment[portName] ?? usualPort}`;
  return {
    stateDir: environment.WEIR_STATE_DIR ?? join(environment.WEIR_ROOT ?? process.cwd(), ".weir"),
    studioUrl: url("WEIR_STUDIO_URL", "WEIR_STUDIO_PORT", 4600),
    gatewayUrl: url("WEIR_GATEWAY_URL", "WEIR_GATEWAY_PORT", 4610),
    gatewayAdminUrl: url("WEIR_GATEWAY_ADMIN_URL", "WEIR_GATEWAY_ADMIN_PORT", 4611),
    emulatorUrl: url("WEIR_EMULATOR_URL", "WEIR_EMULATOR_PORT", 4620),
    adminToken: environment.WEIR_ADMIN_TOKEN ?? "",
  };
}
