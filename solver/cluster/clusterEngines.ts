import { SlotHeap } from "@/solver/collections/slotHeap";
import type { EngineRequest, OnReplicaEvent, Replica } from "@/solver/engine/replica";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import type { Reading, ReplicaView } from "@/solver/policies/core/policy";
import { EngineCache } from "@/solver/prefix/engineCache";
import { createReplica } from "../engine/createReplica";
import { type RecordedTimes, recordedReplica } from "./recordedTimes";

/** One engine of the deployment. */
export interface ClusterReplica {
  readonly id: string;
  readonly model: string;
  readonly replica: ReplicaModel;
  /** Maximum number of requests it holds at once; the rest waits in the driver's queue, where the policy orders it. */
  readonly maxInFlight: number;
  /** Replicas of the same engine are one engine under several models' names: one batch and one cache. Left out: an engine of its own. */
  readonly engine?: string;
}

/** An engine with the state that the policy does not see. */
interface Engine {
  readonly replica: Replica;
  readonly kvTokens: number;
  readonly maxSequences: number;
  readonly held: Held;
  readonly onEvent: OnReplicaEvent;
  /** null: it keeps no prefixes. */
  readonly cache: EngineCache | null;
}

/** Hashes of the blocks of a request's prompt, of `promptBlocks`; undefined where they are not known. */
export type PromptBlocksOf = (request: number) => Uint32Array | undefined;

interface KnownOfRequests {
  readonly promptBlocks?: PromptBlocksOf | undefined;
  readonly times?: RecordedTimes | undefined;
}

const noBlocks = new Uint32Array();

/** A replica as policies see it; several have one engine where it serves several models. */
interface Place {
  /** Index of its engine. */
  readonly engine: number;
  readonly view: { -readonly [field in keyof ReplicaView]: ReplicaView[field] };
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
  /** 1 for a request that an engine has ever preempted from its batch. */
  readonly preempted: Uint8Array;
  /** When a request was last preempted, and for how long it has been outside of the batch since its first entry. */
  private readonly pausedSince: Float64Array;
  private readonly pausedSeconds: Float64Array;
  private readonly engines: readonly Engine[];
  private readonly places: readonly Place[];
  private readonly placeOf: ReadonlyMap<string, number>;
  private readonly nextEvents: Float64Array;
  private readonly inputTokens: Int32Array;
  /** Requests that an engine has finished, by the time at which their answers are visible; ties in the order of finishing. */
  private readonly returning: SlotHeap;
  private returned = 0;
  /** The place of each request that is at one. */
  private readonly placeAt: Int32Array;
  private readonly promptBlocks: PromptBlocksOf | undefined;
  private readonly times: RecordedTimes | undefined;

  /**
   * @param inputTokens of each request.
   * @param known prompts' blocks of each request; left out: engines keep no prefixes. Times of a recorded run; left out: engines are modelled.
   */
  constructor(replicas: readonly ClusterReplica[], inputTokens: Int32Array, { promptBlocks, times }: KnownOfRequests = {}) {
    const count = inputTokens.length;
    this.promptBlocks = promptBlocks;
    this.times = times;
    this.inputTokens = inputTokens;
    this.firstTokenSeconds = new Float64Array(count);
    this.admittedSeconds = new Float64Array(count).fill(Number.NaN);
    this.preempted = new Uint8Array(count);
    this.pausedSince = new Float64Array(count);
    this.pausedSeconds = new Float64Array(count);
    this.returning = new SlotHeap(count);
    this.placeAt = new Int32Array(count);
    const first = new Map<string, ClusterReplica>();
    for (const one of replicas) if (!first.has(engineKey(one))) first.set(engineKey(one), one);
    const keys = [...first.keys()];
    this.engines = [...first.values()].map(({ replica }) => this.engine(replica));
    this.places = replicas.map((one) => ({ engine: keys.indexOf(engineKey(one)), view: viewOf(one) }));
    this.views = this.places.map(({ view }) => view);
    this.placeOf = new Map(replicas.map((replica, index) => [replica.id, index]));
    this.nextEvents = new Float64Array(this.engines.length).fill(Number.POSITIVE_INFINITY);
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
    const at = this.placeOf.get(replicaId);
    const place = at === undefined ? undefined : this.places[at];
    const engine = place === undefined ? undefined : this.engines[place.engine];
    if (at === undefined || place === undefined || engine === undefined)
      throw new Error(`The policy chose the replica ${replicaId}, which is not there`);
    if (place.view.inFlight >= place.view.maxInFlight) throw new Error(`The policy chose the replica ${replicaId}, which is full`);
    place.view.inFlight++;
    this.placeAt[request] = at;
    this.admittedSeconds[request] = Number.NaN;
    this.pausedSeconds[request] = 0;
    const fits = engine.replica.enqueue(request, { ...work, inputTokens: this.inputTokens[request] ?? 0 });
    this.nextEvents[place.engine] = engine.replica.nextEventSeconds();
    return fits;
  }

  /** Time of the request in its engine's batch; undefined where it has not entered it. */
  servedSeconds(request: number, now: number): number | undefined {
    const admitted = this.admittedSeconds[request] ?? Number.NaN;
    return Number.isNaN(admitted) ? undefined : now - admitted - (this.pausedSeconds[request] ?? 0);
  }

  /** Frees the request's place; returns the replica's id. */
  release(request: number): string {
    const { view } = this.places[this.placeAt[request] ?? 0] as Place;
    view.inFlight--;
    return view.id;
  }

  /** Gives the policy readings of the caches' use and preemptions. No event may be due before `now`. */
  readMemory(now: number): void {
    for (const { replica, onEvent } of this.engines) replica.advanceTo(now, onEvent);
    for (const { view, engine } of this.places) {
      const { replica, kvTokens } = this.engines[engine] as Engine;
      view.kvUse = { state: "fresh", value: replica.kvTokensUsed / kvTokens, ageSeconds: 0 };
      view.preemptions = { state: "fresh", value: replica.preemptions, ageSeconds: 0 };
    }
  }

  /** Ages the readings: they are fresh for three seconds, and no longer valid after ten. */
  ageMemory(ageSeconds: number): void {
    for (const { view } of this.places) {
      view.kvUse = aged(view.kvUse, ageSeconds);
      view.preemptions = aged(view.preemptions ?? ABSENT, ageSeconds);
    }
  }

  /** Mean share of the time in which the model's replicas had a running step. */
  busyShare(model: string, horizonSeconds: number): number {
    const own = this.enginesOf(model);
    return own.reduce((sum, { replica }) => sum + replica.busySeconds, 0) / (horizonSeconds * own.length);
  }

  /**
   * Mean utilisation of the model's replicas over the time, 0..1: of sequences or of KV cache, whichever of an engine is closer to
   * its limit. An engine with one request at a time is always busy and nearly empty. All requests must have left.
   */
  fullShare(model: string, horizonSeconds: number): number {
    const own = this.enginesOf(model);
    const full = own.reduce(
      (sum, { held, maxSequences, kvTokens }) => sum + Math.max(held.sequenceSeconds / maxSequences, held.kvTokenSeconds / kvTokens),
      0,
    );
    return full / (horizonSeconds * own.length);
  }

  preemptions(): number {
    return this.engines.reduce((sum, { replica }) => sum + replica.preemptions, 0);
  }

  /** Share of the prompts' tokens, as often as they entered a batch, that the model's engines found in their prefix caches; null: none entered. */
  prefixHitShare(model: string): number | null {
    const caches = this.enginesOf(model).flatMap(({ cache }) => cache ?? []);
    const queried = caches.reduce((sum, { queriedTokens }) => sum + queriedTokens, 0);
    return queried === 0 ? null : caches.reduce((sum, { foundTokens }) => sum + foundTokens, 0) / queried;
  }

  promotions(): number {
    return this.engines.reduce((sum, { replica }) => sum + replica.promotions, 0);
  }

  private enginesOf(model: string): readonly Engine[] {
    return this.places.flatMap(({ view, engine }) => (view.model === model ? (this.engines[engine] ?? []) : []));
  }

  private engine(replica: ReplicaModel): Engine {
    const held: Held = { sequenceSeconds: 0, kvTokenSeconds: 0 };
    const { promptBlocks } = this;
    const cache = promptBlocks === undefined ? null : new EngineCache();
    const blocksOf = (request: number): Uint32Array => promptBlocks?.(request) ?? noBlocks;
    const lookUp =
      cache === null
        ? undefined
        : (request: number, freeTokens: number) =>
            cache.enter(request, blocksOf(request), { promptTokens: this.inputTokens[request] ?? 0, freeTokens });
    return {
      replica:
        this.times === undefined
          ? createReplica(
              replica,
              ({ fromSeconds, toSeconds, firstKvTokens, lastKvTokens }) => {
                held.kvTokenSeconds += ((toSeconds - fromSeconds) * (firstKvTokens + lastKvTokens)) / 2;
              },
              lookUp,
            )
          : recordedReplica(this.times),
      cache,
      kvTokens: replica.kvTokens,
      maxSequences: replica.maxSequences,
      held,
      onEvent: (kind, request, seconds, seenSeconds) => {
        if (kind === "admitted") held.sequenceSeconds -= seconds;
        else if (kind !== "first-token") held.sequenceSeconds += seconds;
        if (kind === "preempted") {
          this.preempted[request] = 1;
          this.pausedSince[request] = seconds;
        }
        if (kind === "admitted" && Number.isNaN(this.admittedSeconds[request])) this.admittedSeconds[request] = seconds;
        else if (kind === "admitted")
          this.pausedSeconds[request] = (this.pausedSeconds[request] ?? 0) + seconds - (this.pausedSince[request] ?? 0);
        if (kind === "first-token") cache?.computed(request, blocksOf(request));
        else if (kind !== "admitted") cache?.leave(request);
        if (kind !== "first-token" && kind !== "finished") return;
        if (kind === "first-token") this.firstTokenSeconds[request] = seenSeconds;
        else this.returning.push(request, seenSeconds, this.returned++);
      },
    };
  }
}

const engineKey = ({ id, engine }: ClusterReplica): string => (engine === undefined ? `of ${id}` : `engine ${engine}`);

const viewOf = ({ id, model, replica, maxInFlight }: ClusterReplica): Place["view"] => ({
  ...{ id, model, inFlight: 0, maxInFlight, accepting: true },
  ...{ kvUse: ABSENT, kvTokens: replica.kvTokens, preemptions: ABSENT },
});

function aged(reading: Reading, ageSeconds: number): Reading {
  if (reading.state !== "fresh" && reading.state !== "stale") return reading;
  if (ageSeconds > UNREACHABLE_SECONDS) return { state: "unreachable" };
  return { state: ageSeconds > FRESH_SECONDS ? "stale" : "fresh", value: reading.value, ageSeconds };
}
