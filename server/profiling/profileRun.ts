import { setMaxListeners } from "node:events";
import type { ProfileJob } from "@/server/contracts/studio";
import type { StoredProfile } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";
import type { PoolContext } from "./answererPool";
import { Budget } from "./budget";
import { createCallBook } from "./callBook";
import { createCaller } from "./caller";
import { CallLedger } from "./callLedger";
import { createDispatcher, REFRESH_MS } from "./dispatcher";
import { createJobState } from "./jobState";
import { Lane, type LaneLimits, usualLaneLimits } from "./lane";
import { LaneSpeeds } from "./laneSpeeds";
import type { MeasureReadings } from "./measures/reading";
import { Pace } from "./pace";
import { countedReadings, profileShape } from "./profileShape";
import { restoreCalls } from "./restoreCalls";
import { Tally } from "./tally";

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
  /** Begins no more calls; those under way end. */
  pause(kind: PauseKind, reason: string): void;
  /** @param capUsd from now on. */
  resume(capUsd: number | null): void;
  /** Ends it for good, and cuts what is under way; resolves when nothing of it is. */
  stop(): Promise<void>;
  /** Cuts what is under way; the job goes on at the next start. */
  close(): Promise<void>;
}

/**
 * Takes a profile's calls up where they stand: every prompt through every model, and every answer through every measure as soon as it is
 * there. Each call is put down before it is made and when it is over, so that nothing is made twice but what a killed studio had under way.
 */
export async function resumeProfile(profile: StoredProfile, parts: ProfileRunParts): Promise<ProfileRun> {
  const { id, request } = profile;
  const { store } = parts;
  const prompts = store.prompts.get(profile.promptSetId)?.prompts ?? 0;
  const shape = profileShape(request, prompts, parts.measures);
  const limits = { ...usualLaneLimits, ...parts.limits };
  const lanes = shape.answerers.map(({ answerer, isJudge }) => new Lane(answerer, isJudge, parts, limits));
  const ledger = new CallLedger(shape);
  const groups = store.profiles.groups(id);
  const tally = new Tally(groups, (measureId) => countedReadings(request.measures.find((one) => one.id === measureId)));
  const budget = new Budget(tally.usd, request.capUsd);
  const pace = new Pace(request.requestsPerMinute);
  const speeds = new LaneSpeeds(shape.lanes.length, request.requestsPerMinute);
  const state = createJobState<NonNullable<ProfileJob["pause"]>>({
    ...{ state: profile.state, pause: profile.pause ?? null, subject: request.name, audit: store.audit },
    write(to, pause) {
      // Before the state: a job that is over is not looked at again.
      if ((to === "done" || to === "stopped") && !request.keepAnswers) store.profiles.dropAnswers(id);
      store.profiles.setState(id, to, pause);
    },
  });
  const earlier = await restoreCalls(profile, prompts, store.profiles, ledger);
  tally.lost += groups.reduce((sum, { state, calls }) => sum + (state === "asked" ? calls : 0), 0);
  const book = createCallBook({
    profile,
    profiles: store.profiles,
    shape,
    ledger,
    tally,
    speeds,
    state,
    earlier,
    soon: () => dispatcher.soon(),
  });
  const underWay = new Set<Promise<void>>();
  const ending = new AbortController();
  // Every call under way listens.
  setMaxListeners(0, ending.signal);
  const { signal } = ending;
  const caller = createCaller({ profile, book, budget, signal });
  const canBegin = () => state.isRunning && !signal.aborted;
  const dispatcher = createDispatcher({
    ...{ profile, shape, store, measures: parts.measures, lanes, ledger, book, caller, budget, pace, signal, canBegin, follow },
    isIdle: () => underWay.size === 0,
    told: {
      done: finish,
      capReached: reachCap,
      textsGone: () => pause("problem", "Texts that are still needed were deleted: stop this job, or profile another sample."),
      look: pauseForFault,
      stumbled: stumble,
    },
  });
  let turns = 0;
  let refresher: NodeJS.Timeout | undefined;

  const nowMs = () => performance.now();

  function pauseForFault(lane: Lane): void {
    const fault = lane.fault(nowMs());
    if (fault !== null) pause("model-down", fault);
  }

  function follow(work: Promise<void>): void {
    const tracked: Promise<void> = work.catch(stumble).finally(() => {
      underWay.delete(tracked);
      dispatcher.soon();
    });
    underWay.add(tracked);
  }

  function stumble(error: unknown): void {
    pause("problem", `The studio stopped (${nameOf(error)}). Its disk may be full: resume when it can write again.`);
  }

  function finish(): void {
    book.flush();
    clearTimeout(refresher);
    state.change("done", null, { action: "end profile", detail: `${prompts} prompts, ${usdText(tally.usd)} spent` });
  }

  function reachCap(mostUsd: number): void {
    const [spent, most] = [usdText(tally.usd), usdText(mostUsd)];
    const reason = `${spent} of the cap of ${usdText(budget.capUsd ?? 0)} are spent, and the next call can cost ${most}. Resume with a higher cap to go on.`;
    pause("cap", reason);
  }

  function pause(kind: PauseKind, reason: string): void {
    if (!canBegin()) return;
    const act = kind === "operator" ? null : { action: "pause profile", detail: reason };
    state.change("paused", { kind, reason, since: new Date().toISOString() }, act);
    clearTimeout(refresher);
    dispatcher.hold();
  }

  /** Looks where everybody can be asked, again and again while the job runs. @param turn of `goOn`. */
  async function refresh(turn: number): Promise<void> {
    await Promise.all(lanes.map((lane) => lane.refresh(nowMs(), signal)));
    if (!canBegin() || turn !== turns) return;
    dispatcher.soon();
    refresher = setTimeout(() => refresh(turn).catch(stumble), REFRESH_MS);
  }

  function goOn(): void {
    caller.resetFailures();
    for (const lane of lanes) lane.resetFailures();
    speeds.begin(nowMs());
    turns += 1;
    follow(book.writeLeft());
    follow(refresh(turns));
  }

  async function end(): Promise<void> {
    ending.abort();
    clearTimeout(refresher);
    dispatcher.close();
    book.close();
    await Promise.all(underWay);
    try {
      await book.writeLeft();
      book.flush();
    } catch {
      // A disk that is still full: those calls count as lost.
    }
  }

  if (state.isRunning) goOn();
  return {
    ...{ tally, ledger, pause },
    get state() {
      return state.state;
    },
    get pausedFor() {
      return state.pause;
    },
    get isOver() {
      return state.isOver;
    },
    callsPerMinute: () => (state.isRunning ? speeds.perMinute(nowMs()) : null),
    etaSeconds: () => (state.isRunning ? speeds.etaSeconds((lane) => ledger.left(lane), nowMs()) : null),
    inFlight: () => caller.inFlight(),
    resume(capUsd) {
      budget.capUsd = capUsd;
      state.change("running", null);
      goOn();
    },
    async stop() {
      try {
        // Before texts that are not kept are dropped.
        book.flush();
      } catch {
        // What could not be written is tried again at the end.
      }
      state.change("stopped", null);
      await end();
    },
    async close() {
      await end();
      state.close();
    },
  };
}

/** Of an error nothing but its name: what it says may be of a prompt. */
const nameOf = (error: unknown): string => {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return String(code ?? name ?? "unknown");
};

/** Small sums are told to four digits that count. */
const usdText = (usd: number): string => `$${usd >= 1 ? usd.toFixed(2) : Number(usd.toPrecision(4))}`;
