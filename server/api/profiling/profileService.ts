import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { CalibrationSource } from "@/server/calibration/calibrationSource";
import { shapeOf } from "@/server/calibration/liveServingRows";
import { createConnectionPool } from "@/server/calls/upstream";
import { secretOrigins } from "@/server/contracts/engine/secretOrigins";
import type { Outcome, ProfileEstimate, ProfileJob, ProfileRequest } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";
import type { ArrivalsGround } from "@/server/planning/arrivals/findArrivals";
import { resolveArrivals } from "@/server/planning/arrivals/resolveArrivals";
import { answererKey, type PoolContext, type ProfiledCluster } from "@/server/profiling/answererPool";
import { describeJob } from "@/server/profiling/describeJob";
import { estimateProfile, type SeenAnswers } from "@/server/profiling/estimateProfile";
import type { LaneLimits } from "@/server/profiling/lane";
import { measuredRuns } from "@/server/profiling/measuredRuns";
import { createMeasureReadings, measureProblem } from "@/server/profiling/measures/readings";
import type { UnitTests } from "@/server/profiling/measures/unitTests";
import { profileProblems, profileUses } from "@/server/profiling/profileProblems";
import { type ProfileRun, resumeProfile } from "@/server/profiling/profileRun";
import { countedReadings, profileShape } from "@/server/profiling/profileShape";
import { measuresProblem } from "@/server/profiling/profileTable";
import { Tally } from "@/server/profiling/tally";
import { WorkloadsInMaking } from "@/server/profiling/workloadsInMaking";
import type { StoredProfile } from "@/server/store/profileRepository";
import { storePacked } from "@/server/workloads/storedWorkloads";
import { type LiveRow, liveTable } from "@/solver/calibration/liveRows";
import { mean } from "@/solver/numeric/quantile";
import type { Actor } from "../base/actor";
import type { ProfileToWorkload } from "../base/profilingInputs";
import type { ServiceParts } from "../base/serviceParts";

/** An answer of a loaded engine may wait in a queue for minutes; a longer silence means that it hangs. */
const SILENCE_MS = 300_000;

export interface ProfileServiceParts extends ServiceParts {
  /** null: the studio is not connected to it. */
  readonly clusterOf: (clusterId: string) => ProfiledCluster | null;
  readonly arrivals: ArrivalsGround;
  readonly sourceOf: CalibrationSource;
  readonly unitTests: UnitTests;
  readonly silenceMs?: number;
  readonly limits?: Partial<LaneLimits>;
}

/**
 * Profiles: estimated, run, and made into workloads. Jobs that were running when the studio ended continue at once; paused ones stay
 * paused.
 */
export function createProfileService(parts: ProfileServiceParts) {
  const { store, cards, arrivals, clusterOf, uploads, unitTests } = parts;
  const connections = createConnectionPool(parts.silenceMs ?? SILENCE_MS);
  const clusterName = (clusterId: string) => store.clusters.get(clusterId)?.spec.name ?? clusterId;
  const ground: PoolContext = { clusterOf, clusterName, connections };
  const measures = createMeasureReadings(unitTests);
  const runParts = { ...ground, store, measures, ...(parts.limits && { limits: parts.limits }) };
  const runs = new Map<string, ProfileRun>();
  const tallies = new Map<string, Tally>();
  const stopping = new Set<Promise<unknown>>();
  const closing = new AbortController();
  const making = new WorkloadsInMaking(closing.signal);
  const note = store.audit.noting("profile");

  async function resumeOne(profile: StoredProfile): Promise<void> {
    const run = await resumeProfile(profile, runParts);
    if (closing.signal.aborted) await run.close();
    else runs.set(profile.id, run);
  }

  const open = store.profiles.list().filter(({ state }) => state === "running" || state === "paused");
  const resumed = Promise.all(
    open.map((profile) =>
      resumeOne(profile).catch((error: unknown) => {
        process.stderr.write(`The profile ${profile.id} could not be resumed: ${reasonOf(error)}\n`);
      }),
    ),
  );

  /** The tally of a job without a run: cached if nothing more is added to it. */
  function tallyOf({ id, request, state }: StoredProfile): Tally {
    const known = tallies.get(id);
    if (known !== undefined) return known;
    const tally = new Tally(store.profiles.groups(id), (measureId) =>
      countedReadings(request.measures.find((one) => one.id === measureId)),
    );
    if (state === "done" || state === "stopped") tallies.set(id, tally);
    return tally;
  }

  /** The run of a job that has not ended. */
  function runOf(id: string): ProfileRun | null {
    const run = runs.get(id);
    if (run === undefined || !run.isOver) return run ?? null;
    runs.delete(id);
    return null;
  }

  function describe(profile: StoredProfile, workloads: ReturnType<typeof store.workloads.list>): ProfileJob {
    const run = runOf(profile.id);
    const set = store.prompts.get(profile.promptSetId);
    const workloadIds = workloads.filter(({ profileId }) => profileId === profile.id).map(({ id }) => id);
    const shape = profileShape(profile.request, set?.prompts ?? 0, measures);
    return describeJob({ profile, set, shape, tally: run?.tally ?? tallyOf(profile), run, workloadIds });
  }

  /** Known answers of a model from earlier profiles, or else from workloads. */
  function seenOf(model: string): SeenAnswers | null {
    const seen = store.profiles.seenOf(model);
    if (seen !== null) return { ...seen, from: `${seen.answers} answers of earlier profiles` };
    const means = store.workloads
      .list()
      .flatMap(({ models }) => models.filter((one) => one.model === model).map((one) => one.meanOutputTokens));
    return means.length === 0 ? null : { outputTokens: mean(means), seconds: null, from: "workloads that have it" };
  }

  async function estimate(request: ProfileRequest) {
    const set = store.prompts.get(request.promptSetId);
    const problems = await profileProblems(request, set, {
      ground,
      measureProblem: (measure) => measureProblem(measure, unitTests),
      signal: closing.signal,
    });
    const nothing = { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0, seconds: 0, basis: [] };
    const timeScales = new Map(
      [...request.models, ...request.measures.flatMap((measure) => ("judge" in measure ? measure.judge : []))].map((answerer) => {
        const { at } = answerer;
        return [answererKey(answerer), at.kind === "cluster" ? (clusterOf(at.clusterId)?.timeScale() ?? 1) : 1];
      }),
    );
    const timeScaleOf = (answerer: ProfileRequest["models"][number]) => timeScales.get(answererKey(answerer)) ?? 1;
    return { ...(set === null ? nothing : estimateProfile({ request, set, measures, seenOf, timeScaleOf })), problems };
  }

  /** Runs an action on a job that has not ended; refused with a sentence if it has, or is in another state. */
  function act(id: string, wanted: readonly ProfileJob["state"][], what: string, run: (job: ProfileRun, profile: StoredProfile) => void) {
    const profile = store.profiles.get(id);
    if (profile === null) return { ok: false as const, message: `There is no profile ${id}.` };
    const job = runOf(id);
    if (job === null) {
      const isOpen = profile.state === "running" || profile.state === "paused";
      const why = isOpen ? "is resuming: try again in a moment" : `is ${profile.state === "done" ? "done" : "stopped"}`;
      return { ok: false as const, message: `"${profile.request.name}" ${why}.` };
    }
    if (!wanted.includes(job.state))
      return { ok: false as const, message: `"${profile.request.name}" is ${job.state}, so it cannot be ${what}.` };
    run(job, profile);
    return { ok: true as const };
  }

  /** Rows from the answers of each engine of a cluster with known hardware; why there are none. */
  async function rowsOn(
    clusterId: string,
    profile: StoredProfile,
  ): Promise<{ readonly rows: readonly LiveRow[]; readonly older: number; readonly problem: string }> {
    const source = await parts.sourceOf(clusterId);
    if (!source.ok) return { rows: [], older: 0, problem: source.message };
    const models = profile.request.models.filter(({ at }) => at.kind === "cluster" && at.clusterId === clusterId).map(({ model }) => model);
    const answers = store.profiles.answers(profile.id);
    const rows: LiveRow[] = [];
    let problem = "No engine gave twenty answers under like load.";
    let older = 0;
    for (const engine of source.cluster.engines.filter(({ model }) => models.includes(model))) {
      const shape = shapeOf(engine, source.cluster, cards.read().catalogue);
      if (typeof shape === "string") {
        problem = `${engine.id}: ${shape}`;
        continue;
      }
      const own = answers.filter((one) => one.engine === engine.id && one.model === engine.model);
      // Its earlier configuration is not known: it may have had other GPUs.
      const known = own.filter(({ at }) => Date.parse(at) >= engine.knownSinceMs);
      older += own.length - known.length;
      rows.push(...measuredRuns(known, shape, engine.id));
    }
    if (rows.length === 0 && older > 0)
      problem = `${older} answers are older than what is known of the engines that gave them: those were started or attached again since.`;
    return { rows, older, problem };
  }

  return {
    estimate: async (request: ProfileRequest): Promise<Outcome<{ readonly estimate: ProfileEstimate }>> => ({
      ok: true,
      estimate: await estimate(request),
    }),
    async start(request: ProfileRequest, actor: Actor): Promise<Outcome<{ readonly id: string }>> {
      for (const use of secretOrigins.enter(profileUses(request)))
        note(actor, "enter key", secretOrigins.nameOf(use.key), `for ${use.origin}`);
      const { problems, usd } = await estimate(request);
      const [problem] = problems;
      if (problem !== undefined) return { ok: false, message: problem };
      const id = randomUUID();
      const createdAt = new Date().toISOString();
      const profile: StoredProfile = {
        ...{ id, createdAt, actor, promptSetId: request.promptSetId, request, state: "running", pause: null },
        withoutLogprobs: null,
      };
      store.atomically(() => {
        store.profiles.insert(profile);
        const cap = request.capUsd === null ? "no cap" : `a cap of $${request.capUsd}`;
        note(
          actor,
          "start profile",
          { subject: request.name, objectId: id },
          `${request.models.map(({ model }) => model).join(", ")}; about $${usd.toPrecision(3)}, ${cap}`,
        );
      });
      await resumeOne(profile);
      return { ok: true, id };
    },
    /** Newest first. */
    list(): readonly ProfileJob[] {
      const workloads = store.workloads.list();
      return store.profiles.list().map((profile) => describe(profile, workloads));
    },
    get(id: string): ProfileJob | null {
      const profile = store.profiles.get(id);
      return profile === null ? null : describe(profile, store.workloads.list());
    },
    pause: (id: string, actor: Actor): Outcome<object> =>
      act(id, ["running"], "paused", (run, { request }) => {
        run.pause("operator", `Paused by ${actor}.`);
        note(actor, "pause profile", { subject: request.name, objectId: id });
      }),
    /** `capUsd`: another cap from now on; absent: the present one. */
    resume: (id: string, capUsd: number | null | undefined, actor: Actor): Outcome<object> =>
      act(id, ["paused"], "resumed", (run, { request }) => {
        const cap = capUsd === undefined ? request.capUsd : capUsd;
        if (capUsd !== undefined) store.profiles.setCap(id, capUsd);
        run.resume(cap);
        note(
          actor,
          "resume profile",
          { subject: request.name, objectId: id },
          capUsd === undefined ? "" : cap === null ? "without a cap" : `with a cap of $${cap}`,
        );
      }),
    /** Ends it permanently; its measurements stay. */
    stop: (id: string, actor: Actor): Outcome<object> =>
      act(id, ["running", "paused"], "stopped", (run, { request }) => {
        const stopped: Promise<unknown> = run.stop().finally(() => {
          tallies.delete(id);
          stopping.delete(stopped);
        });
        stopping.add(stopped);
        note(actor, "stop profile", { subject: request.name, objectId: id });
      }),
    /** Combines the measurements with arrivals, one workload for each segment. Refused if fewer than two prompts are complete. */
    async toWorkload(
      { jobId, name, gate, label, peer = null, ...order }: ProfileToWorkload,
      actor: Actor,
    ): Promise<Outcome<{ readonly ids: readonly string[]; readonly leftOut: number }>> {
      const profile = store.profiles.get(jobId);
      if (profile === null) return { ok: false, message: `There is no profile ${jobId}.` };
      const { request } = profile;
      const problem = measuresProblem(request, gate, label);
      if (problem !== null) return { ok: false, message: problem };
      const found = await resolveArrivals(order, arrivals);
      if (!found.ok) return found;
      const named = found.parts.map((part) => ({ name: part.segment === null ? name : `${name}, ${part.segment}`, arrivals: part }));
      const { models } = cards.read().catalogue;
      const emulated = request.models.some(({ at }) => at.kind === "cluster" && store.clusters.get(at.clusterId)?.spec.kind === "embedded");
      const made = await making.make({ file: store.file, jobId, gate, label, peer, named, models, emulated });
      if (!made.ok) return made;
      const ids = store.atomically(() =>
        made.workloads.map((workload) => {
          note(actor, "make workload of profile", { subject: workload.described.name, objectId: jobId }, made.origin);
          return storePacked(store, workload, { parentId: null, profileId: jobId });
        }),
      );
      if (order.arrivals.kind === "upload") uploads.remove(order.arrivals.uploadId);
      return { ok: true, ids, leftOut: made.leftOut };
    },
    /** How far the workload is that is being made of a profile; null: none is. */
    workloadInMaking: (jobId: string) => making.of(jobId),
    /** Ends its making; nothing is kept of it. */
    cancelWorkload: (jobId: string): Outcome<object> => making.cancel(jobId),
    /** Makes an upload of measured runs from its latencies, for calibration. */
    async toMeasuredRuns(id: string): Promise<Outcome<{ readonly uploadId: string }>> {
      const profile = store.profiles.get(id);
      if (profile === null) return { ok: false, message: `There is no profile ${id}.` };
      const clusterIds = new Set(profile.request.models.flatMap(({ at }) => (at.kind === "cluster" ? at.clusterId : [])));
      if (clusterIds.size === 0)
        return { ok: false, message: "None of its models ran on a connected cluster: the hardware behind an address is not known." };
      const found = await Promise.all([...clusterIds].map((clusterId) => rowsOn(clusterId, profile)));
      const rows = found.flatMap((one) => one.rows);
      if (rows.length === 0)
        return { ok: false, message: `There are no measured runs in it: ${found.map(({ problem }) => problem).join(" ")}` };
      const older = found.reduce((sum, one) => sum + one.older, 0);
      const without = older === 0 ? "" : `, without ${older} answers older than what is known of its engines`;
      const saved = await uploads.save(Readable.from([Buffer.from(liveTable(rows))]), `profile ${profile.request.name}${without}`);
      return saved.ok ? { ok: true, uploadId: saved.id } : saved;
    },
    async close() {
      closing.abort();
      await resumed;
      await Promise.all([...[...runs.values()].map((run) => run.close()), ...stopping]);
      await connections.close();
    },
  };
}
