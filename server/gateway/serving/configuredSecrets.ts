import { join } from "node:path";
import type { SecretUse } from "@/server/contracts/engine/engineAccess";
import { SecretOrigins } from "@/server/contracts/engine/secretOrigins";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";

type Called = Pick<GatewayConfig, "judge"> & Partial<Pick<GatewayConfig, "replicas">>;

/** The secrets that a configuration sends, and where. */
function usesOf({ replicas = [], judge }: Called): readonly SecretUse[] {
  const own = replicas.flatMap(({ url, key }) => (key === undefined ? [] : [{ key, origin: new URL(url).origin }]));
  if (judge?.url === undefined || judge.keyFromEnvironment === undefined) return own;
  return [...own, { key: { environment: judge.keyFromEnvironment }, origin: new URL(judge.url).origin }];
}

/**
 * Which secrets the gateway sends where. Beside a studio it follows the studio's file. A gateway of its own enters a secret for the origins of
 * the first configuration that names it; further ones are allowed in its file.
 */
export class ConfiguredSecrets {
  readonly origins: SecretOrigins;
  readonly #own: boolean;

  /** @param shared file of the studio; null: the gateway has its own in its state folder. */
  constructor(stateDirectory: string, shared: string | null) {
    this.origins = new SecretOrigins(() => shared ?? join(stateDirectory, "gateway-secret-origins.json"));
    this.#own = shared === null;
  }

  /** Why a configuration cannot be put into force, in a sentence; null if it can. */
  refusal(config: Called): string | null {
    const refusals = usesOf(config).flatMap((use) => this.origins.refusal(use) ?? []);
    const refused = refusals.find(({ kind }) => !(this.#own && kind === "unentered"));
    return refused === undefined ? null : `${refused.message}.`;
  }

  /** Before a configuration that is not refused comes into force. */
  enter(config: Called): void {
    if (this.#own) this.origins.enter(usesOf(config));
  }

  /** Before the configurations of an earlier start come into force: gateways without a file were started before secrets had origins. */
  begin(configs: readonly Called[]): void {
    if (this.#own) this.origins.begin(configs.flatMap(usesOf));
  }
}
