import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Logger } from "pino";
import type { AbortKind, Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayKey } from "@/server/contracts/gateway/gatewayKeys";
import { isLoopback } from "@/server/lib/clientAddress";
import type { RequestEnd } from "@/server/lib/requestEnd";
import { Roster } from "@/server/lib/roster";
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
import type { Inherited, LateEffect } from "./restart/messages";
import { leavePorts, type Successor } from "./restart/succession";
import { ConfigStore } from "./serving/configStore";
import { Configuration } from "./serving/configuration";
import { GraceWatch } from "./serving/graceWatch";
import { requestCharges } from "./serving/requestCost";
import { Serving } from "./serving/serving";
import { StageWatch } from "./serving/stageWatch";
import { StudioOrders, type TrustedStudio } from "./serving/studioOrders";
import { SharedRates } from "./shared/sharedRates";
import { ValkeyLink } from "./shared/valkeyLink";
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
  /** The Valkey over which several gateways share the use of limits; null or left out: this gateway shares nothing. */
  readonly sharing?: { readonly url: string; readonly scope: string } | null;
  /** What the process left that this one takes over from; null or left out: there was none. */
  readonly inherited?: Inherited | null;
  /** Receiver of the traces; absent: no tracing. Closed with the gateway. */
  readonly traces?: Traces | null;
}

export interface Gateway extends Successor {
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
  sharing = null,
  inherited = null,
  traces = null,
}: GatewayOptions): Promise<Gateway> {
  const limits = { ...defaultLimits, ...given };
  const link = sharing === null ? null : new ValkeyLink({ ...sharing, log });
  const rates = link === null ? null : new SharedRates(link, () => serving.callers.rates);
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
    callers: { startKeys, required: !isLoopback(dataHost), takeShared: rates?.take },
    onAvailabilityChange: () => stages.look(),
  });
  const decisions = new DecisionLog();
  const ensembles = new EnsembleStats(limits);
  const hosted = new HostedAccounts({ engines: () => serving.pool.all, nowMs, save: () => hostedFile.save() });
  const budgets = new KeyBudgets({ serving, nowMs, link, note: (line) => note(line) });
  const metrics = new GatewayMetrics(serving, { traces, counts, ensembles, budgets, link, hosted });
  const open = new Roster<RequestEnd>();
  let draining = false;
  /** Passes on what this process counts after it has handed over its state; null: it has it. */
  let passOn: ((effect: LateEffect) => void) | null = null;
  /** Whether another process listens, and this one serves the connections that it has. */
  let hasLeft = false;

  const loopback = new LoopbackClient(() => modelServer());
  const service = {
    ...{ serving, limits, loopback, draining: () => draining },
    onRefused: (served: string | null, status: number, key: string | null) => {
      if (passOn === null) metrics.recordRefused(served, status, key);
      else passOn({ kind: "refused", served, status, key });
    },
  };
  const ensembleCalls = new EnsembleCalls({ ...service, stats: ensembles });

  const audit = new AuditLog(stateDirectory);
  const untold = await audit.load();
  if (untold !== null) log.error({ reason: untold }, "starting without some audit entries");
  const note = (line: AuditNote): void => {
    if (passOn === null) void audit.note(line).catch((err) => log.error({ err }, "an audit entry could not be written"));
    else passOn({ kind: "note", note: line });
  };
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
    text: () => budgets.text,
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
  if (inherited !== null) serving.callers.restoreRates(new Map(inherited.rates));
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

  const shed = (served: string, decision: Omit<Decision, "sequence">): void => {
    decisions.append(decision);
    metrics.recordShed(served, decision);
    if (!draining) controls.canary.finished(decision);
  };
  const decided = (served: string, decision: Omit<Decision, "sequence">): void => {
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
  };
  /** Counts what this process did, or the one before it did late. */
  const count = (effect: LateEffect): void => {
    if (effect.kind === "decision") decided(effect.served, effect.decision);
    else if (effect.kind === "shed") shed(effect.served, effect.decision);
    else if (effect.kind === "refused") metrics.recordRefused(effect.served, effect.status, effect.key);
    else if (effect.kind === "note") note(effect.note);
    else if (effect.kind === "learning") featureLog.note(effect.line);
    else if (effect.kind === "hosted-use") hosted.store.change(effect.account, effect.change);
    else budgets.change(effect.sha256, effect.change);
  };

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
    closesConnections: () => draining || hasLeft,
    onShed: (served, decision) => (passOn ?? count)({ kind: "shed", served, decision }),
    onDecision: (served, decision) => (passOn ?? count)({ kind: "decision", served, decision }),
  });
  const onUnreadable = (status: number): void => service.onRefused(null, status, null);
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
      link,
      version,
      hosts,
    },
    token: adminToken,
    handsOver: () => passOn !== null,
    closesConnections: () => draining || hasLeft,
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
  await link?.begin();
  try {
    await listen(data, { host: dataHost, port: dataPort });
    await listen(admin, { host: ownAddress, port: adminPort });
  } catch (error) {
    data.close();
    serving.close();
    await link?.close();
    await Promise.all([workflows.close(), closeKeyFiles()]);
    throw error;
  }
  const [dataUrl, adminUrl] = [data, admin].map((server) => urlOf(server, tls === null ? "http" : "https")) as [string, string];
  log.info({ dataUrl, adminUrl, etag: configuration.etag, planId: serving.config?.planId ?? null }, "gateway is up");

  /** Stores all state. */
  const stored = (): Promise<unknown> =>
    mutex.run(() =>
      Promise.all([
        controlsStore.written,
        audit.written,
        controls.capture.written,
        featureLog.written(),
        workflows.close(),
        closeKeyFiles(),
      ]),
    );
  const stopWatches = (): void => {
    controls.close();
    stages.close();
    grace.close();
    refusals.flush();
  };

  return {
    dataUrl,
    adminUrl,
    take: (effect) => (passOn ?? count)(effect),
    async handOver(onLate) {
      stopWatches();
      passOn = onLate;
      featureLog.passOn((line) => onLate({ kind: "learning", line }));
      // Shared use is counted where it is shared.
      if (link === null) budgets.passOn((sha256, change) => onLate({ kind: "use", sha256, change }));
      hosted.passOn((account, change) => onLate({ kind: "hosted-use", account, change }));
      await stored();
      return { rates: serving.callers.rates.map(([sha256, bucket]) => [sha256, bucket.state(performance.now()).rest] as const) };
    },
    leave() {
      hasLeft = true;
      return leavePorts([data, admin], limits.requestSeconds);
    },
    async close(drainSeconds = limits.drainSeconds) {
      draining = true;
      if (passOn === null) stopWatches();
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
      // Before the files, which then hold what is left to this gateway.
      await link?.close();
      // Another process has them by now.
      if (passOn === null) await stored();
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
