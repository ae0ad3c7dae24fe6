import type { Action, Policy, Start, WaitingWork } from "@/solver/policies/policy";
import type { ClusterWorld, Sending } from "./clusterWorld";
import { WaitingList } from "./waitingList";

/**
 * Drives a policy through a world on virtual time, as the gateway drives it on real time: requests join the stage it starts them at, it
 * sends them to replicas, answers of judged stages wait for the judge, then it accepts them or sends them on. It is asked once all that
 * happens at an instant has happened.
 */
export class ClusterDriver {
  private readonly policy: Policy;
  private readonly world: ClusterWorld;
  private readonly waiting: WaitingList;
  private readonly readsKv: boolean;
  private readonly ids: readonly string[];
  private readonly stage: Int8Array;
  /** Where the requests go that were sent on and have not joined yet. */
  private readonly sentTo: (Start | undefined)[];
  private undecided = false;
  /** Times the policy was asked. */
  decisions = 0;

  constructor(policy: Policy, world: ClusterWorld) {
    const count = world.programIds.length;
    this.policy = policy;
    this.world = world;
    this.waiting = new WaitingList(policy);
    this.readsKv = policy.needs.includes("kv-telemetry");
    this.ids = Array.from({ length: count }, (_, request) => String(request));
    this.stage = new Int8Array(count);
    this.sentTo = new Array<Start | undefined>(count).fill(undefined);
  }

  /** Goes on until nothing happens any more. */
  run(): void {
    const { world } = this;
    for (let now = world.nextSeconds(); now !== Number.POSITIVE_INFINITY; now = world.nextSeconds()) {
      world.advanceTo(now);
      for (let request = world.takeAnswered(now); request !== null; request = world.takeAnswered(now)) this.answered(request, now);
      for (let request = world.takeJudged(now); request !== null; request = world.takeJudged(now)) {
        this.queue(request, now, { kind: "answered", judgedScore: world.judgedScore(request) });
      }
      this.collectJoining(now);
      while (this.undecided) {
        this.decide(now);
        this.collectJoining(now);
      }
    }
  }

  /** Puts requests into their stages' queues. */
  private collectJoining(now: number): void {
    const { world } = this;
    for (let request = world.takeJoining(now); request !== null; request = world.takeJoining(now)) {
      const to = this.sentTo[request] ?? this.policy.start(world.starting(request));
      this.sentTo[request] = undefined;
      this.stage[request] = to.stage;
      world.joined(request, to, now);
      this.queue(request, now, { kind: "queued" });
    }
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
      state,
    };
    this.waiting.add(work);
    if (state.kind === "queued") this.policy.observe({ kind: "queued", work });
    this.undecided = true;
  }

  private answered(request: number, now: number): void {
    this.release(request, { now, failed: false });
    if (this.policy.judges(this.stage[request] ?? 0)) this.world.judge(request, now);
    else this.queue(request, now, { kind: "answered", judgedScore: null });
  }

  /** Frees the request's place on a replica and tells the policy. */
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
    if (this.readsKv) this.world.readKvUse(now);
    const { replicas } = this.world;
    const actions = this.policy.decide({ nowSeconds: now, waiting: this.waiting.shown(replicas), replicas });
    if (actions.length === 0) return;
    this.waiting.remove(actions);
    for (const action of actions) this.apply(action, now);
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
        this.sentTo[request] = action;
        this.world.sendOn(request, action, now);
        break;
    }
  }

  private dispatch(request: number, to: Sending, now: number): void {
    const { replicaId } = to;
    const fits = this.world.dispatch(request, to, now);
    const programId = this.world.programIds[request] ?? "";
    this.policy.observe({ kind: "dispatched", workId: this.ids[request] ?? "", programId, replicaId, nowSeconds: now });
    if (fits) return;
    // A request too long for the replica's cache stays unserved.
    this.release(request, { now, failed: true });
    this.ended(request);
  }

  private ended(request: number): void {
    if (this.world.endsProgram(request)) this.policy.observe({ kind: "ended", programId: this.world.programIds[request] ?? "" });
  }
}
