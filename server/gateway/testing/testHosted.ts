import type { GatewayConfig, GatewayReplica, GatewaySettings } from "@/server/contracts/gateway/gatewayAdmin";
import { type HostedEngine, hostedUsd } from "@/solver/hardware/hostedModel";
import { hashed, testConfig } from "./testGateway";

/** The variable in which the gateway finds the provider's key. */
export const providerKeyVariable = "WEIR_ENGINE_TEST_PROVIDER";
export const providerKey = "provider-key";

const hostedTerms = (given: Partial<HostedEngine> = {}): HostedEngine => ({
  kind: "openai",
  usdPerMillionInputTokens: 3,
  usdPerMillionOutputTokens: 15,
  mostOutputTokens: 100,
  mostPauseSeconds: 30,
  ...given,
});

interface HostedCascade {
  readonly smallUrl: string;
  readonly judgeUrl: string;
  readonly providerUrl: string;
  readonly terms?: Partial<HostedEngine>;
  readonly maxInFlight?: number;
  readonly settings?: GatewaySettings;
}

/** The cascade may send what it escalates to the provider. */
const leaves: GatewaySettings = { dataMayLeave: [{ models: ["cascade/default"] }] };

/** A cascade of `small`, which the house serves, and the hosted model `far`. */
export function hostedConfig({ smallUrl, judgeUrl, providerUrl, terms, maxInFlight = 8, settings = leaves }: HostedCascade): GatewayConfig {
  const config = testConfig({
    stages: [
      { model: "small", urls: [smallUrl] },
      { model: "far", urls: [] },
    ],
    thresholds: [70],
    judgeUrl,
    settings,
  });
  return { ...config, replicas: [...config.replicas, farReplica(providerUrl, { terms, maxInFlight })] };
}

/** The hosted model alone, as the one model of a fixed policy. */
export function hostedAlone(providerUrl: string, terms?: Partial<HostedEngine>): GatewayConfig {
  const config = testConfig({ stages: [{ model: "far", urls: [] }], settings: leaves });
  const policy = { kind: "fixed", model: "far", order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
  return { ...config, ...hashed(policy), replicas: [farReplica(providerUrl, { terms, maxInFlight: 8 })] };
}

const farReplica = (
  url: string,
  { terms, maxInFlight }: { readonly terms: Partial<HostedEngine> | undefined; readonly maxInFlight: number },
): GatewayReplica => ({
  ...{ id: "far-0", model: "far", url, state: "active", maxInFlight, servedName: "provider-model" },
  ...{ key: { environment: providerKeyVariable }, hosted: hostedTerms(terms) },
});

/** What a provider bills at the terms of the tests, in billionths of a USD. */
export const billedNano = (billed: readonly { readonly inputTokens: number; readonly outputTokens: number }[]): number =>
  billed.reduce((nano, tokens) => nano + Math.round(hostedUsd(hostedTerms(), tokens) * 1e9), 0);
