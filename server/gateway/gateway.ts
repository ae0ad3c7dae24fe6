import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Logger } from "pino";
import type { AbortKind } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayKey } from "@/server/contracts/gateway/gatewayKeys";
import { isLoopback } from "@/server/lib/clientAddress";
import type { Ending } from "@/server/lib/requestEnd";
import { createTlsServer, type TlsFiles } from "@/server/lib/tlsServer";
import { version } from "../../package.json";
import { adminListener } from "./admin/adminListener";
import { RefusalNotes } from "./admin/refusalNotes";
import { HostedAccounts } from "./budgets/hostedAccounts";
import { KeyBudgets } from "./budgets/keyBudgets";
import { rowsOf } from "./budgets/keyUseDay";
import { KeyUseFiles } from "./budgets/keyUseFiles";
import { ClientPace } from "./clients/clientPace";
import { Controls } from "./controls/controls";
import { ControlsStore } from "./controls/controlsStore";
import { dataListener } from "./dataListener";
import { Dialects } from "./dialects/dialects";
import { EnsembleCalls } from "./ensembles/ensembleCalls";
import { EnsembleStats } from "./ensembles/ensembleStats";
import { BodyMemoryBudget } from "./http/bodyMemoryBudget";
import { dataServer, overTls } from "./http/dataServer";
import { keyUseFile } from "./http/keyUseFile";
import { defaultLimits, type GatewayLimits } from "./http/limits";
import { LoopbackClient } from "./http/loopbackClient";
import { AuditLog, type AuditNote } from "./lib/auditLog";
import { DecisionLog } from "./lib/decisionLog";
import { Mutex } from "./lib/mutex";
import { SavedFile } from "./lib/savedFile";
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
import { GraceWatch } from "./serving/graceWatch";
import { requestCharges } from "./serving/requestCost";
import { Serving } from "./serving/serving";
import { StageWatch } from "./serving/stageWatch";
import { StudioOrders, type TrustedStudio } from "./serving/studioOrders";
import { WorkflowTracker } from "./workflows/workflowTracker";

export interface GatewayOptions {
  /** Address that the data port listens on; left out: this machine's own. One that other machines reach needs keys. */
  readonly dataHost?: string;
  /** 0 takes any free port. */
  readonly dataPort: number;
  readonly adminPort: number;
  readonly stateDirectory: string;
  /** File of the studio beside it with the origins of secrets; absent: the gateway keeps its own in its state folder. */
  readonly secretOriginsFile?: string | null;
  /** Whole paths of encoders whose embeddings predictors may read; left out: none. */
  readonly encoderFolders?: readonly string[];
  /** The studio whose signed orders are followed; null: everybody with the admin token may put plans into force. */
  readonly studio: TrustedStudio | null;
  /** Bearer token of the admin listener; null lets every local caller in, which a gateway in a process of its own does not do. */
  readonly adminToken: string | null;
  /** Certificate of both ports; left out: plain HTTP alone. */
  readonly tls?: TlsFiles | null;
  /** API keys that are in force while the configuration names none. */
  readonly startKeys?: readonly GatewayKey[] | undefined;
  /** Names under which clients may know the gateway, in small letters, beside its addresses. */
  readonly hosts?: ReadonlySet<string>;
  readonly log: Logger;
  readonly limits?: Partial<GatewayLimits>;
  /** Unix milliseconds by which windows of keys' limits begin and end; left out: the system's clock. */
  readonly nowMs?: () => number;
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

/** A crash loses the use of limits in one interval; what was in flight at its beginning counts as used. */
const budgetSaveMs = 1_000;
const ownAddress = "127.0.0.1";
/**
 * Connections that may wait to be accepted while the gateway is busy; the system resets further ones. Node's default of 511 covers two
 * seconds of a busy machine.
 */
const backlog = 4096;
/** Interval at which an ending gateway checks whether everything is answered. */
const lookMs = 20;
/** Time for the last error bodies to reach clients that read. */
const farewellSeconds = 1;

/** Starts the gateway with its last configuration. Rejects if a port is taken, or if the data port needs keys and there are none. */
export async function startGateway({
  dataHost = ownAddress,
  dataPort,
  adminPort,
  stateDirectory,
  secretOriginsFile = null,
  encoderFolders = [],
  studio,
  adminToken,
  tls: tlsFiles = null,
  startKeys,
  hosts = new Set(),
  log,
  limits: given,
  nowMs = Date.now,
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
    stateDirectory,
    secretOriginsFile,
    judge,
    quietSeconds,
    recoverySeconds,
    predictions,
    artifacts,
    workflows,
    callers: { startKeys, required: !isLoopback(dataHost) },
    onAvailabilityChange: () => stages.look(),
  });
  const decisions = new DecisionLog();
  const ensembles = new EnsembleStats(limits);
  const hosted = new HostedAccounts({ engines: () => serving.pool.all, nowMs, save: () => hostedFile.save() });
  const budgets = new KeyBudgets({ serving, nowMs, note: (line) => note(line) });
  const metrics = new GatewayMetrics(serving, { traces, counts, ensembles, budgets, hosted });
  const open = new Set<Pick<Ending, "abort">>();
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
  const note = (line: AuditNote) => void audit.note(line).catch((err) => log.error({ err }, "an audit entry could not be written"));
  const stages = new StageWatch({ serving, note });
  const grace = new GraceWatch({ serving, note });
  const refusals = new RefusalNotes(note);
  const orders = new StudioOrders(stateDirectory, studio, (request, refusal) => refusals.add(request, refusal));
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
  const keyUses = keyUseFile(stateDirectory, {
    callers: serving.callers,
    onProblem: (err) => log.error({ err }, "the last uses of keys could not be stored"),
  });
  const { store } = budgets;
  const budgetFile = new SavedFile(join(stateDirectory, "key-budgets.json"), {
    everyMs: budgetSaveMs,
    text: () => store.text,
    restore: (text) => store.restore(text),
    onProblem: (err) => log.error({ err }, "the use of keys' limits could not be read or stored"),
  });
  const hostedFile = new SavedFile(join(stateDirectory, "hosted-budgets.json"), {
    everyMs: budgetSaveMs,
    text: () => hosted.store.text,
    restore: (text) => hosted.store.restore(text),
    onProblem: (err) => log.error({ err }, "the money spent at providers could not be read or stored"),
  });
  const keyUsage = new KeyUseFiles(stateDirectory, {
    nowMs,
    onProblem: (err) => log.error({ err }, "the use of keys by day could not be read or stored"),
  });
  const keyFiles = [keyUses, budgetFile, hostedFile, keyUsage];
  const closeKeyFiles = () => Promise.all(keyFiles.map((file) => file.close()));
  await keyUses.load();
  await budgetFile.load();
  await hostedFile.load();
  keyUsage.begin();
  const keyless = serving.callers.keysRefusal(configuration.current?.settings?.keys);
  if (keyless !== null) {
    serving.close();
    await closeKeyFiles();
    throw new Error(keyless);
  }
  // After the configuration, which defines the speed of the engines' clock.
  await workflows.load();
  const controlsStore = new ControlsStore(stateDirectory);
  const unusable = await controlsStore.load(orders);
  if (unusable !== null) log.error({ reason: unusable }, "starting without some stored controls");
  const mutex = new Mutex();
  const bodies = new BodyMemoryBudget(limits.bodyBytesInAll);
  const shared = { serving, audit, configuration, metrics, limits, bodies, mutex, log, stateDirectory };
  const controls = new Controls({ ...shared, store: controlsStore });
  await controls.canary.resume();
  await controls.capture.resume();
  // Without this the first requests would not be predicted.
  await predictionService.settled;

  const pace = new ClientPace(limits);
  const dialects = new Dialects(limits);
  const onRequest = dataListener({
    ...service,
    ensembles: ensembleCalls,
    dialects,
    traces,
    version,
    hosts,
    open,
    bodies,
    pace,
    budgets,
    hosted,
    onBug: (error) => log.error({ err: error }, "a request failed on a bug of the gateway"),
    onShed(served, decision) {
      decisions.append(decision);
      metrics.recordShed(served, decision);
      if (!draining) controls.canary.finished(decision);
    },
    onDecision(served, decision) {
      if (decision.stages.some(({ plannedThreshold }) => plannedThreshold !== undefined)) grace.look();
      decisions.append(decision);
      metrics.record(served, decision);
      if (decision.key !== undefined && serving.config !== null) {
        const charges = requestCharges(decision.stages, decision.inputTokens ?? 0, serving.config);
        keyUsage.add(rowsOf(decision, charges));
        metrics.recordKeyUse(decision, charges);
      }
      if (!draining) controls.canary.finished(decision);
      const { id, status, reason } = decision;
      // Only these fields: prompts may appear in the records only.
      if (status >= 500) log.warn({ served, id, status, reason }, "request failed");
    },
  });
  const onUnreadable = (status: number): void => metrics.recordRefused(null, status, null);
  const tls = tlsFiles === null ? null : { files: tlsFiles, onProblem: (sentence: string) => log.error(sentence) };
  const modelServer = (): Server => dataServer({ limits, onRequest, onUnreadable });
  const data = dataServer({ limits, onRequest, onUnreadable, tls });
  pace.boundConnections(data);
  const onAdminRequest = adminListener({
    ...{
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
      budgets,
      keyUsage,
      version,
      hosts,
    },
    token: adminToken,
    // The data port's clients do not slow it down.
    pace: new ClientPace(limits),
    refusals,
  });
  const adminOptions = {
    keepAliveTimeout: limits.idleSeconds * 1000,
    headersTimeout: limits.arrivalSeconds * 1000,
    requestTimeout: 2 * limits.arrivalSeconds * 1000,
  };
  const admin =
    tls === null
      ? createServer(adminOptions, onAdminRequest)
      : createTlsServer({ ...tls, options: adminOptions }).on("request", overTls(onAdminRequest));
  try {
    await listen(data, { host: dataHost, port: dataPort });
    await listen(admin, { host: ownAddress, port: adminPort });
  } catch (error) {
    data.close();
    serving.close();
    await Promise.all([workflows.close(), closeKeyFiles()]);
    throw error;
  }
  const [dataUrl, adminUrl] = [data, admin].map((server) => urlOf(server, tls === null ? "http" : "https")) as [string, string];
  log.info({ dataUrl, adminUrl, etag: configuration.etag, planId: serving.config?.planId ?? null }, "gateway is up");

  return {
    dataUrl,
    adminUrl,
    async close(drainSeconds = limits.drainSeconds) {
      draining = true;
      controls.close();
      stages.close();
      grace.close();
      refusals.flush();
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
        Promise.all([
          controlsStore.written,
          audit.written,
          controls.capture.written,
          featureLog.written(),
          workflows.close(),
          closeKeyFiles(),
        ]),
      );
      serving.close();
      dialects.close();
      await traces?.close();
      return cut;
    },
  };
}

/** A port that another program listens on. */
export class PortTakenError extends Error {
  readonly kind = "port-taken";
}

function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        error.code === "EADDRINUSE"
          ? new PortTakenError(`Port ${port} on ${host} is taken by another program; free it or choose another.`)
          : error,
      );
    });
    server.listen({ port, host, backlog }, resolve);
  });
}

function urlOf(server: Server, scheme: string): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
