import type { Action, Evidence, Policy, Start, StartingRequest, WaitingWork } from "@/solver/policies/core/policy";
import type { ClusterWorld, Sending } from "./clusterWorld";
import { WaitingList } from "./waitingList";

/**
 * Maximum number of consecutive calls of a policy about work that it holds back when no other event will ever occur. With every replica
 * idle it must send something on the first; only in a record, where engines may never answer, may it continue to hold back.
 */
const MOST_IDLE_QUESTIONS = 1000;

/**
 * Drives a policy through a world on virtual time, as the gateway drives it on real time: requests join their starting stage, the policy
 * sends them to replicas, answers of judged stages wait for the judge, then it accepts or escalates them. It is called once all events
 * of an instant have been processed.
 */
export class ClusterDriver {
  private readonly policy: Policy;
  private readonly world: ClusterWorld;
  private readonly waiting: WaitingList;
  private readonly readsMemory: boolean;
  private readonly ids: readonly string[];
  private readonly stage: Int8Array;
  /** What the policy may read of each request besides the answer at hand; undefined where it does not. */
  private readonly evidence: (Evidence | undefined)[] | undefined;
  /** The targets of escalated requests that have not joined yet. */
  private readonly sentTo: (Start | undefined)[];
  private undecided = false;
  /** The revision of the forecasts that waiting work has. */
  private forecastRevision = 0;
  /** Number of calls of the policy. */
  decisions = 0;

  constructor(policy: Policy, world: ClusterWorld) {
    const count = world.programIds.length;
    this.policy = policy;
    this.world = world;
    this.waiting = new WaitingList(policy);
    this.readsMemory = policy.needs.includes("kv-telemetry");
    this.ids = Array.from({ length: count }, (_, request) => String(request));
    this.stage = new Int8Array(count);
    this.evidence = policy.readsEvidence ? new Array<Evidence | undefined>(count).fill(undefined) : undefined;
    this.sentTo = new Array<Start | undefined>(count).fill(undefined);
  }

  /** Runs until there are no more events, and no held-back work that may still go. */
  run(): void {
    const { world } = this;
    let before = Number.NEGATIVE_INFINITY;
    for (let idle = 0; idle < MOST_IDLE_QUESTIONS; idle++) {
      const happens = world.nextSeconds();
      const asks = this.asksAgainSeconds();
      if (asks <= before) throw new Error(`The policy asks at ${before} s to be asked again at ${asks} s, which is not later`);
      const now = Math.min(happens, asks);
      if (now === Number.POSITIVE_INFINITY) return;
      if (happens !== Number.POSITIVE_INFINITY) idle = 0;
      this.undecided ||= asks <= now;
      this.step(now);
      before = now;
    }
  }

  /** The next time at which the policy wants to be called about held-back work; Infinity where it holds nothing back. */
  private asksAgainSeconds(): number {
    return this.waiting.size === 0 ? Number.POSITIVE_INFINITY : (this.policy.askAgainSeconds?.() ?? Number.POSITIVE_INFINITY);
  }

  private step(now: number): void {
    const { world } = this;
    world.advanceTo(now);
    for (let request = world.takeAnswered(now); request !== null; request = world.takeAnswered(now)) this.answered(request, now);
    for (let request = world.takeJudged(now); request !== null; request = world.takeJudged(now)) {
      this.queue(request, now, { kind: "answered", judgedScore: world.judgedScore(request) });
    }
    this.collectSearched(now);
    if (world.hasFreed?.()) this.undecided ||= this.waiting.size > 0;
    this.collectJoining(now);
    while (this.undecided) {
      this.decide(now);
      this.collectJoining(now);
    }
  }

  /** Gives waiting requests what was found for them. */
  private collectSearched(now: number): void {
    for (let found = this.world.takeSearched?.(now) ?? null; found !== null; found = this.world.takeSearched?.(now) ?? null) {
      const work = this.waiting.searched(this.ids[found.request] ?? "", found);
      if (work === undefined) continue;
      this.policy.observe({ kind: "searched", work });
      this.undecided = true;
    }
  }

  /** Adds requests to their stages' queues. */
  private collectJoining(now: number): void {
    const { world } = this;
    for (let request = world.takeJoining(now); request !== null; request = world.takeJoining(now)) {
      const to = this.sentTo[request] ?? this.start(request, world.starting(request));
      this.sentTo[request] = undefined;
      this.stage[request] = to.stage;
      world.joined(request, to, now);
      this.queue(request, now, { kind: "queued" });
    }
  }

  private start(request: number, starting: StartingRequest): Start {
    const { routerScores } = starting;
    if (this.evidence !== undefined) this.evidence[request] = { routerScores, answers: [] };
    return this.policy.start(starting);
  }

  /** Notes the score of an answer that a later stage follows. */
  private noteScore(request: number): void {
    const before = this.evidence?.[request];
    if (this.evidence === undefined || before === undefined) return;
    const answer = { stage: this.stage[request] ?? 0, score: this.world.judgedScore(request) };
    this.evidence[request] = { ...before, answers: [...before.answers, answer] };
  }

  private queue(request: number, now: number, state: WaitingWork["state"]): void {
    const { world } = this;
    const stage = this.stage[request] ?? 0;
    const work: WaitingWork = {
      id: this.ids[request] ?? "",
      programId: world.programIds[request] ?? "",
      stage,
      programArrivalSeconds: world.arrivalSeconds[request] ?? 0,
      queuedSinceSeconds: now,
      inputTokens: world.inputTokens[request] ?? 0,
      ...world.predictions(request, stage),
      ...(this.evidence && { evidence: this.evidence[request] }),
      state,
    };
    this.waiting.add(work);
    if (state.kind === "queued") this.policy.observe({ kind: "queued", work });
    this.undecided = true;
  }

  private answered(request: number, now: number): void {
    this.release(request, { now, failed: false });
    if (this.isScored(request)) this.world.judge(request, now);
    else this.queue(request, now, { kind: "answered", judgedScore: null });
  }

  private isScored(request: number): boolean {
    return this.policy.judges(this.stage[request] ?? 0, this.evidence?.[request]);
  }

  /** Frees the request's place on a replica and informs the policy. */
  private release(request: number, { now, failed }: { readonly now: number; readonly failed: boolean }): void {
    const servedSeconds = this.world.servedSeconds(request, now);
    const replicaId = this.world.release(request, now);
    const finished = { kind: "finished", workId: this.ids[request] ?? "", replicaId, nowSeconds: now, failed } as const;
    this.policy.observe(servedSeconds === undefined ? finished : { ...finished, servedSeconds });
    this.undecided ||= this.waiting.size > 0;
  }

  private decide(now: number): void {
    this.undecided = false;
    this.decisions++;
    if (this.readsMemory) this.world.readMemory(now);
    const { replicas, outage, forecasts } = this.world;
    const revision = forecasts?.revision(now) ?? this.forecastRevision;
    if (forecasts && revision !== this.forecastRevision) {
      this.forecastRevision = revision;
      this.waiting.reforecast((id) => forecasts.forecast(Number(id)));
    }
    const waiting = this.waiting.shown(replicas);
    const actions = this.policy.decide({ nowSeconds: now, waiting, replicas, ...(outage && { outage }) });
    if (actions.length === 0) return;
    this.waiting.remove(actions);
    for (const action of actions) this.apply(action, now);
    this.undecided ||= actions.length >= this.waiting.mostShown && this.waiting.size > 0;
  }

  private apply(action: Action, now: number): void {
    const request = Number(action.workId);
    switch (action.kind) {
      case "dispatch":
        this.dispatch(request, action, now);
        break;
      case "accept":
        this.world.accept(request, action.reason, now);
        this.ended(request);
        break;
      case "escalate":
        this.noteScore(request);
        this.sentTo[request] = action;
        this.world.sendOn(request, action, now);
        break;
      case "skip":
        this.sentTo[request] = action;
        this.world.sendOn(request, action, now);
        break;
      case "refuse":
        this.world.refuse(request, now);
        this.ended(request);
        break;
    }
  }

  private dispatch(request: number, to: Sending, now: number): void {
    const { replicaId, stage } = to;
    if (stage !== undefined) this.stage[request] = stage;
    const fits = this.world.dispatch(request, to, now);
    const programId = this.world.programIds[request] ?? "";
    this.policy.observe({ kind: "dispatched", workId: this.ids[request] ?? "", programId, replicaId, nowSeconds: now });
    if (fits) {
      const { beginGate } = this.world;
      if (beginGate !== undefined && this.isScored(request)) beginGate(request, now);
      return;
    }
    // A request that exceeds the replica's cache stays unserved.
    this.release(request, { now, failed: true });
    this.ended(request);
  }

  private ended(request: number): void {
    if (this.world.endsProgram(request)) this.policy.observe({ kind: "ended", programId: this.world.programIds[request] ?? "" });
  }
}
