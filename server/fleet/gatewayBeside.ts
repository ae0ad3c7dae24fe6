import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { GatewayPlace } from "@/server/contracts/gateway/gatewayPlace";
import { shellQuoted } from "@/solver/wording/shellText";

/** A gateway that the studio runs for one cluster. */
export interface GatewayBeside {
  readonly clusterId: string;
  readonly port: number;
  readonly adminPort: number;
  /** Its own folder, within the studio's. */
  readonly stateDir: string;
}

/** Runs the studio's gateways. A call for a running one changes nothing. */
export interface GatewayRunner {
  run(gateway: GatewayBeside): void;
  end(clusterId: string): void;
  /** What an operator must do so that a gateway runs, as far as it is known now; null if it is started automatically. */
  advice(gateway: GatewayBeside): string | null;
}

export const gatewayBeside = (
  clusterId: string,
  { port, adminPort }: Extract<GatewayPlace, { readonly runBy: "studio" }>,
  stateDir: string,
): GatewayBeside => ({ clusterId, port, adminPort, stateDir: join(stateDir, "clusters", clusterId) });

/** Requests the start from the launcher, which reads the studio's output; a request for a running one does nothing. */
export const launcher = (print: (line: string) => void): GatewayRunner => ({
  run: (gateway) => print(`GATEWAY ${JSON.stringify(gateway)}`),
  end: (clusterId) => print(`GATEWAY-END ${clusterId}`),
  advice: ({ stateDir }) => {
    const reason = lastRefusal(join(stateDir, "gateway.log"));
    if (reason === null) return null;
    const other =
      reason.kind === "port-taken" ? " Or detach the cluster and attach it again under its name: its gateway is given other ports." : "";
    return `It cannot start: ${reason.sentence}${other}`;
  },
});

/** Why a gateway could not start, if that is its last message. */
function lastRefusal(log: string): { readonly kind: string | null; readonly sentence: string } | null {
  try {
    const last = readFileSync(log, "utf8").trimEnd().split("\n").at(-1) ?? "";
    const [, kind = null, sentence] = /^weir gateway(?: \[([a-z-]+)\])?: (.+)$/.exec(last) ?? [];
    return sentence === undefined ? null : { kind, sentence };
  } catch {
    return null;
  }
}

/** A studio that was started without the launcher can start no process that survives it. */
export const noopRunner: GatewayRunner = {
  run: () => undefined,
  end: () => undefined,
  advice: ({ clusterId, port, adminPort, stateDir }) =>
    `Start it with the studio's WEIR_ADMIN_TOKEN: WEIR_GATEWAY_PORT=${port} WEIR_GATEWAY_ADMIN_PORT=${adminPort} WEIR_STATE_DIR=${shellQuoted(stateDir)} WEIR_CLUSTER_ID=${shellQuoted(clusterId)} WEIR_STUDIO_PUBLIC_KEY=${shellQuoted(join(stateDir, "..", "..", "studio-key.pub"))} node dist/gateway.mjs. Under "npm run studio" it is started by itself.`,
};
