import { addonsFolder } from "@/server/addons/addonFolder";
import { createAddonKeeper } from "@/server/addons/addonKeeper";
import { createAnswerLabelService, type ServedAnswers } from "@/server/api/answerLabels/answerLabelService";
import { createAttachService } from "@/server/api/clusters/attachService";
import { createClusterService } from "@/server/api/clusters/clusterService";
import { createBatchService } from "@/server/api/ensembles/batchService";
import { createEnsembleService } from "@/server/api/ensembles/ensembleService";
import type { ControlledGateway } from "@/server/api/gateway/gatewayActs";
import { createGatewayKeyService } from "@/server/api/gateway/gatewayKeyService";
import { createGatewayService } from "@/server/api/gateway/gatewayService";
import { createWorkflowsService } from "@/server/api/gateway/workflowsService";
import { createCalibrationService } from "@/server/api/hardware/calibrationService";
import { createCardService } from "@/server/api/hardware/cardService";
import { createMeasuringService } from "@/server/api/hardware/measuringService";
import { createArtefactService } from "@/server/api/lab/artefactService";
import { createLabService } from "@/server/api/lab/labService";
import { createLiveService } from "@/server/api/live/liveService";
import { createLoadService } from "@/server/api/live/loadService";
import { createPeopleService } from "@/server/api/people/peopleService";
import { createApplicationService } from "@/server/api/plans/applicationService";
import { createPlanService } from "@/server/api/plans/planService";
import { createProposalService } from "@/server/api/plans/proposalService";
import { createScheduleService } from "@/server/api/plans/scheduleService";
import { createProfileService } from "@/server/api/profiling/profileService";
import { createPromptService } from "@/server/api/profiling/promptService";
import { createTrustService } from "@/server/api/profiling/trustService";
import type { Services } from "@/server/api/routers/services";
import { createDeclaredWorkflowService } from "@/server/api/workloads/declaredWorkflowsService";
import { createWorkloadService } from "@/server/api/workloads/workloadService";
import { endStaleStreams } from "@/server/auth/endStaleStreams";
import { identify } from "@/server/auth/identify";
import { type OidcSettings, oidcSettings } from "@/server/auth/oidc/oidcSettings";
import { createOidcSignIn, type OidcSignIn } from "@/server/auth/oidc/oidcSignIn";
import { createOpenStreams, type OpenStreams } from "@/server/auth/openStreams";
import { mintSignInLink, type NewSession, signIn } from "@/server/auth/signIn";
import { createBatches } from "@/server/batches/createBatches";
import { createCalibrationSource } from "@/server/calibration/calibrationSource";
import { type CardStore, createCardStore } from "@/server/cards/cardStore";
import { createApplyRunner } from "@/server/clusters/apply/applyRunner";
import { regressionCheck } from "@/server/clusters/watch/regressionCheck";
import { createSchedules } from "@/server/clusters/watch/schedules";
import { watchVerifications } from "@/server/clusters/watch/verificationWatch";
import { allowedAddresses } from "@/server/contracts/engine/guardedConnector";
import { secretOrigins } from "@/server/contracts/engine/secretOrigins";
import type { Caller } from "@/server/contracts/studio";
import { mappingsInForce } from "@/server/engines/mappingsInForce";
import { createFleet, type StudioFleet } from "@/server/fleet/createFleet";
import { createDriftWatch } from "@/server/fleet/driftWatch";
import { embeddedClusterId } from "@/server/fleet/fleet";
import { launcher, noopRunner } from "@/server/fleet/gatewayBeside";
import { createJudgeMonitor } from "@/server/judges/judgeMonitor";
import { reasonOf } from "@/server/lib/reasonOf";
import { type StudioSettings, studioSettings } from "@/server/lib/studioSettings";
import { isSecure } from "@/server/lib/verifiedHeaders";
import type { ArrivalsGround } from "@/server/planning/arrivals/findArrivals";
import { previewArrivals } from "@/server/planning/arrivals/previewArrivals";
import { createPlanner } from "@/server/planning/planner/planner";
import { createPlanningService } from "@/server/planning/planningService";
import { processObstacle } from "@/server/processes/processFindings";
import { createUnitTests } from "@/server/profiling/measures/unitTests";
import { createPredictionMonitor, type PromiseSource } from "@/server/proposals/predictionMonitor";
import { createTrafficWatch } from "@/server/proposals/trafficWatch";
import { createRealSetup } from "@/server/realSetup/realSetup";
import { setupSteps } from "@/server/realSetup/setupSteps";
import { secretsInUse } from "@/server/secretsInUse";
import { seedStore } from "@/server/seedStore";
import { lockStateFolder } from "@/server/store/lockStateFolder";
import { openStore } from "@/server/store/store";
import { createUploads, type Uploads } from "@/server/store/uploads";
import { createStudioMetrics } from "@/server/telemetry/studioMetrics";
import { heldOutOutcomes } from "@/server/workloads/heldOutOutcomes";
import { loadWorkload } from "@/server/workloads/storedWorkloads";

/** Everything that lives as long as the studio's process. */
export interface Runtime {
  readonly services: Services;
  readonly uploads: Uploads;
  readonly cards: CardStore;
  /** Who sends a request; null: nobody who is signed in or has a valid API token. */
  readonly callerOf: (headers: Headers) => Caller | null;
  /** Trades a sign-in token for a session; null when it is used, expired or unknown. */
  readonly signIn: (token: string) => NewSession | null;
  /** null: people sign in by links alone. */
  readonly oidc: OidcSignIn | null;
  readonly openStreams: OpenStreams;
  readonly signInLink: () => string;
  /** The studio's own metrics, for Prometheus. */
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
  /** Ends streams, load and workers; running applications are resumed at the next start. */
  close(): Promise<void>;
}

/** A stream or a worker that does not end must not keep the process. */
const closeLimitMs = 4_000;

/**
 * Puts the studio together from its rooms.
 *
 * @throws Error with one sentence when the state folder cannot be written, another studio uses it, or the client secret cannot be read.
 */
export function createRuntime(settings: StudioSettings, oidcOptions: OidcSettings | null = null): Runtime {
  const { stateDir, studioUrl } = settings;
  const openStreams = createOpenStreams();
  const store = openStore(stateDir);
  const unlock = lockStateFolder(stateDir);
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const oidc =
    oidcOptions === null ? null : createOidcSignIn({ settings: oidcOptions, store, studioUrl, endStreams: openStreams.end, log });
  secretOrigins.keepIn(stateDir);
  secretOrigins.begin(secretsInUse(store, settings));
  const uploads = createUploads(stateDir);
  const cards = createCardStore(stateDir);
  const metrics = createStudioMetrics({
    frames: () => fleet.list().flatMap((cluster) => cluster.collector()?.frames().at(-1) ?? []),
    applications: store.applications,
    series: () => fleet.seriesStates(),
    promises: () =>
      fleet.list().flatMap(({ id: cluster }) => {
        const report = promises.report(cluster);
        return report === null ? [] : [{ cluster, report }];
      }),
  });
  const planner = metrics.counting(createPlanner({ warm: true }));
  const labels = new Map<string, number>();
  const labelOf = (decision: { readonly id: string }) => labels.get(decision.id) ?? null;
  const fleet: StudioFleet = createFleet({
    ...{ store, cards, settings, labelOf, environment: process.env, onScrape: metrics.recordScrape },
    gateways: settings.isLaunched ? launcher((line) => process.stdout.write(`${line}\n`)) : noopRunner,
    suggested: seedStore(store),
    heldOutOutcomes(workloadId) {
      const workload = loadWorkload(store, workloadId);
      // Named by id: a plan's workload is recognised by it.
      return workload === null ? null : heldOutOutcomes({ ...workload, name: workloadId });
    },
  });
  const drifts = createDriftWatch({ store, fleet });
  const clusterOf = fleet.get;
  const connectorOf = (clusterId: string) => fleet.get(clusterId)?.connector ?? null;
  const runner = createApplyRunner({
    store,
    connectorOf,
    onEnd: ({ clusterId }) => fleet.get(clusterId)?.collector()?.beginWindow(),
    watchOf(clusterId) {
      const frame = fleet.get(clusterId)?.collector()?.frames().at(-1);
      return frame === undefined ? null : regressionCheck(frame, frame.planId === null ? null : store.plans.get(frame.planId));
    },
  });
  const gatewayOf = (clusterId: string): ControlledGateway | null => {
    const cluster = fleet.get(clusterId);
    if (cluster === null) return null;
    const { gateway: admin, gatewayAdminUrl: adminUrl, audit, collector } = cluster;
    return {
      admin,
      ...(clusterId === embeddedClusterId ? {} : { adminUrl }),
      audit,
      look: async () => collector()?.askGateway(),
      models: () => collector()?.models() ?? null,
    };
  };
  const load = createLoadService({ store, clusterOf, labels });
  runner.resumeAll();
  const judges = createJudgeMonitor({ store, clusterOf });
  const planning = createPlanningService(store, planner, cards, judges);
  const trafficOf = (clusterId: string): PromiseSource | null => {
    const cluster = fleet.get(clusterId);
    const collector = cluster?.collector() ?? null;
    if (cluster === null || collector === null) return null;
    const { decisions, mirrored, frames } = collector;
    const { emulated } = cluster.connector;
    const known = { labelOf, emulated, emulatedAsPlanned: emulated && !cluster.deviates() };
    return { ...known, decisions, mirrored, timeScale: cluster.timeScale(), frame: () => frames().at(-1) ?? null };
  };
  const watch = createTrafficWatch({ store, planning, sourceOf: trafficOf });
  const promises = createPredictionMonitor({ store, planner, trafficOf: watch.traffic, sourceOf: trafficOf });
  const endStreamWatch = endStaleStreams(store, openStreams);
  const endVerifying = watchVerifications({
    store,
    runner,
    reportOf: promises.report,
    timeScaleOf: (clusterId) => fleet.get(clusterId)?.timeScale() ?? 1,
  });

  const arrivals: ArrivalsGround = {
    openUpload: uploads.open,
    workloadOf: (workloadId) => loadWorkload(store, workloadId),
    clusterOf,
    clusterName: (clusterId) => store.clusters.get(clusterId)?.spec.name ?? clusterId,
  };

  const prompts = createPromptService({ store, uploads, gatewayOf });
  const sourceOf = createCalibrationSource({ clusterOf, store });
  const { WEIR_ROOT, WEIR_SECRETS_DIR } = process.env;
  const unitTests = createUnitTests([stateDir, WEIR_ROOT ?? process.cwd(), ...(WEIR_SECRETS_DIR ? [WEIR_SECRETS_DIR] : [])]);
  const profiles = createProfileService({ store, uploads, cards, clusterOf, arrivals, sourceOf, unitTests });
  const calibrations = createCalibrationService({ store, uploads, cards, sourceOf });
  const attach = createAttachService({
    store,
    fleet,
    drifts,
    cards,
    judges,
    hosts: { stateDir, environment: process.env, gpuCards: () => cards.read().catalogue.gpus },
  });
  const measuring = createMeasuringService({ store, cards, fleet, keep: calibrations.keep });
  const folder = addonsFolder(process.env);
  const addons = createAddonKeeper(folder);
  const places = { root: WEIR_ROOT ?? process.cwd(), node: process.execPath, addonsFolder: folder };
  const steps = setupSteps({ store, cards, fleet, attach, stateDir, uploads, prompts, profiles, calibrations, measuring, addons, places });
  const realSetup = createRealSetup({
    ...{ store, fleet, addons, steps, detach: attach.detach, putInUse: calibrations.use },
    obstacle: () => processObstacle(process.env),
  });
  const applications = createApplicationService(store, runner);
  const lab = createLabService({ store, cards });
  const artefacts = createArtefactService({ store, uploads, clusterOf, gatewayOf });
  const plans = createPlanService({ store, clusterOf, planning });
  const answersOf = (clusterId: string): ServedAnswers | null => {
    const collector = fleet.get(clusterId)?.collector() ?? null;
    return collector && { decisions: () => collector.decisions(Number.MAX_SAFE_INTEGER), routing: collector.routing };
  };
  const batchRuns = createBatches({ store, clusterOf, cards });
  const batches = createBatchService({ store, uploads, cards, clusterOf, batches: batchRuns });
  batchRuns.resumeAll();
  const schedules = createSchedules({ store, clusterOf, start: applications.start });

  return {
    services: {
      workloads: createWorkloadService({ store, uploads, cards, arrivals }),
      clusters: createClusterService({ store, fleet, drifts, cards }),
      attach,
      plans,
      applications,
      proposals: createProposalService(store),
      promises,
      live: createLiveService({ clusterOf, store }),
      gateway: createGatewayService({ store, gatewayOf, clusterOf, planning }),
      workflows: createWorkflowsService(clusterOf),
      declaredWorkflows: createDeclaredWorkflowService(store),
      load,
      cards: createCardService(store, cards),
      calibrations,
      measuring,
      prompts,
      profiles,
      trust: createTrustService({ store, decisionsOf: (id, limit) => fleet.get(id)?.collector()?.decisions(limit) ?? [] }),
      answerLabels: createAnswerLabelService({ store, answersOf, plans }),
      arrivals: { preview: (order) => previewArrivals(order, arrivals) },
      realSetup,
      schedules: createScheduleService({ store, clusterOf }),
      lab,
      artefacts,
      ensembles: createEnsembleService({ store, uploads, cards, gatewayOf }),
      batches,
      audit: store.audit,
      people: createPeopleService({ store, endStreams: openStreams.end }),
      gatewayKeys: createGatewayKeyService({ store, gatewayOf }),
    },
    uploads,
    cards,
    callerOf: (headers) => identify(store, headers, isSecure(headers)),
    signIn: (token) => signIn(store, token),
    oidc,
    openStreams,
    signInLink: () => mintSignInLink(store, studioUrl),
    metrics: () => metrics.exposition(),
    async close() {
      drifts.close();
      judges.close();
      prompts.close();
      lab.close();
      endVerifying();
      endStreamWatch();
      await schedules.close();
      await realSetup.close();
      await profiles.close();
      await batchRuns.close();
      artefacts.close();
      await Promise.all([runner.close(), load.close(), watch.close(), promises.close(), planner.close(), fleet.close()]);
      store.close();
      unlock();
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

/** Next would go on without it, and show the stack in place of the sentence. */
function createdOrExit(): Runtime {
  try {
    allowedAddresses();
    const settings = studioSettings(process.env);
    return createRuntime(settings, oidcSettings(process.env, settings.studioUrl));
  } catch (problem) {
    process.stderr.write(`${reasonOf(problem)}\n`);
    process.exit(1);
  }
}

/** Starts the runtime once, prints where to sign in, and ends the process in order on SIGTERM and SIGINT; at once where it cannot start. */
export function startRuntime(): void {
  if (holder[key] !== undefined) return;
  const started = createdOrExit();
  holder[key] = started;
  const { problem } = mappingsInForce();
  if (problem !== null) process.stderr.write(`${problem}\n`);
  process.stdout.write(`SIGN-IN ${started.oidc === null ? started.signInLink() : new URL("/sign-in", started.oidc.startUrl).href}\n`);
  const end = (): void => {
    setTimeout(() => process.exit(0), closeLimitMs).unref();
    void started.close().finally(() => process.exit(0));
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
}
