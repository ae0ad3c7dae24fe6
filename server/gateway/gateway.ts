import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import type { AbortKind } from "@/server/contracts/gateway/gatewayAdmin";
import { version } from "../../package.json";
import { adminListener } from "./admin/adminListener";
import { Controls } from "./controls/controls";
import { ControlsStore } from "./controls/controlsStore";
import { dataListener } from "./dataListener";
import { EnsembleCalls } from "./ensembles/ensembleCalls";
import { EnsembleStats } from "./ensembles/ensembleStats";
import { BodyMemoryBudget } from "./http/bodyMemoryBudget";
import { dataServer } from "./http/dataServer";
import { defaultLimits, type GatewayLimits } from "./http/limits";
import { LoopbackClient } from "./http/loopbackClient";
import { AuditLog } from "./lib/auditLog";
import { DecisionLog } from "./lib/decisionLog";
import { Mutex } from "./lib/mutex";
import { StudioOrders, type TrustedStudio } from "./lib/studioOrders";
import { GatewayMetrics } from "./metrics";
import { ArtifactStore } from "./prediction/artifactStore";
import { readEncoderFolders } from "./prediction/encoderFolders";
import { FeatureLog } from "./prediction/featureLog";
import { PredictionCounts } from "./prediction/predictionCounts";
import { PredictionService } from "./prediction/predictionService";
import { RequestPredictions } from "./prediction/requestPredictions";
import type { Traces } from "./request/traces";
import { ConfigStore } from "./serving/configStore";
import { Configuration } from "./serving/configuration";
import { Serving } from "./serving/serving";
import { StageWatch } from "./serving/stageWatch";
import { WorkflowTracker } from "./workflows/workflowTracker";

export interface GatewayOptions {
  /** 0 takes any free port. */
  readonly dataPort: number;
  readonly adminPort: number;
  readonly stateDirectory: string;
  /** Whole paths of encoders whose embeddings predictors may read; left out: none. */
  readonly encoderFolders?: readonly string[];
  /** The studio whose signed orders are followed; null: everybody with the admin token may put plans into force. */
  readonly studio: TrustedStudio | null;
  /** Bearer token of the admin listener; null lets every local caller in. */
  readonly adminToken: string | null;
  readonly log: Logger;
  readonly limits?: Partial<GatewayLimits>;
  /** Receiver of the traces; absent: no tracing. Closed with the gateway. */
  readonly traces?: Traces | null;
}

export interface Gateway {
  readonly dataUrl: string;
  readonly adminUrl: string;
  /**
   * Stops accepting, waits `drainSeconds` for requests in flight, answers the rest with an error, then ends. Returns the number of requests
   * that got the error. Another call with less time ends it sooner.
   */
  close(drainSeconds?: number): Promise<number>;
}

const address = "127.0.0.1";
/**
 * Connections that may wait to be accepted while the gateway is busy; the system resets further ones. Node's default of 511 covers two
 * seconds of a busy machine.
 */
const backlog = 4096;
/** Interval at which an ending gateway checks whether everything is answered. */
const lookMs = 20;
/** Time for the last error bodies to reach clients that read. */
const farewellSeconds = 1;

/** Starts the gateway with its last configuration. Rejects if a port is taken. */
export async function startGateway({
  dataPort,
  adminPort,
  stateDirectory,
  encoderFolders = [],
  studio,
  adminToken,
  log,
  limits: given,
  traces = null,
}: GatewayOptions): Promise<Gateway> {
  const limits = { ...defaultLimits, ...given };
  const { encoders, problems } = await readEncoderFolders(encoderFolders);
  for (const reason of problems) log.error({ reason }, "starting without an encoder");
  const artifacts = new ArtifactStore(stateDirectory, encoders);
  const missing = await artifacts.load();
  if (missing !== null) log.error({ reason: missing }, "starting without some predictors");
  const featureLog = new FeatureLog(stateDirectory, (err) => log.error({ err }, "training features could not be stored"));
  await featureLog.load();
  const counts = new PredictionCounts();
  const predictionService = new PredictionService({ artifacts, limits, onBatch: () => counts.batch(), log });
  const judge = { timeoutSeconds: limits.judgeSeconds, maxInFlight: limits.judgeCalls };
  const predictions = new RequestPredictions({ service: predictionService, featureLog, counts, limits });
  const workflows = new WorkflowTracker({ stateDirectory, log });
  const { quietSeconds, recoverySeconds } = limits;
  const serving = new Serving({
    judge,
    quietSeconds,
    recoverySeconds,
    predictions,
    artifacts,
    workflows,
    onAvailabilityChange: () => stages.look(),
  });
  const decisions = new DecisionLog();
  const ensembles = new EnsembleStats(limits);
  const metrics = new GatewayMetrics(serving, { traces, counts, ensembles });
  const open = new Set<AbortController>();
  let draining = false;

  const loopback = new LoopbackClient(() => modelServer());
  const service = {
    ...{ serving, limits, loopback, draining: () => draining },
    onRefused: (served: string | null, status: number, key: string | null) => metrics.recordRefused(served, status, key),
  };
  const ensembleCalls = new EnsembleCalls({ ...service, stats: ensembles });

  const audit = new AuditLog(stateDirectory);
  const untold = await audit.load();
  if (untold !== null) log.error({ reason: untold }, "starting without some audit entries");
  const stages = new StageWatch({
    serving,
    note: (line) => void audit.note(line).catch((err) => log.error({ err }, "an audit entry could not be written")),
  });
  const orders = new StudioOrders(stateDirectory, studio);
  const unreadable = await orders.load();
  if (unreadable !== null) log.error({ reason: unreadable }, "starting without the studio's orders");
  const configuration = new Configuration({
    serving,
    store: new ConfigStore(stateDirectory),
    orders,
    audit,
    log,
    onInstalled(config, etag) {
      controls.canary.installed(config);
      controls.capture.installed(config);
      ensembleCalls.installed();
      // After the audit line of the configuration itself.
      queueMicrotask(() => stages.look());
      const { planId, policyHash, replicas } = config;
      log.info({ planId, policyHash, replicas: replicas.length, etag }, "configuration in force");
    },
  });
  const unserved = await configuration.load();
  if (unserved !== null) log.error({ reason: unserved }, "starting without a configuration");
  await orders.begin();
  // After the configuration, which defines the speed of the engines' clock.
  await workflows.load();
  const controlsStore = new ControlsStore(stateDirectory);
  const unusable = await controlsStore.load(orders);
  if (unusable !== null) log.error({ reason: unusable }, "starting without some stored controls");
  const mutex = new Mutex();
  const controls = new Controls({ serving, store: controlsStore, audit, configuration, metrics, limits, mutex, log, stateDirectory });
  await controls.canary.resume();
  await controls.capture.resume();
  // Without this the first requests would not be predicted.
  await predictionService.settled;

  const onRequest = dataListener({
    ...service,
    ensembles: ensembleCalls,
    traces,
    version,
    open,
    bodies: new BodyMemoryBudget(limits.bodyBytesInAll),
    onBug: (error) => log.error({ err: error }, "a request failed on a bug of the gateway"),
    onShed(decision) {
      decisions.append(decision);
      metrics.recordShed(decision);
      if (!draining) controls.canary.finished(decision);
    },
    onDecision(served, decision) {
      decisions.append(decision);
      metrics.record(served, decision);
      if (!draining) controls.canary.finished(decision);
      const { id, status, reason } = decision;
      // Only these fields: prompts may appear in the records only.
      if (status >= 500) log.warn({ served, id, status, reason }, "request failed");
    },
  });
  const modelServer = (): Server => dataServer({ limits, onRequest, onUnreadable: (status) => metrics.recordRefused(null, status, null) });
  const data = modelServer();
  const admin = createServer(
    { keepAliveTimeout: limits.idleSeconds * 1000 },
    adminListener({
      serving,
      decisions,
      metrics,
      configuration,
      controls,
      audit,
      mutex,
      orders,
      featureLog,
      counts,
      ensembles,
      stages,
      version,
      token: adminToken,
    }),
  );
  try {
    await listen(data, dataPort);
    await listen(admin, adminPort);
  } catch (error) {
    data.close();
    serving.close();
    await workflows.close();
    throw error;
  }
  const dataUrl = urlOf(data);
  const adminUrl = urlOf(admin);
  log.info({ dataUrl, adminUrl, etag: configuration.etag, planId: serving.config?.planId ?? null }, "gateway is up");

  return {
    dataUrl,
    adminUrl,
    async close(drainSeconds = limits.drainSeconds) {
      draining = true;
      controls.close();
      stages.close();
      const closed = Promise.all([data, admin].map((server) => new Promise((resolve) => server.close(resolve))));
      const allOut = async (withinSeconds: number): Promise<void> => {
        const deadlineMs = performance.now() + withinSeconds * 1000;
        while (open.size > 0 && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, lookMs));
      };
      await allOut(drainSeconds);
      const cut = open.size;
      for (const request of open) request.abort("shutting-down" satisfies AbortKind);
      await allOut(farewellSeconds);
      data.closeAllConnections();
      admin.closeAllConnections();
      await loopback.close();
      await closed;
      await mutex.run(() =>
        Promise.all([controlsStore.written, audit.written, controls.capture.written, featureLog.written(), workflows.close()]),
      );
      serving.close();
      await traces?.close();
      return cut;
    },
  };
}

/** A port that another program listens on. */
export class PortTakenError extends Error {
  readonly kind = "port-taken";
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        error.code === "EADDRINUSE"
          ? new PortTakenError(`Port ${port} on ${address} is taken by another program; free it or choose another.`)
          : error,
      );
    });
    server.listen({ port, host: address, backlog }, resolve);
  });
}

function urlOf(server: Server): string {
  const { port } = server.address() as AddressInfo;
  return `http://${address}:${port}`;
}
