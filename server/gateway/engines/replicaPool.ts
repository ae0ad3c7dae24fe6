import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { ContextLengths } from "./contextLengths";
import { type InspectedArtefact, Replica, type ReplicaOptions } from "./replica";

/** All engines of all configurations: a removed engine finishes its requests, a kept one keeps its connections. */
export class ReplicaPool {
  #replicas: readonly Replica[] = [];
  #own: readonly Replica[] = [];
  /** Those of the house, which any work of the gateway may use. */
  readonly own = ownEngines(() => this.#own);
  /** How many tokens its engines take. */
  readonly contextLengths = new ContextLengths(() => this.#own);
  #leaving: readonly Replica[] = [];
  readonly #options: ReplicaOptions;
  readonly #lookedAt: InspectedArtefact = { ms: 0 };
  /** Models with an engine that takes work or may do so again soon, and models with an engine on its way. */
  #expected: ReadonlySet<string> = new Set();
  #awaited: readonly string[] = [];
  #hosted: ReadonlySet<string> = new Set();

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
   * The engines at a moment of the clock of `performance.now()`. The age of their readings is relative to that moment, so that a policy
   * that subtracts the age from its own time always gets the same time for one reading.
   */
  replicasAt(nowMs: number): readonly Replica[] {
    this.#lookedAt.ms = nowMs;
    return this.#replicas;
  }

  /** The engines in force, and the removed ones that still have requests in flight. */
  get all(): readonly Replica[] {
    this.#leaving = this.#leaving.filter((replica) => replica.inFlight > 0);
    return [...this.#replicas, ...this.#leaving];
  }

  /** Puts a configuration's list of engines into force, and the list of models whose engines are expected soon. */
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
    this.#own = next.filter(({ hosted }) => hosted === null);
    this.#awaited = awaited;
    this.#hosted = new Set(next.filter(({ hosted }) => hosted !== null).map(({ model }) => model));
    this.#lookForLost();
  }

  /** Whether no engine of the model takes work or is expected to soon. Cached, since policies ask it for every stage. */
  isLost(model: string): boolean {
    return !this.#expected.has(model);
  }

  /** Reads the KV use of all engines from now on, at a clock of so many engine seconds per wall second; null: reads none. */
  watchKv(timeScale: number | null): void {
    for (const replica of this.#own) replica.kv.watch(timeScale);
  }

  get hasHosted(): boolean {
    return this.#hosted.size > 0;
  }

  /** Whether all engines of a model are hosted: its requests leave the house. */
  isHosted(model: string): boolean {
    return this.#hosted.has(model);
  }

  /** Seconds for which a request that another stage can answer waits for a hosted model. */
  mostPauseSeconds(model: string): number {
    return Math.max(0, ...this.#replicas.map((replica) => (replica.model === model ? (replica.hosted?.terms.mostPauseSeconds ?? 0) : 0)));
  }

  /** Whether a budget keeps all engines of a model from work. */
  isOverBudget(model: string): boolean {
    return this.isHosted(model) && this.#replicas.every((replica) => replica.model !== model || replica.isOverBudget);
  }

  /** Whether an engine of the model takes work, or may do so again soon. */
  available(model: string): boolean {
    return this.#replicas.some((replica) => replica.model === model && !replica.out);
  }

  /** Whether another engine of its model, or of one of the given models, takes work. */
  hasOther(than: Replica, models: readonly string[] = [than.model]): boolean {
    return this.#replicas.some((replica) => replica !== than && models.includes(replica.model) && replica.accepting);
  }

  /** Wall seconds until the next probe of an engine of the model that is out of service; null if there is none. */
  nextProbeSeconds(model: string): number | null {
    const nowMs = performance.now();
    const waits = this.#replicas.flatMap(({ model: own, resumesMs }) =>
      own === model && resumesMs !== null ? [Math.max(0, resumesMs - nowMs) / 1000] : [],
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

const ownEngines = (read: () => readonly Replica[]): { readonly replicas: readonly Replica[] } => ({
  get replicas() {
    return read();
  },
});
