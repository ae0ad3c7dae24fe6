import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { type InspectedArtefact, Replica, type ReplicaOptions } from "./replica";

/** All engines, over all configurations: an engine that leaves finishes what it has, one that stays keeps its connections. */
export class ReplicaPool {
  #replicas: readonly Replica[] = [];
  #leaving: readonly Replica[] = [];
  readonly #options: ReplicaOptions;
  readonly #lookedAt: InspectedArtefact = { ms: 0 };
  /** Models some engine of which takes work, or may again soon, and those of which one is on its way. */
  #expected: ReadonlySet<string> = new Set();
  #awaited: readonly string[] = [];

  constructor(options: Omit<ReplicaOptions, "lookedAt">) {
    const onAvailabilityChange = (): void => {
      this.#lookForLost();
      options.onAvailabilityChange();
    };
    this.#options = { ...options, onAvailabilityChange, lookedAt: this.#lookedAt };
  }

  /** The engines of the configuration in force, as policies see them. */
  get replicas(): readonly Replica[] {
    return this.#replicas;
  }

  /**
   * They as they stand at a moment of the clock of `performance.now()`. What is known of them is as old as it is at that moment, so that a
   * policy that reckons back from its own time finds one reading to be one.
   */
  replicasAt(nowMs: number): readonly Replica[] {
    this.#lookedAt.ms = nowMs;
    return this.#replicas;
  }

  /** Those, and the removed ones that still have requests in flight. */
  get all(): readonly Replica[] {
    this.#leaving = this.#leaving.filter((replica) => replica.inFlight > 0);
    return [...this.#replicas, ...this.#leaving];
  }

  /** Puts a configuration's list of engines into force, and of which models there are to be some soon. */
  update({ replicas, awaited = [] }: Pick<GatewayConfig, "replicas" | "awaited">): void {
    const before = new Map(this.#replicas.map((replica) => [replica.id, replica]));
    const next = replicas.map((config) => {
      const known = before.get(config.id);
      if (known === undefined || !known.isReachedAs(config)) return new Replica(config, this.#options);
      before.delete(config.id);
      known.update(config);
      return known;
    });
    for (const replica of next) replica.awaited = awaited.includes(replica.model);
    for (const gone of before.values()) gone.retire();
    this.#leaving = [...this.#leaving, ...before.values()].filter((replica) => replica.inFlight > 0);
    this.#replicas = next;
    this.#awaited = awaited;
    this.#lookForLost();
  }

  /** Whether no engine of the model takes work or is expected to soon. Cached, since policies ask it for every stage. */
  isLost(model: string): boolean {
    return !this.#expected.has(model);
  }

  /** Reads the KV use of every engine there is from now on, in a time of so many engine seconds in a wall second, or none with null. */
  watchKv(timeScale: number | null): void {
    for (const replica of this.#replicas) replica.kv.watch(timeScale);
  }

  /** Whether some engine of the model takes work, or may again soon. */
  available(model: string): boolean {
    return this.#replicas.some((replica) => replica.model === model && !replica.out);
  }

  /** Whether an engine other than this one takes work of its model. */
  hasOther(than: Replica): boolean {
    return this.#replicas.some((replica) => replica !== than && replica.model === than.model && replica.accepting);
  }

  /** Wall seconds until the next engine of the model that is out is looked at again; null where none is. */
  nextProbeSeconds(model: string): number | null {
    const nowMs = performance.now();
    const waits = this.#replicas.flatMap(({ model: own, nextProbeMs }) =>
      own === model && nextProbeMs !== null ? [Math.max(0, nextProbeMs - nowMs) / 1000] : [],
    );
    return waits.length === 0 ? null : Math.min(...waits);
  }

  /** Whether the configuration has an engine of the model; without `cordoned` ones on request. */
  lists(model: string, { cordoned }: { readonly cordoned: boolean }): boolean {
    return this.#replicas.some((replica) => replica.model === model && (cordoned || !replica.cordoned));
  }

  /** Ends every connection. */
  close(): void {
    for (const replica of this.all) replica.destroy();
  }

  #lookForLost(): void {
    const expected = this.#replicas.filter((replica) => !replica.out).map(({ model }) => model);
    this.#expected = new Set([...expected, ...this.#awaited]);
  }
}
