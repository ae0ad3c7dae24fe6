import type { CardStore } from "@/server/cards/cardStore";
import { createAdminClient } from "@/server/clusters/connector/adminClient";
import type { Answer } from "@/server/clusters/connector/connector";
import { createEmulatorHost, type EmulatorHostOptions } from "@/server/clusters/connector/emulatorHost";
import { secretOrigins } from "@/server/contracts/engine/secretOrigins";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayPlace } from "@/server/contracts/gateway/gatewayPlace";
import type { ClusterSummary } from "@/server/contracts/studio";
import { mappingsInForce } from "@/server/engines/mappingsInForce";
import { reasonOf } from "@/server/lib/reasonOf";
import { orderSigner, studioKey } from "@/server/lib/studioKey";
import type { StudioSettings } from "@/server/lib/studioSettings";
import { createPrometheusSource } from "@/server/series/prometheusSource";
import type { SeriesBookState } from "@/server/series/seriesBook";
import type { SeriesSource } from "@/server/series/seriesSource";
import type { ClusterRow } from "@/server/store/clusterRepository";
import type { Store } from "@/server/store/store";
import type { ScrapeFacts } from "@/server/telemetry/studioMetrics";
import { type ConnectedClusterParts, connectCluster, type WatchedCluster } from "./connectedCluster";
import { gatewayUses, readConnection } from "./connection";
import { createHost } from "./createHost";
import { type ConnectedCluster, embeddedClusterId, type Fleet } from "./fleet";
import { type GatewayRunner, gatewayBeside } from "./gatewayBeside";
import { freeGatewayPorts } from "./gatewayPorts";
import { saveEmbeddedObservation, saveObservation } from "./saveObservation";

/** A month of a large cluster takes a Prometheus some seconds. */
const timeoutMs = 20_000;

/** The series of one cluster in a Prometheus, which may scrape others' targets too. */
function prometheusOf(
  prometheus: NonNullable<StudioSettings["prometheus"]>,
  cluster: Pick<ConnectedCluster, "engines" | "collector" | "timeScale" | "gatewayAdminUrl">,
): SeriesSource {
  const { own, builtIn } = mappingsInForce();
  return createPrometheusSource({
    ...{ ...prometheus, timeoutMs, mappings: [...own, ...builtIn], timeScale: cluster.timeScale },
    targets() {
      const frame = cluster.collector()?.frames().at(-1);
      const models = frame?.gateway.stages.map(({ model }) => model) ?? [];
      const gpus = frame?.gpus.filter(({ instance }) => instance === null) ?? [];
      return { engines: cluster.engines(), gpus, models, gatewayAdminUrl: cluster.gatewayAdminUrl };
    },
  });
}

export interface FleetParts {
  readonly store: Store;
  readonly cards: CardStore;
  readonly settings: StudioSettings;
  /** The variables that connections refer to. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly gateways: GatewayRunner;
  readonly heldOutOutcomes: EmulatorHostOptions["heldOutOutcomes"];
  /** Quality label of an answer, if known. */
  readonly labelOf: (decision: Decision) => number | null;
  readonly onScrape: (facts: ScrapeFacts) => void;
  /** Initial planning input for a new user on the embedded cluster. */
  readonly suggested: ClusterSummary["suggested"];
}

export interface StudioFleet extends Fleet {
  /** State of each cluster's stored series. */
  seriesStates(): readonly SeriesBookState[];
}

type Own = Omit<ConnectedClusterParts, "store" | "sign" | "scrapeIntervalMs" | "onScrape" | "seriesOf">;

const notConnected = (error: unknown): string => `It cannot be connected: ${reasonOf(error)}`;

const loopback = (port: number): string => `http://127.0.0.1:${port}`;

/** Connects to the embedded cluster and to every other one with a stored connection. */
export function createFleet(parts: FleetParts): StudioFleet {
  const { store, settings, environment, gateways, onScrape } = parts;
  const { stateDir, adminToken, scrapeIntervalMs, prometheus } = settings;
  const sign = orderSigner(studioKey(stateDir));
  const connected = new Map<string, WatchedCluster>();
  const problems = new Map<string, string>();
  const gpuCards = () => parts.cards.read().catalogue.gpus;

  function watch(own: Own): WatchedCluster {
    const seriesOf = prometheus === null ? null : (cluster: Parameters<typeof prometheusOf>[1]) => prometheusOf(prometheus, cluster);
    const cluster = connectCluster({ ...own, store, sign, scrapeIntervalMs, onScrape, seriesOf });
    connected.set(cluster.id, cluster);
    return cluster;
  }

  const refused = (clusterId: string, message: string): Answer<never> => {
    problems.set(clusterId, message);
    return { ok: false, message };
  };

  /** A cluster that cannot be connected does not affect the others. */
  function begin(row: ClusterRow, place: GatewayPlace): Answer<ConnectedCluster> {
    problems.delete(row.id);
    try {
      return connectTo(row, place);
    } catch (error) {
      return refused(row.id, notConnected(error));
    }
  }

  function connectTo({ id, connection: kept }: ClusterRow, place: GatewayPlace): Answer<ConnectedCluster> {
    const connection = readConnection(kept);
    if (!connection.ok) return refused(id, connection.message);
    const host = createHost(connection.value, { clusterId: id, stateDir, environment, gpuCards });
    if (!host.ok) return refused(id, host.message);
    const own = {
      ...{ id, kind: connection.value.kind, host: host.value },
      labelOf: parts.labelOf,
      saveObservation: (observation) => saveObservation(parts, id, observation),
    } satisfies Partial<Own>;
    if (place.runBy === "operator") {
      const { url, adminUrl, token = adminToken } = place;
      const unsent = gatewayUses(place).flatMap((use) => secretOrigins.refusal(use) ?? [])[0];
      if (unsent !== undefined) return refused(id, `${unsent.message}.`);
      const at = { gatewayUrl: new URL(url).origin, gatewayAdminUrl: new URL(adminUrl).origin };
      return { ok: true, value: watch({ ...own, ...at, adminToken: token, gatewayAdvice: null }) };
    }
    const gateway = gatewayBeside(id, place, stateDir);
    gateways.run(gateway);
    const at = { gatewayUrl: loopback(place.port), gatewayAdminUrl: loopback(place.adminPort) };
    return { ok: true, value: watch({ ...own, ...at, adminToken, gatewayAdvice: () => gateways.advice(gateway) }) };
  }

  async function letGo(clusterId: string): Promise<void> {
    const cluster = connected.get(clusterId);
    connected.delete(clusterId);
    problems.delete(clusterId);
    await cluster?.close();
  }

  /** A gateway that the studio runs, for a cluster without one. */
  async function placeGateway(clusterId: string): Promise<GatewayPlace> {
    const places = store.clusters.list().flatMap(({ gateway }) => (gateway?.runBy === "studio" ? [gateway.port, gateway.adminPort] : []));
    const place = { runBy: "studio", ...(await freeGatewayPorts(new Set(places))) } as const;
    store.clusters.setGateway(clusterId, place);
    return place;
  }

  /** Two concurrent connects would get the same ports. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };

  async function connect(clusterId: string): Promise<Answer<ConnectedCluster>> {
    const row = store.clusters.get(clusterId);
    if (row === null || row.connection === null) return { ok: false, message: "There is no connection of this cluster." };
    await letGo(clusterId);
    try {
      return begin(row, row.gateway ?? (await placeGateway(clusterId)));
    } catch (error) {
      return refused(clusterId, notConnected(error));
    }
  }

  watch({
    ...{ id: embeddedClusterId, kind: "embedded", gatewayUrl: settings.gatewayUrl, gatewayAdminUrl: settings.gatewayAdminUrl, adminToken },
    host: createEmulatorHost({
      emulator: createAdminClient("emulator", settings.emulatorUrl, adminToken),
      heldOutOutcomes: parts.heldOutOutcomes,
    }),
    labelOf: parts.labelOf,
    saveObservation: (observation) => saveEmbeddedObservation(parts, parts.suggested, observation),
    gatewayAdvice: null,
  });
  for (const row of store.clusters.list()) {
    if (row.connection === null) continue;
    if (row.gateway === null) void inTurn(() => connect(row.id));
    else begin(row, row.gateway);
  }

  return {
    get: (clusterId) => connected.get(clusterId) ?? null,
    list: () => [...connected.values()],
    problem: (clusterId) => problems.get(clusterId) ?? null,
    connect: (clusterId) => inTurn(() => connect(clusterId)),
    disconnect: (clusterId) =>
      inTurn(async () => {
        const host = connected.get(clusterId)?.host;
        await letGo(clusterId);
        host?.release?.();
        gateways.end(clusterId);
      }),
    async close() {
      await last;
      await Promise.all([...connected.values()].map((cluster) => cluster.close()));
      connected.clear();
    },
    seriesStates: () => [...connected.values()].map((cluster) => cluster.seriesState()),
  };
}
