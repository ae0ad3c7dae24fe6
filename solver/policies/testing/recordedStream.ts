import type { Vote } from "@/solver/ensemble/gate/gate";
import type { NodeDecision } from "@/solver/ensemble/gate/nodeGate";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { Action, Policy, ReplicaView, WaitingWork } from "../core/policy";
import { callOf, type EngineChange, type RecordedEvent, type RecordedSetting, type Sets, setsOf } from "./recordedEvents";
import { textOf, textOfStart } from "./recordedText";

/** Seconds after which a reading is no longer fresh. */
const FRESH_SECONDS = 6;

type Seat = { -readonly [field in keyof ReplicaView]: ReplicaView[field] } & { listed: boolean; readSeconds: number };

interface Flying {
  readonly replicaId: string;
  readonly work: WaitingWork;
}

interface Decided {
  readonly policy: Policy;
  readonly setting: RecordedSetting;
  /** Decides on the agent that reads a program's votes, once they are all there. */
  readonly gate?: ((votes: readonly Vote[]) => NodeDecision | null) | undefined;
}

/** A driver that tells a policy what a record says, carries out what it decides, and writes that down. */
export class RecordedStream {
  readonly waiting = new Map<string, WaitingWork>();
  readonly flying = new Map<string, Flying>();
  readonly seats: readonly Seat[];
  arrived = 0;
  private readonly policy: Policy;
  private readonly gate: Decided["gate"];
  private readonly models: readonly string[];
  private readonly beganSeconds = new Map<string, number>();
  private readonly sets = new Map<string, Sets>();
  private readonly forecasts = new Map<string, AgentForecast>();
  private readonly votes = new Map<string, Vote[]>();
  private listed: readonly Seat[];
  private lowerMayAnswer = true;

  constructor({ policy, setting, gate }: Decided) {
    this.policy = policy;
    this.gate = gate;
    this.models = [...new Set(setting.replicas.map(({ model }) => model))];
    this.seats = setting.replicas.map((replica) => ({
      ...{ ...replica, inFlight: 0, accepting: true, down: false, listed: true, readSeconds: Number.NEGATIVE_INFINITY },
      ...{ kvUse: { state: "absent" as const }, preemptions: { state: "absent" as const } },
    }));
    this.listed = this.seats;
  }

  /** What is decided in a moment with these events. */
  turn(nowSeconds: number, events: readonly RecordedEvent[]): string[] {
    const decided: string[] = [];
    for (const event of events) decided.push(...this.happens(event, nowSeconds));
    for (let again = true; again; ) {
      const actions = this.decide(nowSeconds);
      decided.push(...actions.map(textOf));
      for (const action of actions) this.carryOut(action, nowSeconds);
      again = actions.some(({ kind }) => kind === "escalate" || kind === "skip");
    }
    const asks = this.policy.askAgainSeconds?.() ?? null;
    const due = [...(this.policy.due?.() ?? [])];
    if (asks !== null) decided.push(`asks at ${asks}`);
    if (due.length > 0) decided.push(`due ${due.join(" ")}`);
    return decided;
  }

  private happens(event: RecordedEvent, nowSeconds: number): string[] {
    switch (event[0]) {
      case "arrives":
        return [this.arrives(event, nowSeconds)];
      case "answers": {
        const { work } = this.lands(event[1], nowSeconds, false);
        const judgedScore = this.policy.judges(work.stage) ? event[2] : null;
        this.waiting.set(work.id, { ...work, state: { kind: "answered", judgedScore } });
        return [];
      }
      case "votes": {
        const { work } = this.lands(event[1], nowSeconds, false);
        this.waiting.set(work.id, { ...work, state: { kind: "answered", judgedScore: null } });
        return this.voted(work, { expert: work.call?.agent ?? "", vote: event[2], outputTokens: event[3] });
      }
      case "fails": {
        const { work } = this.lands(event[1], nowSeconds, true);
        const failedStages = event[2] ? work.failedStages : [...(work.failedStages ?? []), work.stage];
        this.queue({ ...work, ...(failedStages && { failedStages }), state: { kind: "queued" } });
        return [];
      }
      case "leaves": {
        const id = String(event[1]);
        const { programId } = this.waiting.get(id) ?? {};
        this.waiting.delete(id);
        this.policy.observe({ kind: "left", workId: id, nowSeconds });
        if (programId === `alone ${id}`) this.policy.observe({ kind: "ended", programId });
        return [];
      }
      case "found":
        this.found(`program ${event[1]}`, setsOf(event[2]));
        return [];
      case "learns":
        this.learns({ agent: event[1], ...event[2] });
        return [];
      case "engine":
        this.changes(event[1], event[2], nowSeconds);
        return [];
      case "may answer lower":
        this.lowerMayAnswer = event[1];
        return [];
      case "ends":
        this.policy.observe({ kind: "ended", programId: `program ${event[1]}` });
        return [];
    }
  }

  private arrives(event: Extract<RecordedEvent, readonly ["arrives", ...unknown[]]>, nowSeconds: number): string {
    const [, program, inputTokens, more = {}] = event;
    const { scores, judgeResting = false, searching } = more;
    const id = String(this.arrived++);
    const programId = program < 0 ? `alone ${id}` : `program ${program}`;
    const began = this.beganSeconds.get(programId) ?? nowSeconds;
    this.beganSeconds.set(programId, began);
    if (!this.sets.has(programId)) this.sets.set(programId, setsOf(more));
    const call = callOf(more);
    const start = this.policy.start({
      ...{ programId, inputTokens, judgeResting, outage: this.outage(), replicas: this.listed, ...call },
      routerScores: (model) => scores?.[this.models.indexOf(model)],
    });
    const forecast = this.forecasts.get(more.call ?? "");
    this.queue({
      ...{ id, programId, stage: start.stage, programArrivalSeconds: began, queuedSinceSeconds: nowSeconds, inputTokens, ...call },
      ...(more.tokens !== undefined && { predictedTokens: more.tokens }),
      ...(more.programTokens !== undefined && { predictedProgramTokens: more.programTokens }),
      ...(forecast && { forecast }),
      ...(searching ? { searching } : this.sets.get(programId)),
      state: { kind: "queued" },
    });
    return `${id} starts at ${textOfStart(start)}`;
  }

  private found(programId: string, found: Sets): void {
    this.sets.set(programId, found);
    for (const [id, { searching, ...rest }] of this.waiting) {
      if (rest.programId !== programId || searching !== true) continue;
      const work = { ...rest, ...found };
      this.waiting.set(id, work);
      this.policy.observe({ kind: "searched", work });
    }
  }

  private queue(work: WaitingWork): void {
    this.waiting.delete(work.id);
    this.waiting.set(work.id, work);
    this.policy.observe({ kind: "queued", work });
  }

  /** A request's engine is done with it. */
  private lands(request: number, nowSeconds: number, failed: boolean): Flying {
    const id = String(request);
    const flown = this.flying.get(id);
    if (flown === undefined) throw new Error(`Request ${id} is at no engine at ${nowSeconds} s: an earlier decision was another`);
    this.flying.delete(id);
    const seat = this.seats.find((one) => one.id === flown.replicaId);
    if (seat !== undefined) seat.inFlight -= 1;
    this.policy.observe({ kind: "finished", workId: id, replicaId: flown.replicaId, nowSeconds, failed });
    return flown;
  }

  private voted({ programId }: WaitingWork, vote: Vote): string[] {
    const votes = [...(this.votes.get(programId) ?? []), vote];
    this.votes.set(programId, votes);
    const decision = this.gate?.(votes) ?? null;
    if (decision === null) return [];
    const { confidence, votes: counted } = decision;
    const what = decision.kind === "skip-node" ? `gives the answer of ${decision.agent}` : "asks its aggregator";
    return [`${programId} ${what}, votes ${counted}, confidence ${Math.round(1e6 * confidence) / 1e6}`];
  }

  private learns(forecast: AgentForecast): void {
    this.forecasts.set(forecast.agent, forecast);
    for (const [id, work] of this.waiting)
      if (work.call !== undefined && `${work.call.workflow}/${work.call.agent}` === forecast.agent)
        this.waiting.set(id, { ...work, forecast });
  }

  private changes(at: number, { kvUse, preemptions, ...change }: EngineChange, nowSeconds: number): void {
    const seat = this.seats[at];
    if (seat === undefined) return;
    Object.assign(seat, change);
    if (change.listed !== undefined) this.listed = this.seats.filter(({ listed }) => listed);
    const readSeconds = nowSeconds;
    if (kvUse !== undefined) Object.assign(seat, { readSeconds, kvUse: { state: "fresh", value: kvUse, ageSeconds: 0 } });
    if (preemptions !== undefined) Object.assign(seat, { readSeconds, preemptions: { state: "fresh", value: preemptions, ageSeconds: 0 } });
  }

  private outage() {
    const isLost = (model: string): boolean => !this.listed.some((seat) => seat.model === model && !seat.down);
    return { isLost, lowerMayAnswer: this.lowerMayAnswer };
  }

  private decide(nowSeconds: number): readonly Action[] {
    for (const seat of this.seats) {
      const ageSeconds = nowSeconds - seat.readSeconds;
      const state = ageSeconds <= FRESH_SECONDS ? ("fresh" as const) : ("stale" as const);
      if ("value" in seat.kvUse) seat.kvUse = { ...seat.kvUse, state, ageSeconds };
      if (seat.preemptions !== undefined && "value" in seat.preemptions) seat.preemptions = { ...seat.preemptions, state, ageSeconds };
    }
    const since = this.policy.choosesModel ? "programArrivalSeconds" : "queuedSinceSeconds";
    const waiting = [...this.waiting.values()].sort((one, other) => one[since] - other[since]);
    return this.policy.decide({ nowSeconds, waiting, replicas: this.listed, outage: this.outage() });
  }

  private carryOut(action: Action, nowSeconds: number): void {
    const { workId } = action;
    const work = this.waiting.get(workId);
    if (work === undefined) throw new Error(`The policy decided on request ${workId}, which does not wait`);
    this.waiting.delete(workId);
    const { programId, answeredStages = [] } = work;
    switch (action.kind) {
      case "dispatch": {
        const { replicaId } = action;
        const seat = this.listed.find(({ id }) => id === replicaId);
        if (seat === undefined || seat.inFlight >= seat.maxInFlight) throw new Error(`The policy chose ${replicaId}, which has no room`);
        seat.inFlight += 1;
        this.flying.set(workId, { replicaId, work: { ...work, stage: action.stage ?? work.stage } });
        this.policy.observe({ kind: "dispatched", workId, programId, replicaId, nowSeconds });
        return;
      }
      case "escalate":
        this.queue({
          ...{ ...work, stage: action.stage, queuedSinceSeconds: nowSeconds, state: { kind: "queued" } },
          answeredStages: [...answeredStages, work.stage],
        });
        return;
      case "skip":
        this.policy.observe({ kind: "left", workId, nowSeconds });
        if (!answeredStages.includes(action.stage)) {
          this.queue({ ...work, stage: action.stage, queuedSinceSeconds: nowSeconds });
          return;
        }
        break;
      case "refuse":
        this.policy.observe({ kind: "left", workId, nowSeconds });
        break;
      case "accept":
        break;
    }
    if (programId === `alone ${workId}`) this.policy.observe({ kind: "ended", programId });
  }
}
