import { SlotHeap } from "@/solver/collections/slotHeap";
import type { ReplicaView, Start, StartingRequest, WaitingWork } from "@/solver/policies/core/policy";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { ChangingForecasts, ClusterWorld, PredictedField, Searched, Sending } from "./clusterWorld";

/** One recorded stage visit of a request. */
export interface RecordedVisit {
  readonly stage: number;
  readonly queuedSeconds: number;
  readonly answeredSeconds: number;
  /** Left out where the answer was not streamed. */
  readonly firstTokenSeconds?: number;
  /** Null where the answer was not judged. */
  readonly judgedSeconds: number | null;
  readonly judgedScore: number | null;
}

/** A recorded request: the policy's inputs and the results of its engines and judge, in the order of its visits. */
export interface RecordedRequest extends Pick<WaitingWork, Exclude<PredictedField, "searching"> | "inputTokens"> {
  /** Null for the only request of its program. */
  readonly program: string | null;
  /** When its program began, where that was known; left out: when it joined its first queue. */
  readonly programStartSeconds?: number;
  /** The forecasts that replaced the first while it waited, and when, in order; left out: none. */
  readonly reforecasts?: readonly { readonly atSeconds: number; readonly forecast?: AgentForecast | undefined }[];
  /** When the search for its accurate configurations ended, if it waited by then; left out: before. */
  readonly searchedSeconds?: number;
  readonly routerScores: Readonly<Record<string, number>>;
  readonly judgeResting: boolean;
  readonly visits: readonly RecordedVisit[];
}

/** An engine that existed all the time. The size of its KV cache is left out where it is unknown. */
export type RecordedReplica = Pick<ReplicaView, "id" | "model" | "maxInFlight" | "kvTokens">;

/** A policy's decision about one visit of a request, and when it was sent. */
export interface DecidedVisit {
  readonly stage: number;
  readonly replicaId: string;
  readonly dispatchedSeconds: number;
  readonly verdict: "accepted" | "escalated";
  readonly reason: string;
}

/** A policy's decisions about a request, without an unfinished visit. */
export interface DecidedRequest {
  startReason: string;
  readonly visits: DecidedVisit[];
}

type Due = "join" | "answer" | "judgement";
type Seat = { -readonly [field in keyof ReplicaView]: ReplicaView[field] };

/**
 * Requests that were served once, by engines and a judge that answer again at the same times, with the same scores; records the policy's
 * decisions. There is one event per instant, as in a gateway. Where a request is sent elsewhere than in the record, its engine answers
 * as recorded; a visit without a recorded answer is not answered, and one that comes earlier than in the record is answered at once.
 */
export class RecordedWorld implements ClusterWorld {
  readonly programIds: readonly string[];
  readonly arrivalSeconds: Float64Array;
  readonly inputTokens: Int32Array;
  readonly replicas: readonly ReplicaView[];
  readonly decided: readonly DecidedRequest[];
  readonly forecasts: ChangingForecasts | null;
  private readonly requests: readonly RecordedRequest[];
  private readonly seats: readonly Seat[];
  /** The next event of each request, by time; ties in the order in which they became known. */
  private readonly schedule: SlotHeap;
  private readonly due: Due[];
  /** Searches that have not ended, by when they do. */
  private readonly searches: SlotHeap;
  private readonly searching: boolean[];
  private known = 0;
  /** The current request. */
  private current: number | null = null;
  /** Per request, its state and since when. */
  private readonly at: (Pick<DecidedVisit, "stage" | "replicaId" | "dispatchedSeconds"> | undefined)[];

  constructor(replicas: readonly RecordedReplica[], requests: readonly RecordedRequest[]) {
    this.requests = requests;
    this.forecasts = recordedForecasts(requests);
    // A program of one request has its number as name; no client's name is a number alone here.
    this.programIds = requests.map(({ program }, request) => (program === null ? String(request) : `program ${program}`));
    const joins = requests.map(({ visits }) => visits[0]?.queuedSeconds ?? Number.POSITIVE_INFINITY);
    this.arrivalSeconds = Float64Array.from(requests, ({ programStartSeconds }, request) => programStartSeconds ?? joins[request] ?? 0);
    this.inputTokens = Int32Array.from(requests, ({ inputTokens }) => inputTokens);
    this.seats = replicas.map(({ id, model, maxInFlight, kvTokens = null }) => {
      return { id, model, maxInFlight, kvTokens, inFlight: 0, accepting: true, kvUse: { state: "absent" as const } };
    });
    this.replicas = this.seats;
    this.decided = requests.map(() => ({ startReason: "", visits: [] }));
    this.schedule = new SlotHeap(requests.length);
    this.due = requests.map(() => "join");
    this.at = new Array(requests.length);
    this.searches = new SlotHeap(requests.length);
    this.searching = requests.map(({ searchedSeconds }) => searchedSeconds !== undefined);
    for (const [request, { searchedSeconds }] of requests.entries()) {
      if (searchedSeconds !== undefined) this.searches.push(request, searchedSeconds, request);
    }
    for (const [request, seconds] of joins.entries()) {
      if (seconds !== Number.POSITIVE_INFINITY) this.expect(request, "join", seconds);
    }
  }

  nextSeconds(): number {
    return Math.min(this.schedule.leastKey, this.searches.leastKey);
  }

  advanceTo(now: number): void {
    if (this.schedule.leastKey <= now) this.current = this.schedule.pop();
  }

  takeAnswered(): number | null {
    return this.take("answer");
  }

  takeJudged(): number | null {
    return this.take("judgement");
  }

  takeSearched(now: number): Searched | null {
    if (this.searches.leastKey > now) return null;
    const request = this.searches.pop();
    this.searching[request] = false;
    const { accurate, margins } = this.requests[request] ?? {};
    return { request, accurate, margins };
  }

  takeJoining(): number | null {
    return this.take("join");
  }

  starting(request: number): StartingRequest {
    const { routerScores = {}, judgeResting = false, call } = this.requests[request] ?? {};
    return {
      programId: this.programIds[request] ?? "",
      ...(call !== undefined && { call }),
      inputTokens: this.inputTokens[request] ?? 0,
      routerScores: (model) => routerScores[model],
      replicas: this.replicas,
      judgeResting,
    };
  }

  predictions(request: number) {
    const recorded = this.requests[request] ?? ({} as Partial<RecordedRequest>);
    const { predictedTokens, predictedProgramTokens, dueSeconds, forecast, call, accurate, margins, promptBlocks } = recorded;
    return {
      ...(predictedTokens !== undefined && { predictedTokens }),
      ...(predictedProgramTokens !== undefined && { predictedProgramTokens }),
      ...(dueSeconds !== undefined && { dueSeconds }),
      ...(forecast !== undefined && { forecast }),
      ...(call !== undefined && { call }),
      ...(promptBlocks !== undefined && { promptBlocks }),
      ...(this.searching[request] ? { searching: true } : accurate !== undefined && { accurate, margins }),
    };
  }

  /** Readings are recorded only for the chosen replicas, so there is none to show. */
  readMemory(): void {}

  joined(request: number, { stage, reason }: Start): void {
    const decided = this.decided[request];
    if (decided?.visits.length === 0) decided.startReason = reason;
    this.at[request] = { stage, replicaId: "", dispatchedSeconds: Number.NaN };
  }

  dispatch(request: number, { replicaId, stage: chosen }: Sending, now: number): boolean {
    const seat = this.seats.find(({ id }) => id === replicaId);
    if (seat === undefined) throw new Error(`The policy chose the replica ${replicaId}, which is not there`);
    if (seat.inFlight >= seat.maxInFlight) throw new Error(`The policy chose the replica ${replicaId}, which is full`);
    seat.inFlight++;
    const { stage: joined = 0 } = this.at[request] ?? {};
    const stage = chosen ?? joined;
    const decided = this.decided[request];
    if (stage !== joined && decided?.visits.length === 0) decided.startReason = "model-chosen-at-dispatch";
    this.at[request] = { stage, replicaId, dispatchedSeconds: now };
    const visit = this.visitOf(request);
    if (visit?.stage === stage) this.expect(request, "answer", Math.max(now, visit.answeredSeconds));
    return true;
  }

  servedSeconds(request: number): number | undefined {
    const { answeredSeconds = Number.NaN, firstTokenSeconds } = this.visitOf(request) ?? {};
    return firstTokenSeconds === undefined ? undefined : answeredSeconds - firstTokenSeconds;
  }

  release(request: number): string {
    const { replicaId = "" } = this.at[request] ?? {};
    const seat = this.seats.find(({ id }) => id === replicaId);
    if (seat !== undefined) seat.inFlight--;
    return replicaId;
  }

  judge(request: number, now: number): void {
    const seconds = this.visitOf(request)?.judgedSeconds ?? null;
    if (seconds !== null) this.expect(request, "judgement", Math.max(now, seconds));
  }

  judgedScore(request: number): number | null {
    return this.visitOf(request)?.judgedScore ?? null;
  }

  accept(request: number, reason: string): void {
    this.note(request, "accepted", reason);
  }

  /** A refused request has no visit from here on. */
  refuse(): void {}

  /** More requests of a client's program may arrive than were recorded. */
  endsProgram(request: number): boolean {
    return this.requests[request]?.program === null;
  }

  sendOn(request: number, { reason }: Start, now: number): void {
    this.note(request, "escalated", reason);
    this.expect(request, "join", Math.max(now, this.visitOf(request)?.queuedSeconds ?? now));
  }

  private take(due: Due): number | null {
    const { current } = this;
    if (current === null || this.due[current] !== due) return null;
    this.current = null;
    return current;
  }

  private expect(request: number, due: Due, seconds: number): void {
    this.due[request] = due;
    this.schedule.push(request, seconds, this.known++);
  }

  /** Its current visit, as recorded. */
  private visitOf(request: number): RecordedVisit | undefined {
    return this.requests[request]?.visits[this.decided[request]?.visits.length ?? 0];
  }

  private note(request: number, verdict: DecidedVisit["verdict"], reason: string): void {
    const at = this.at[request];
    if (at !== undefined) this.decided[request]?.visits.push({ ...at, verdict, reason });
  }
}

/** Recorded forecasts by time; null where none was replaced. */
export function recordedForecasts(requests: readonly RecordedRequest[]): ChangingForecasts | null {
  const moments = new Set(requests.flatMap(({ reforecasts = [] }) => reforecasts.map(({ atSeconds }) => atSeconds)));
  if (moments.size === 0) return null;
  const inOrder = Float64Array.from(moments).sort();
  let passed = 0;
  let nowSeconds = Number.NEGATIVE_INFINITY;
  return {
    revision(now) {
      nowSeconds = now;
      while ((inOrder[passed] ?? Number.POSITIVE_INFINITY) <= now) passed += 1;
      return passed;
    },
    forecast(request) {
      const { forecast, reforecasts = [] } = requests[request] ?? {};
      const latest = reforecasts.findLast(({ atSeconds }) => atSeconds <= nowSeconds);
      return latest === undefined ? forecast : latest.forecast;
    },
  };
}
