import { SlotHeap } from "@/solver/collections/slotHeap";
import type { EngineRequest, OnReplicaEvent, Replica } from "@/solver/engine/replica";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import type { Reading, ReplicaView } from "@/solver/policies/core/policy";
import { createReplica } from "../engine/createReplica";

/** One engine of the deployment. */
export interface ClusterReplica {
  readonly id: string;
  readonly model: string;
  readonly replica: ReplicaModel;
  /** Maximum number of requests it holds at once; the rest waits in the driver's queue, where the policy orders it. */
  readonly maxInFlight: number;
}

/** A replica with the state that the policy does not see. */
interface Engine {
  readonly replica: Replica;
  readonly kvTokens: number;
  readonly maxSequences: number;
  readonly held: Held;
  readonly view: { -readonly [field in keyof ReplicaView]: ReplicaView[field] };
  readonly onEvent: OnReplicaEvent;
}

/** An engine's use, integrated over its busy seconds; sequences only once none is in its batch. */
interface Held {
  sequenceSeconds: number;
  kvTokenSeconds: number;
}

/** As in the gateway, which reads once a second: a value is fresh for three of its periods, and known for ten. */
const FRESH_SECONDS = 3;
const UNREACHABLE_SECONDS = 10;

const ABSENT: Reading = { state: "absent" };

/** The engines of a deployment on virtual time. Requests are identified by their index in the sample. */
export class ClusterEngines {
  readonly views: readonly ReplicaView[];
  /** When the first token of a request's latest answer was seen. */
  readonly firstTokenSeconds: Float64Array;
  /** When a request first entered the batch of the engine that it was sent to last; NaN where it has not. */
  readonly admittedSeconds: Float64Array;
  /** 1 for a request that an engine has ever preempted from its batch for lack of memory. */
  readonly preempted: Uint8Array;
  private readonly engines: readonly Engine[];
  private readonly engineOf: ReadonlyMap<string, number>;
  private readonly nextEvents: Float64Array;
  private readonly inputTokens: Int32Array;
  /** Requests that an engine has finished, by the time at which their answers are visible; ties in the order of finishing. */
  private readonly returning: SlotHeap;
  private returned = 0;
  /** The engine of each request that is at one. */
  private readonly engineAt: Int32Array;

  /** @param inputTokens of each request. */
  constructor(replicas: readonly ClusterReplica[], inputTokens: Int32Array) {
    const count = inputTokens.length;
    this.inputTokens = inputTokens;
    this.firstTokenSeconds = new Float64Array(count);
    this.admittedSeconds = new Float64Array(count).fill(Number.NaN);
    this.preempted = new Uint8Array(count);
    this.returning = new SlotHeap(count);
    this.engineAt = new Int32Array(count);
    this.engines = replicas.map((replica) => this.engine(replica));
    this.views = this.engines.map(({ view }) => view);
    this.engineOf = new Map(replicas.map((replica, index) => [replica.id, index]));
    this.nextEvents = new Float64Array(replicas.length).fill(Number.POSITIVE_INFINITY);
  }

  /** Time of the next event of an engine or the next visible answer. */
  nextSeconds(): number {
    let next = this.returning.leastKey;
    for (const seconds of this.nextEvents) if (seconds < next) next = seconds;
    return next;
  }

  advanceTo(now: number): void {
    for (const [index, { replica, onEvent }] of this.engines.entries()) {
      if ((this.nextEvents[index] ?? 0) > now) continue;
      replica.advanceTo(now, onEvent);
      this.nextEvents[index] = replica.nextEventSeconds();
    }
  }

  /** The next request whose answer is visible by now; null when there is none. */
  takeAnswered(now: number): number | null {
    return this.returning.leastKey <= now ? this.returning.pop() : null;
  }

  /**
   * Sends a request to a replica; it counts as in flight there until it is released.
   *
   * @returns false when it exceeds the replica's cache: an engine answers that with an error.
   * @throws when the replica does not exist or is full: an error in the policy.
   */
  dispatch(request: number, replicaId: string, work: Omit<EngineRequest, "inputTokens">): boolean {
    const index = this.engineOf.get(replicaId);
    const engine = index === undefined ? undefined : this.engines[index];
    if (index === undefined || engine === undefined) throw new Error(`The policy chose the replica ${replicaId}, which is not there`);
    if (engine.view.inFlight >= engine.view.maxInFlight) throw new Error(`The policy chose the replica ${replicaId}, which is full`);
    engine.view.inFlight++;
    this.engineAt[request] = index;
    this.admittedSeconds[request] = Number.NaN;
    const fits = engine.replica.enqueue(request, { ...work, inputTokens: this.inputTokens[request] ?? 0 });
    this.nextEvents[index] = engine.replica.nextEventSeconds();
    return fits;
  }

  /** From when the request first entered its engine's batch; undefined where it has not. */
  servedSeconds(request: number, now: number): number | undefined {
    const admitted = this.admittedSeconds[request] ?? Number.NaN;
    return Number.isNaN(admitted) ? undefined : now - admitted;
  }

  /** Frees the request's place; returns the replica's id. */
  release(request: number): string {
    const { view } = this.engines[this.engineAt[request] ?? 0] as Engine;
    view.inFlight--;
    return view.id;
  }

  /** Gives the policy readings of the caches' use and preemptions. No event may be due before `now`. */
  readMemory(now: number): void {
    for (const { view, replica, kvTokens, onEvent } of this.engines) {
      replica.advanceTo(now, onEvent);
      view.kvUse = { state: "fresh", value: replica.kvTokensUsed / kvTokens, ageSeconds: 0 };
      view.preemptions = { state: "fresh", value: replica.preemptions, ageSeconds: 0 };
    }
  }

  /** Ages the readings: they are fresh for three seconds, and no longer valid after ten. */
  ageMemory(ageSeconds: number): void {
    for (const { view } of this.engines) {
      view.kvUse = aged(view.kvUse, ageSeconds);
      view.preemptions = aged(view.preemptions ?? ABSENT, ageSeconds);
    }
  }

  /** Mean share of the time in which the model's replicas had a running step. */
  busyShare(model: string, horizonSeconds: number): number {
    const own = this.engines.filter(({ view }) => view.model === model);
    return own.reduce((sum, { replica }) => sum + replica.busySeconds, 0) / (horizonSeconds * own.length);
  }

  /**
   * Mean utilisation of the model's replicas over the time, 0..1: of sequences or of KV cache, whichever of an engine is closer to
   * its limit. An engine with one request at a time is always busy and nearly empty. All requests must have left.
   */
  fullShare(model: string, horizonSeconds: number): number {
    const own = this.engines.filter(({ view }) => view.model === model);
    const full = own.reduce(
      (sum, { held, maxSequences, kvTokens }) => sum + Math.max(held.sequenceSeconds / maxSequences, held.kvTokenSeconds / kvTokens),
      0,
    );
    return full / (horizonSeconds * own.length);
  }

  preemptions(): number {
    return this.engines.reduce((sum, { replica }) => sum + replica.preemptions, 0);
  }

  promotions(): number {
    return this.engines.reduce((sum, { replica }) => sum + replica.promotions, 0);
  }

  private engine({ id, model, replica, maxInFlight }: ClusterReplica): Engine {
    const held: Held = { sequenceSeconds: 0, kvTokenSeconds: 0 };
    return {
      replica: createReplica(replica, (from, to, first, last) => {
        held.kvTokenSeconds += ((to - from) * (first + last)) / 2;
      }),
      kvTokens: replica.kvTokens,
      maxSequences: replica.maxSequences,
      held,
      view: { id, model, inFlight: 0, maxInFlight, accepting: true, kvUse: ABSENT, kvTokens: replica.kvTokens, preemptions: ABSENT },
      onEvent: (kind, request, seconds, seenSeconds) => {
        if (kind === "admitted") held.sequenceSeconds -= seconds;
        else if (kind !== "first-token") held.sequenceSeconds += seconds;
        if (kind === "preempted") this.preempted[request] = 1;
        if (kind === "admitted" && Number.isNaN(this.admittedSeconds[request])) this.admittedSeconds[request] = seconds;
        if (kind !== "first-token" && kind !== "finished") return;
        if (kind === "first-token") this.firstTokenSeconds[request] = seenSeconds;
        else this.returning.push(request, seenSeconds, this.returned++);
      },
    };
  }
}

function aged(reading: Reading, ageSeconds: number): Reading {
  if (reading.state !== "fresh" && reading.state !== "stale") return reading;
  if (ageSeconds > UNREACHABLE_SECONDS) return { state: "unreachable" };
  return { state: ageSeconds > FRESH_SECONDS ? "stale" : "fresh", value: reading.value, ageSeconds };
}
