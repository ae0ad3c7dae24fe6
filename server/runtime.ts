import { createApplicationService } from "@/server/api/applicationService";
import { keepIdentities } from "@/server/api/calibrationIdentities";
import { createCalibrationService } from "@/server/api/calibrationService";
import { createCalibrationSource } from "@/server/api/calibrationSource";
import { createCardService } from "@/server/api/cardService";
import { createClusterService } from "@/server/api/clusterService";
import { createGatewayService } from "@/server/api/gatewayService";
import { createLiveService } from "@/server/api/liveService";
import { createLoadService } from "@/server/api/loadService";
import { createPlanningService } from "@/server/api/planningService";
import { createPlanService } from "@/server/api/planService";
import { createProposalService } from "@/server/api/proposalService";
import type { Services } from "@/server/api/services";
import { createUploads, type Uploads } from "@/server/api/uploads";
import { createWorkloadService, loadWorkload } from "@/server/api/workloadService";
import { sessionSecret } from "@/server/auth/sessionCookie";
import { findSession, mintSignInLink, signIn } from "@/server/auth/signIn";
import { type CardShelf, createCardShelf } from "@/server/cards/cardShelf";
import { createAdminClient } from "@/server/clusters/adminClient";
import { createApplyRunner } from "@/server/clusters/applyRunner";
import { createConnector } from "@/server/clusters/clusterConnector";
import { createEmbeddedCluster, embeddedClusterId } from "@/server/clusters/embeddedCluster";
import { createEmulatorHost } from "@/server/clusters/emulatorHost";
import { createGatewayAudit } from "@/server/clusters/gatewayAudit";
import { mappingsInForce } from "@/server/engines/mappingsInForce";
import { heldOutOutcomes } from "@/server/planning/heldOutOutcomes";
import { createPlanner } from "@/server/planning/planner";
import { createPromiseDesk, type PromiseSource } from "@/server/proposals/promiseDesk";
import { createTrafficWatch } from "@/server/proposals/trafficWatch";
import { seedStore } from "@/server/seedStore";
import { keepFrames } from "@/server/series/keepFrames";
import { createPrometheusSource } from "@/server/series/prometheusSource";
import { createSeriesBook } from "@/server/series/seriesBook";
import { openStore } from "@/server/store/store";
import { type StudioSettings, studioSettings } from "@/server/studioSettings";
import { createStudioMetrics } from "@/server/telemetry/studioMetrics";

/** Everything that lives as long as the studio's process. */
export interface Runtime {
  readonly services: Services;
  readonly uploads: Uploads;
  readonly cards: CardShelf;
  /** The session behind a request's `Cookie` header. */
  readonly sessionOf: (cookieHeader: string | null) => { readonly hash: string; readonly name: string } | null;
  /** Trades a sign-in token for a session secret; null when it is used, expired or unknown. */
  readonly signIn: (token: string) => string | null;
  readonly signInLink: () => string;
  /** The studio's own metrics, for Prometheus. */
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
  /** Ends streams, load and workers; what an application was doing is taken up at the next start. */
  close(): Promise<void>;
}

/** A stream or a worker that does not end must not keep the process. */
const closeLimitMs = 4_000;

/** A month of a large cluster takes a Prometheus some seconds. */
const prometheusLimitMs = 20_000;

/** Puts the studio together from its rooms. */
export function createRuntime(settings: StudioSettings): Runtime {
  const { stateDir, adminToken, gatewayUrl, gatewayAdminUrl, emulatorUrl, studioUrl } = settings;
  const store = openStore(stateDir);
  const uploads = createUploads(stateDir);
  const cards = createCardShelf(stateDir);
  const metrics = createStudioMetrics({
    frame: () => embedded.collector()?.frames().at(-1) ?? null,
    applications: store.applications,
    series: () => series.state(),
  });
  const planner = metrics.counting(createPlanner({ warm: true }));
  const gateway = createAdminClient("gateway", gatewayAdminUrl, adminToken);
  const connector = createConnector({
    host: createEmulatorHost({
      emulator: createAdminClient("emulator", emulatorUrl, adminToken),
      heldOutOutcomes(workloadId) {
        const workload = loadWorkload(store, workloadId);
        // Named by id: a plan's workload is recognised by it.
        return workload === null ? null : heldOutOutcomes({ ...workload, name: workloadId });
      },
    }),
    gateway,
    planOf: (id) => store.plans.get(id),
  });
  const series = createSeriesBook({
    clusterId: embeddedClusterId,
    repository: store.rollUps,
    intervalMs: settings.scrapeIntervalMs,
  });
  const suggested = seedStore(store);
  const labels = new Map<string, number>();
  const labelOf = (decision: { readonly id: string }) => labels.get(decision.id) ?? null;
  const embedded = createEmbeddedCluster({
    store,
    connector,
    gatewayAdminUrl,
    adminToken,
    gpuCards: () => cards.read().catalogue.gpus,
    labelOf,
    scrapeIntervalMs: settings.scrapeIntervalMs,
    onScrape: metrics.recordScrape,
    suggested,
  });
  const gatewayAudit = createGatewayAudit({ store, clusterId: embeddedClusterId, gateway });
  const controlled = {
    admin: gateway,
    audit: gatewayAudit,
    look: async () => embedded.collector()?.askGateway(),
    models: () => embedded.collector()?.models() ?? null,
  };
  const connectorOf = (clusterId: string) => (clusterId === embeddedClusterId ? connector : null);
  const runner = createApplyRunner({ store, connectorOf, onEnd: () => embedded.collector()?.beginWindow() });
  const load = createLoadService({ store, embedded, gatewayUrl, labels });
  runner.takeUp();
  const planning = createPlanningService(store, planner, cards);
  const trafficOf = (clusterId: string): PromiseSource | null => {
    const collector = clusterId === embeddedClusterId ? embedded.collector() : null;
    if (collector === null) return null;
    const { decisions, frames } = collector;
    const { emulated } = connector;
    const emulatedAsPlanned = emulated && !embedded.deviates();
    return { decisions, timeScale: embedded.timeScale(), frame: () => frames().at(-1) ?? null, labelOf, emulated, emulatedAsPlanned };
  };
  const watch = createTrafficWatch({ store, planning, sourceOf: trafficOf });
  const promises = createPromiseDesk({ store, planner, trafficOf: watch.traffic, sourceOf: trafficOf });

  const { prometheus } = settings;
  const { own, builtIn } = mappingsInForce();
  const source =
    prometheus === null
      ? series
      : createPrometheusSource({
          ...prometheus,
          timeoutMs: prometheusLimitMs,
          mappings: [...own, ...builtIn],
          timeScale: embedded.timeScale,
          targets() {
            const frame = embedded.collector()?.frames().at(-1);
            const models = frame?.gateway.stages.map(({ model }) => model) ?? [];
            const gpus = frame?.gpus.filter(({ instance }) => instance === null) ?? [];
            return { engines: embedded.engines(), gpus, models, gatewayAdminUrl };
          },
        });
  const live = createLiveService({ embedded, series: source, store });
  const ending = new AbortController();
  const frames = () => live.follow({ clusterId: embeddedClusterId, afterMs: Date.now(), signal: ending.signal });
  const known = keepIdentities(frames(), store.identities);
  const kept = keepFrames(frames(), {
    book: series,
    cluster: () => store.clusters.get(embeddedClusterId)?.spec ?? null,
  });

  return {
    services: {
      workloads: createWorkloadService(store, uploads, cards),
      clusters: createClusterService(store, embedded, cards),
      plans: createPlanService({ store, connectorOf, planning }),
      applications: createApplicationService(store, runner),
      proposals: createProposalService(store),
      promises,
      live,
      gateway: createGatewayService({
        store,
        gatewayOf: (clusterId) => (clusterId === embeddedClusterId ? controlled : null),
      }),
      load,
      cards: createCardService(store, cards),
      calibrations: createCalibrationService({
        store,
        uploads,
        cards,
        sourceOf: createCalibrationSource({ embedded, series: source, store }),
      }),
      audit: store.audit,
      sessions: { signOut: (hash) => store.sessions.remove(hash) },
    },
    uploads,
    cards,
    sessionOf: (cookieHeader) => findSession(store, sessionSecret(cookieHeader)),
    signIn: (token) => signIn(store, token),
    signInLink: () => mintSignInLink(store, studioUrl),
    metrics: () => metrics.exposition(),
    async close() {
      ending.abort();
      embedded.close();
      gatewayAudit.close();
      await Promise.all([
        runner.close(),
        load.close(),
        watch.close(),
        promises.close(),
        planner.close(),
        known,
        kept.then(() => series.close()),
      ]);
      store.close();
    },
  };
}

/**
 * Next compiles instrumentation and every route as separate module graphs, so a module's own variable would exist several
 * times. This is the one file that puts something on `globalThis`.
 */
const key = Symbol.for("weir.runtime");
const holder = globalThis as typeof globalThis & { [key]?: Runtime };

/** The studio's runtime. Throws before `startRuntime`: Next awaits it before it serves. */
export function runtime(): Runtime {
  const running = holder[key];
  if (running === undefined) throw new Error("The studio's runtime was not started.");
  return running;
}

/** Starts the runtime once, prints the sign-in link, and ends the process in order on SIGTERM and SIGINT. */
export function startRuntime(): void {
  if (holder[key] !== undefined) return;
  const started = createRuntime(studioSettings(process.env));
  holder[key] = started;
  const { problem } = mappingsInForce();
  if (problem !== null) process.stderr.write(`${problem}\n`);
  process.stdout.write(`SIGN-IN ${started.signInLink()}\n`);
  const end = (): void => {
    setTimeout(() => process.exit(0), closeLimitMs).unref();
    void started.close().finally(() => process.exit(0));
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
}
