import { setMaxListeners } from "node:events";
import type { ProfileJob, UnscoredKind } from "@/server/contracts/studio";
import type { StoredCall, StoredProfile } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";
import type { PoolGround } from "./answererPool";
import { type Asked, askModel } from "./askModel";
import { Budget } from "./budget";
import { CallLedger, type LedgerCall } from "./callLedger";
import { createCallWriter } from "./callWriter";
import { Lane, type LaneLimits, type Standing, usualLaneLimits } from "./lane";
import { Pace } from "./pace";
import { type PreparedCall, prepareCall } from "./prepareCall";
import { countedReadings, profileShape } from "./profileShape";
import type { MeasureReadings, Reading } from "./reading";
import { type EarlierAttempts, restoreCalls } from "./restoreCalls";
import { Tally } from "./tally";
import { Throughput } from "./throughput";

export interface ProfileRunParts extends PoolGround {
  readonly store: Pick<Store, "profiles" | "prompts">;
  readonly measures: MeasureReadings;
  readonly limits?: Partial<LaneLimits>;
}

type PauseKind = NonNullable<ProfileJob["pause"]>["kind"];

/** A job that is not over. */
export interface ProfileRun {
  readonly state: ProfileJob["state"];
  readonly pausedFor: ProfileJob["pause"];
  readonly tally: Tally;
  readonly ledger: CallLedger;
  /** null: nothing moves, or it is not known yet. */
  callsPerMinute(): number | null;
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

/** Attempts at one call that failed, since the job was last resumed, after which it is given up. */
const MOST_ATTEMPTS = 5;

/** Before another attempt. */
const retryMs = (failures: number): number => Math.min(60_000, 500 * 2 ** (failures - 1));

const REFRESH_MS = 1_000;

/** Calls begun in one turn of the event loop. */
const MOST_A_TURN = 16;

const none: EarlierAttempts = { attempts: 0, lost: 0, usd: 0 };

/** Why a call is not begun yet: for a time, or since it could cost more than is left. */
type Held = { readonly waitMs: number } | { readonly mostUsd: number };

type Call = Extract<PreparedCall, { kind: "call" }>;

/**
 * Takes a profile's calls up where they stand: every prompt through every model, and every answer through every measure as soon as it is
 * there. Each call is put down before it is made and when it is over, so that nothing is made twice but what a killed studio had under way.
 */
export async function takeUpProfile(profile: StoredProfile, parts: ProfileRunParts): Promise<ProfileRun> {
  const { id, request } = profile;
  const { store } = parts;
  const { models, measures } = request;
  const prompts = store.prompts.get(profile.promptSetId)?.prompts ?? 0;
  const shape = profileShape(request, prompts, parts.measures);
  const limits = { ...usualLaneLimits, ...parts.limits };
  const lanes = shape.answerers.map(({ answerer, isJudge }) => new Lane(answerer, isJudge, parts, limits));
  const ledger = new CallLedger(shape);
  const groups = store.profiles.groups(id);
  const tally = new Tally(groups, (measureId) => countedReadings(measures.find((one) => one.id === measureId)));
  const budget = new Budget(tally.usd, request.capUsd);
  const pace = new Pace(request.requestsPerMinute);
  const writer = createCallWriter(store.profiles, id);
  const throughput = new Throughput();
  const earlier = await restoreCalls(profile, prompts, store.profiles, ledger);
  tally.lost += groups.reduce((sum, { state, calls }) => sum + (state === "asked" ? calls : 0), 0);
  const failures = new Map<number, number>();
  const delayed = new Map<number, NodeJS.Timeout>();
  const waiting: (PreparedCall | null)[] = shape.lanes.map(() => null);
  const underWay = new Set<Promise<void>>();
  const ending = new AbortController();
  // Every call under way listens.
  setMaxListeners(0, ending.signal);
  let state = profile.state;
  let pausedFor = profile.pause;
  let inFlight = 0;
  let turns = 0;
  let firstLane = 0;
  let wake: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  let refresher: NodeJS.Timeout | undefined;

  const nowMs = () => performance.now();
  const canBegin = () => state === "running" && !ending.signal.aborted;
  const modelOf = ({ model }: LedgerCall) => models[model]?.model ?? "";

  function change(to: ProfileJob["state"], pause: ProfileJob["pause"]): void {
    state = to;
    pausedFor = pause;
    store.profiles.setState(id, to, pause);
  }

  function soon(): void {
    if (canBegin()) turn ??= setImmediate(pump);
  }

  /** Begins what can be begun, over all lanes. */
  function pump(): void {
    turn = undefined;
    clearTimeout(wake);
    const held: Held[] = [];
    let begun = 0;
    // Another lane comes first each time: under a limit of calls per minute the first would take them all.
    firstLane += 1;
    for (const offset of shape.lanes.keys()) {
      const at = (firstLane + offset) % shape.lanes.length;
      while (canBegin() && begun < MOST_A_TURN) {
        const work = waiting[at] ?? take(at);
        if (work === null) break;
        waiting[at] = null;
        const why = begin(work, at);
        if (why === null) begun += 1;
        else {
          if (canBegin()) {
            waiting[at] = work;
            held.push(why);
          } else putBack(work.call);
          break;
        }
      }
    }
    if (!canBegin()) return;
    const waits = held.flatMap((one) => ("waitMs" in one ? one.waitMs : []));
    const dear = held.flatMap((one) => ("mostUsd" in one ? one.mostUsd : []));
    if (ledger.isOver) finish();
    else if (begun >= MOST_A_TURN) soon();
    else if (waits.length > 0) wake = setTimeout(soon, Math.min(...waits));
    else if (dear.length > 0 && underWay.size === 0 && delayed.size === 0) reachCap(Math.min(...dear));
  }

  function take(at: number): PreparedCall | null {
    const call = ledger.take(at);
    if (call === null) return null;
    const work = prepareCall(call, { profile, shape, store, measures: parts.measures });
    if (work !== null) return work;
    putBack(call);
    pause("problem", "Texts that are still needed were deleted: stop this job, or profile another sample.");
    return null;
  }

  /** Begins one call; null: it is under way. */
  function begin(work: PreparedCall, at: number): Held | null {
    const lane = lanes[at];
    if (work.kind !== "call" || lane === undefined) {
      if (work.kind !== "call")
        follow(work.kind === "local" ? runHere(work.call, work.run) : over(work.call, rowOf(work.call, work.reading)));
      return null;
    }
    const now = nowMs();
    const fault = lane.fault(now);
    if (fault !== null) pause("model-down", fault);
    const standing = fault === null ? lane.pick(now) : null;
    if (standing === null) return { waitMs: lane.waitMs(now) ?? REFRESH_MS };
    const waitMs = pace.waitMs(now);
    if (waitMs > 0) return { waitMs };
    const mostUsd = lane.usdAtMost(work.most);
    if (!budget.reserve(mostUsd)) return { mostUsd };
    pace.made(now);
    follow(makeCall(work, mostUsd, lane, standing));
    return null;
  }

  function follow(work: Promise<void>): void {
    const guarded = work.catch((error: unknown) => {
      pause("problem", `The studio could not go on (${nameOf(error)}). Its disk may be full: resume when it can write again.`);
    });
    const tracked: Promise<void> = guarded.finally(() => {
      underWay.delete(tracked);
      soon();
    });
    underWay.add(tracked);
  }

  /** A reading that takes no call. */
  async function runHere(call: LedgerCall, run: (signal: AbortSignal) => Promise<Reading>): Promise<void> {
    let reading: Reading | null = null;
    try {
      reading = await run(ending.signal);
    } finally {
      if (reading === null) putBack(call);
    }
    await over(call, rowOf(call, reading));
  }

  async function makeCall({ call, body, read }: Call, mostUsd: number, lane: Lane, standing: Standing): Promise<void> {
    const before = earlier.get(call.id) ?? none;
    const attempts = before.attempts + 1;
    let spentUsd = 0;
    inFlight += 1;
    standing.inFlight += 1;
    const others = standing.inFlight;
    try {
      await writer.save({ ...blank(call), lost: before.lost, attempts, usd: before.usd + mostUsd, state: "asked" });
      const asked = await askModel({ place: standing.place, body, stream: read === null, signal: ending.signal });
      spentUsd = lane.usdOf(asked, mostUsd);
      lane.report(standing, asked, call.id, nowMs());
      const row = {
        ...blank(call),
        lost: before.lost,
        attempts,
        usd: before.usd + spentUsd,
        engine: standing.place.engine,
        inFlight: others,
      };
      await settle(call, row, asked, read);
    } finally {
      budget.settle(mostUsd, spentUsd);
      inFlight -= 1;
      standing.inFlight -= 1;
    }
    const fault = lane.fault(nowMs());
    if (fault !== null) pause("model-down", fault);
  }

  async function settle(call: LedgerCall, row: StoredCall, asked: Asked, read: Call["read"]): Promise<void> {
    if (asked.kind === "answered") {
      const { kind: _, text, ...figures } = asked;
      return over(call, { ...row, ...figures, ...(read === null ? { answer: text } : scoreOf(read(text))), state: "done" });
    }
    // What had begun to be answered stays as asked: when the job goes on it counts as lost.
    if (asked.kind === "aborted") return asked.mayCost ? putBack(call) : again(call, row, 0);
    const failed = (failures.get(call.id) ?? 0) + (asked.kind === "busy" ? 0 : 1);
    failures.set(call.id, failed);
    if (asked.kind !== "refused" && failed < MOST_ATTEMPTS) return again(call, row, asked.kind === "busy" ? 0 : retryMs(failed));
    const unscored: UnscoredKind | null = read === null ? null : asked.kind === "refused" ? "refused" : "failed";
    const failure =
      read === null ? `${modelOf(call)} ${asked.reason}.` : `The judge of "${measures[call.measure ?? 0]?.name}" ${asked.reason}.`;
    return over(call, { ...row, unscored, failure, state: "failed" });
  }

  /** Puts an attempt down that failed, and makes the call again after a while. */
  async function again(call: LedgerCall, row: StoredCall, afterMs: number): Promise<void> {
    tally.take(row, earlier.get(call.id) ?? none);
    earlier.set(call.id, { attempts: row.attempts, lost: row.lost, usd: row.usd });
    await writer.save(row);
    putBack(call, afterMs);
  }

  function putBack(call: LedgerCall, afterMs = 0): void {
    ledger.leave(call.id);
    const back = (): void => {
      delayed.delete(call.id);
      ledger.giveBack(call.id);
      soon();
    };
    if (afterMs === 0 || !canBegin()) back();
    else delayed.set(call.id, setTimeout(back, afterMs));
  }

  async function over(call: LedgerCall, row: StoredCall): Promise<void> {
    await writer.save(row);
    tally.take(row, earlier.get(call.id) ?? none);
    throughput.ended(nowMs());
    earlier.delete(call.id);
    failures.delete(call.id);
    ledger.end(call.id, row.state === "failed" ? "failed" : "done");
    if (request.keepAnswers) return;
    const against = shape.measures.flatMap((measure) => measure.against ?? []);
    for (const model of new Set([call.model, ...against]))
      if (ledger.isRead(call.position, model)) writer.drop(call.position, models[model]?.model ?? "");
  }

  const blank = (call: LedgerCall): StoredCall => ({
    ...{ profileId: id, position: call.position, model: modelOf(call), reading: call.reading },
    ...{ measureId: call.measure === null ? "" : (measures[call.measure]?.id ?? ""), state: "waiting", at: new Date().toISOString() },
    ...{ ...none, inputTokens: null, outputTokens: null, ttftSeconds: null, seconds: null, engine: null, inFlight: null },
    ...{ score: null, unscored: null, failure: null, cut: null, answer: null },
  });

  const rowOf = (call: LedgerCall, reading: Reading): StoredCall => ({ ...blank(call), ...scoreOf(reading), state: "done" });

  function finish(): void {
    writer.flush();
    clearTimeout(refresher);
    if (!request.keepAnswers) store.profiles.dropAnswers(id);
    change("done", null);
  }

  function reachCap(mostUsd: number): void {
    const [spent, most] = [usdText(tally.usd), usdText(mostUsd)];
    const reason = `${spent} of the cap of ${usdText(budget.capUsd ?? 0)} are spent, and the next call can cost ${most}. Resume with a higher cap to go on.`;
    pause("cap", reason);
  }

  function pause(kind: PauseKind, reason: string): void {
    if (!canBegin()) return;
    change("paused", { kind, reason, since: new Date().toISOString() });
    clearTimeout(refresher);
    clearTimeout(wake);
    for (const [at, work] of waiting.entries()) {
      if (work !== null) putBack(work.call);
      waiting[at] = null;
    }
  }

  /** Looks where everybody can be asked, again and again while the job runs. @param turn of `goOn`. */
  async function refresh(turn: number): Promise<void> {
    await Promise.all(lanes.map((lane) => lane.refresh(nowMs(), ending.signal)));
    if (!canBegin() || turn !== turns) return;
    soon();
    refresher = setTimeout(() => refresh(turn), REFRESH_MS);
  }

  function goOn(): void {
    failures.clear();
    for (const lane of lanes) lane.absolve();
    throughput.begin(nowMs());
    turns += 1;
    follow(refresh(turns));
  }

  async function end(): Promise<void> {
    ending.abort();
    clearTimeout(refresher);
    clearTimeout(wake);
    clearImmediate(turn);
    for (const timer of delayed.values()) clearTimeout(timer);
    await Promise.all(underWay);
    writer.flush();
  }

  if (state === "running") goOn();
  return {
    ...{ tally, ledger },
    get state() {
      return state;
    },
    get pausedFor() {
      return pausedFor;
    },
    callsPerMinute: () => (state === "running" ? throughput.perMinute(nowMs()) : null),
    inFlight: () => inFlight,
    pause,
    resume(capUsd) {
      budget.capUsd = capUsd;
      change("running", null);
      goOn();
    },
    async stop() {
      change("stopped", null);
      await end();
      if (!request.keepAnswers) store.profiles.dropAnswers(id);
    },
    close: end,
  };
}

/** Of an error nothing but its name: what it says may be of a prompt. */
const nameOf = (error: unknown): string => {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return String(code ?? name ?? "unknown");
};

const scoreOf = (reading: Reading) => ("score" in reading ? { score: reading.score } : { unscored: reading.unscored });

/** Small sums are told to four digits that count. */
const usdText = (usd: number): string => `$${usd >= 1 ? usd.toFixed(2) : Number(usd.toPrecision(4))}`;
