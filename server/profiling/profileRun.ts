import { createCallJournal, createCallScheduler } from "@/server/calls/callScheduler";
import type { ProfileJob } from "@/server/contracts/studio";
import { createJobState, withStatus } from "@/server/lib/jobState";
import type { StoredCall, StoredProfile } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";
import type { PoolContext } from "./answererPool";
import { Budget } from "./budget";
import { CallLedger } from "./callLedger";
import { Lane, type LaneLimits, usualLaneLimits } from "./lane";
import { LaneSpeeds } from "./laneSpeeds";
import type { MeasureReadings } from "./measures/reading";
import { Pace } from "./pace";
import { createProfileCalls, REFRESH_MS } from "./profileCalls";
import { countedReadings, profileShape } from "./profileShape";
import { restoreCalls } from "./restoreCalls";
import { Tally } from "./tally";
import { TokenReports } from "./tokenReports";

export interface ProfileRunParts extends PoolContext {
  readonly store: Pick<Store, "profiles" | "prompts" | "audit">;
  readonly measures: MeasureReadings;
  readonly limits?: Partial<LaneLimits>;
}

type PauseKind = NonNullable<ProfileJob["pause"]>["kind"];

/** A job that is not over. */
export interface ProfileRun {
  readonly state: ProfileJob["state"];
  readonly pausedFor: ProfileJob["pause"];
  /** It has ended, and that is on disk. */
  readonly isOver: boolean;
  readonly tally: Tally;
  readonly ledger: CallLedger;
  /** null: nothing moves, or it is not known yet. */
  callsPerMinute(): number | null;
  /** By the slowest of its models and judges; null: nothing moves, or it is not known yet. */
  etaSeconds(): number | null;
  inFlight(): number;
  /** Starts no more calls; those in flight end. */
  pause(kind: PauseKind, reason: string): void;
  /** @param capUsd from now on. */
  resume(capUsd: number | null): void;
  /** Ends it permanently, and aborts calls in flight; resolves when none is left. */
  stop(): Promise<void>;
  /** Aborts calls in flight; the job continues at the next start. */
  close(): Promise<void>;
}

/**
 * Resumes a profile's calls at their present state: every prompt for every model, and every answer for every measure as soon as it exists.
 * Each call is recorded before it is made and when it has ended, so that nothing is repeated except the calls that were in flight when a
 * studio was killed.
 */
export async function resumeProfile(profile: StoredProfile, parts: ProfileRunParts): Promise<ProfileRun> {
  const { id, request } = profile;
  const { store, measures } = parts;
  const prompts = store.prompts.get(profile.promptSetId)?.prompts ?? 0;
  const shape = profileShape(request, prompts, measures);
  const laneParts = { ...parts, limits: { ...usualLaneLimits, ...parts.limits }, concurrency: request.concurrency };
  const lanes = shape.answerers.map(({ answerer, isJudge }) => new Lane(answerer, isJudge, laneParts));
  const ledger = new CallLedger(shape);
  const groups = store.profiles.groups(id);
  const tally = new Tally(groups, (measureId) => countedReadings(request.measures.find((one) => one.id === measureId)));
  const budget = new Budget(tally.usd, request.capUsd);
  const pace = new Pace(request.requestsPerMinute);
  const speeds = new LaneSpeeds(shape.lanes.length, request.requestsPerMinute);
  const reports = new TokenReports(request.gates.confidence, profile.withoutLogprobs ?? []);
  const state = createJobState<PauseKind>({
    ...{ state: profile.state, pause: profile.pause ?? null, noun: "profile", subject: request.name, audit: store.audit },
    write(to, pause) {
      // Before the state: an ended job is not examined again.
      if ((to === "done" || to === "stopped") && !request.keepAnswers) store.profiles.dropAnswers(id);
      store.profiles.setState(id, to, pause);
    },
    paused() {
      clearTimeout(refresher);
      scheduler.hold();
    },
  });
  const { signal, canBegin, failed } = state;
  const earlier = await restoreCalls(profile, prompts, store.profiles, ledger);
  tally.lost += groups.reduce((sum, { state, calls }) => sum + (state === "asked" ? calls : 0), 0);
  let drops: { readonly position: number; readonly model: string }[] = [];
  const journal = createCallJournal<StoredCall>(write);
  const calls = createProfileCalls({
    ...{ profile, shape, store, measures, lanes, ledger, tally, speeds, reports, budget, pace, state, earlier },
    drop: (position, model) => drops.push({ position, model }),
    soon: () => scheduler.soon(),
  });
  const scheduler = createCallScheduler({
    ...{ sources: calls.sources, journal, signal, canBegin },
    isOver: () => ledger.isOver,
    events: { done: finish, capReached: reachCap, failed },
  });
  let turns = 0;
  let withoutLogprobs = reports.without.length;
  let refresher: NodeJS.Timeout | undefined;

  const nowMs = () => performance.now();

  /** Texts are deleted with the next calls where they cannot be now. */
  function write(rows: readonly StoredCall[]): void {
    const dropped = drops;
    if (rows.length === 0 && dropped.length === 0) return;
    drops = [];
    // Of a job that was stopped no text is kept that was not there already.
    const isWanted = request.keepAnswers || state.status.state !== "stopped";
    try {
      // With the calls that showed it: while the disk is full both are tried again.
      if (reports.without.length > withoutLogprobs) store.profiles.setWithoutLogprobs(id, reports.without);
      withoutLogprobs = reports.without.length;
      store.profiles.saveCalls(id, isWanted ? rows : rows.map((row) => ({ ...row, answer: null })), dropped);
    } catch (error) {
      drops = [...dropped, ...drops];
      throw error;
    }
  }

  function finish(): void {
    journal.flush();
    clearTimeout(refresher);
    state.done(`${prompts} prompts, ${usdText(tally.usd)} spent`);
  }

  function reachCap(mostUsd: number): void {
    if (calls.isWaiting) return;
    const [spent, most] = [usdText(tally.usd), usdText(mostUsd)];
    const reason = `${spent} of the cap of ${usdText(budget.capUsd ?? 0)} are spent, and the next call can cost ${most}. Resume with a higher cap to go on.`;
    state.pause("cap", reason);
  }

  /** Looks where everybody can be asked, again and again while the job runs. @param turn of `goOn`. */
  async function refresh(turn: number): Promise<void> {
    await Promise.all(lanes.map((lane) => lane.refresh(nowMs(), signal)));
    if (!canBegin() || turn !== turns) return;
    scheduler.soon();
    refresher = setTimeout(() => refresh(turn).catch(failed), REFRESH_MS);
  }

  function goOn(): void {
    calls.resetFailures();
    for (const lane of lanes) lane.resetFailures();
    speeds.begin(nowMs());
    turns += 1;
    scheduler.follow(journal.writeLeft());
    scheduler.follow(refresh(turns));
  }

  async function end(): Promise<void> {
    state.abort();
    clearTimeout(refresher);
    calls.close();
    await scheduler.close();
    try {
      await journal.writeLeft();
      journal.flush();
    } catch {
      // A disk that is still full: those calls count as lost.
    }
  }

  const isRunning = () => state.status.state === "running";
  if (isRunning()) goOn();
  const run = {
    ...{ tally, ledger, pause: state.pause, inFlight: scheduler.inFlight },
    callsPerMinute: () => (isRunning() ? speeds.perMinute(nowMs()) : null),
    etaSeconds: () => (isRunning() ? speeds.etaSeconds((lane) => ledger.left(lane), nowMs()) : null),
    resume(capUsd: number | null) {
      budget.capUsd = capUsd;
      state.resume();
      goOn();
    },
    async stop() {
      try {
        // Before texts that are not kept are dropped.
        journal.flush();
      } catch {
        // What could not be written is tried again at the end.
      }
      state.stop();
      await end();
    },
    async close() {
      await end();
      state.close();
    },
  };
  return withStatus(run, state.status);
}

/** Small amounts are shown with four significant digits. */
const usdText = (usd: number): string => `$${usd >= 1 ? usd.toFixed(2) : Number(usd.toPrecision(4))}`;
