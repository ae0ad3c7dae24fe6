import { type Dispatcher, Pool } from "undici";
import { engineConnector, withEngineKey } from "@/server/contracts/engine/engineConnection";
import { guardedConnector } from "@/server/contracts/engine/guardedConnector";
import { EngineAccessReader } from "@/server/contracts/engine/readEngineAccess";
import type { SecretOrigins } from "@/server/contracts/engine/secretOrigins";
import type { GatewayReplica } from "@/server/contracts/gateway/gatewayAdmin";
import type { HostedEngine } from "@/solver/hardware/hostedModel";
import type { ReplicaView } from "@/solver/policies/core/policy";
import { AddedFields } from "./addedFields";
import { HealthCheck } from "./healthCheck";
import { HostedAccess, sendingNothing } from "./hostedAccess";
import { KvGauge, type KvReading } from "./kvGauge";
import { PriorityProbe } from "./priorityProbe";
import { StallDetector } from "./stallDetector";

// The first probe is early, since one reset connection is not an outage; then the wait doubles each time.
const firstProbeMs = 50;
// A GET costs a dead engine's host nothing, and until one succeeds other models do the engine's work.
const slowestProbeMs = 2_000;
const connectTimeoutMs = 2_000;
/** Failures in a row, a call and the probes after it, after which no request waits for the engine. */
const downAfterFailures = 4;
/** vLLM and other servers on uvicorn close a connection that was idle for 5 s: the gateway closes it first, so that no request meets that. */
const idleConnectionMs = 4_000;

/** The moment at which a policy looks at the engines. */
export interface InspectedArtefact {
  ms: number;
}

export interface ReplicaOptions {
  /** One shared by all engines. */
  readonly lookedAt: InspectedArtefact;
  /** Wall seconds without a byte after which an engine that has calls gets a health check. */
  readonly quietSeconds: number;
  /** Wall seconds of failed health checks after which no request waits for the engine, even if few checks failed by then. */
  readonly recoverySeconds: number;
  readonly origins: SecretOrigins;
  /** Makes a provider's API one of chat completions, by the kind of a hosted engine. */
  readonly provider: (kind: HostedEngine["kind"]) => Dispatcher.DispatcherComposeInterceptor;
  /** Called when an engine takes work again, or when it is given up. */
  readonly onAvailabilityChange: () => void;
}

/**
 * One engine: its connections, the gateway's requests in flight there, and whether it takes work. A failed call takes it out of service
 * until a health check succeeds, so a dead engine with nothing in flight does not attract the retries.
 */
export class Replica implements ReplicaView {
  readonly id: string;
  readonly model: string;
  /** What the engine itself calls its model. */
  readonly servedName: string;
  readonly #reached: string;
  readonly #access: EngineAccessReader;
  readonly #origin: string;
  /** The gateway has a key for it: clients do not see the engine's errors about keys. */
  readonly keyed: boolean;
  /** Sends requests to it, with the engine's own key if it has one. That of a hosted engine sends nothing. */
  readonly pool: Dispatcher;
  /** Set if a provider outside of the house serves it. */
  readonly hosted: HostedAccess | null;
  readonly #connections: Pool;
  /** Its address as it is configured. */
  readonly address: string;
  /** Base path of its API; empty for the root. */
  readonly basePath: string;
  /** Its metrics, read while a policy needs them. */
  readonly kv: KvGauge;
  readonly priority: PriorityProbe;
  readonly addedFields = new AddedFields();
  /** That by which an engine is asked for the tokens of a stream. */
  readonly usageField = new AddedFields();
  /** Watches every call. */
  readonly stallDetector: StallDetector;
  readonly #health: HealthCheck;
  inFlight = 0;
  #maxInFlight: number;
  cordoned = false;
  /** A roll-out brings its model back: requests for it must wait. */
  awaited = false;
  #retired = false;
  #healthy = true;
  #failures = 0;
  /** It was unhealthy for longer than anything waits for it. */
  #overdue = false;
  #patience: NodeJS.Timeout | undefined;
  readonly #recoveryMs: number;
  /** Reason of the last failure. */
  #reason: string | null = null;
  /** Time of the next probe, on the clock of `performance.now()`; null while it is healthy. */
  nextProbeMs: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  readonly #lookedAt: InspectedArtefact;
  readonly #onAvailabilityChange: () => void;

  constructor(
    config: GatewayReplica,
    { quietSeconds, recoverySeconds, onAvailabilityChange, lookedAt, origins, provider }: ReplicaOptions,
  ) {
    const url = new URL(config.url);
    this.id = config.id;
    this.model = config.model;
    this.servedName = config.servedName ?? config.model;
    this.#reached = wayTo(config);
    this.keyed = config.key !== undefined;
    this.address = config.url;
    this.#maxInFlight = config.maxInFlight;
    this.basePath = url.pathname.replace(/\/$/, "");
    // Timeouts are the request's own deadline; the central queue bounds the connections.
    const timeouts = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: idleConnectionMs };
    const access = new EngineAccessReader(config, { origins });
    this.#access = access;
    this.#origin = url.origin;
    const open = config.key !== undefined || config.caFile !== undefined;
    this.#connections = new Pool(url.origin, {
      ...timeouts,
      connect: open ? engineConnector(access, connectTimeoutMs) : guardedConnector({ timeoutMs: connectTimeoutMs }),
    });
    const { hosted } = config;
    const carried = hosted === undefined ? this.#connections : this.#connections.compose(provider(hosted.kind));
    const keyed = open ? carried.compose(withEngineKey(access, url.origin)) : carried;
    this.hosted = hosted === undefined ? null : new HostedAccess(hosted, { pool: keyed, onChange: onAvailabilityChange });
    this.pool = hosted === undefined ? keyed : this.#connections.compose(sendingNothing);
    const { pool, basePath, servedName: model } = this;
    this.#health = new HealthCheck({ pool, basePath, servedName: model });
    this.kv = new KvGauge(pool, basePath);
    this.priority = new PriorityProbe({ pool, basePath, model });
    this.stallDetector = new StallDetector({
      quietSeconds,
      // A provider's silence says nothing: it may write a long answer, which is not streamed.
      health: async () => (this.hosted === null ? (await this.#health.ask()).read : { kind: "answered", status: 200, text: "" }),
      onStalled: () => this.failed(),
    });
    this.#recoveryMs = recoverySeconds * 1000;
    this.#lookedAt = lookedAt;
    this.#onAvailabilityChange = onAvailabilityChange;
    this.update(config);
    const reading = access.at(url.origin);
    if (reading.ok) return;
    // No request waits for an operator's action.
    this.#failures = downAfterFailures;
    this.#healthy = false;
    this.#reason = reading.error.message;
    this.#probeLater();
  }

  get kvUse(): KvReading {
    return this.kv.useAt(this.#lookedAt.ms);
  }

  get preemptions(): KvReading {
    return this.kv.preemptionsAt(this.#lookedAt.ms);
  }

  get kvTokens(): number | null {
    return this.kv.tokens;
  }

  /** Requests that it may hold at once; of a hosted engine no more than its rate lets begin now. */
  get maxInFlight(): number {
    return this.hosted === null ? this.#maxInFlight : Math.min(this.#maxInFlight, this.inFlight + this.hosted.seats);
  }

  get accepting(): boolean {
    return !this.cordoned && !this.#retired && this.#healthy && (this.hosted === null || this.hosted.pause === null);
  }

  get state(): "active" | "cordoned" | "unhealthy" {
    if (!this.#healthy || this.hosted?.isClosed) return "unhealthy";
    return this.cordoned || this.#retired ? "cordoned" : "active";
  }

  /** Why it is unhealthy; null while it is healthy, or if only a failed call is known. */
  get unhealthyReason(): string | null {
    if (this.#healthy)
      return this.hosted?.isClosed ? (this.hosted.pause === "budget" ? "a budget is used up" : "its provider asked for a pause") : null;
    const reading = this.#access.at(this.#origin);
    return reading.ok ? this.#reason : reading.error.message;
  }

  /** Whether a budget for it is used up. */
  get isOverBudget(): boolean {
    return this.hosted?.pause === "budget";
  }

  /** Whether the key or the certificate for its requests is missing. */
  get lacksAccess(): boolean {
    return !this.#access.at(this.#origin).ok;
  }

  /** For policies: out of service, and no roll-out is about to bring it back. */
  get down(): boolean {
    return this.out && !this.awaited;
  }

  /** Out of service, and nothing waits for it. */
  get out(): boolean {
    if (this.cordoned || this.#retired || this.hosted?.isClosed) return true;
    return !this.#healthy && (this.#overdue || this.#failures >= downAfterFailures);
  }

  /** Whether a configuration means this engine, reached in the same way. */
  isReachedAs(config: GatewayReplica): boolean {
    return this.#reached === wayTo(config);
  }

  update({ state, maxInFlight, hosted }: GatewayReplica): void {
    this.cordoned = state === "cordoned";
    this.#maxInFlight = maxInFlight;
    if (this.hosted !== null && hosted !== undefined) this.hosted.terms = hosted;
  }

  /** When it may take work again, on the clock of `performance.now()`; null while it does. */
  get resumesMs(): number | null {
    return this.nextProbeMs ?? this.hosted?.resumesMs ?? null;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#recover();
  }

  failed(reason: string | null = null): void {
    if (!this.#healthy || this.#retired) return;
    this.#healthy = false;
    this.#reason = reason;
    this.#failures += 1;
    this.priority.forget();
    this.addedFields.forget();
    this.usageField.forget();
    this.#patience = setTimeout(() => {
      this.#overdue = true;
      this.#onAvailabilityChange();
    }, this.#recoveryMs);
    this.#patience.unref();
    this.#probeLater();
    if (this.out) this.#onAvailabilityChange();
  }

  /** Takes no new work and closes its connections once it is idle. */
  retire(): void {
    this.#retired = true;
    this.#stopTimers();
    this.hosted?.stop();
    this.kv.watch(null);
    if (this.inFlight === 0) void this.#connections.close();
  }

  begin(): void {
    this.inFlight += 1;
    this.hosted?.begin();
  }

  end(): void {
    this.inFlight -= 1;
    if (this.#retired && this.inFlight === 0 && !this.#connections.destroyed) void this.#connections.close();
  }

  /** Cuts every connection. */
  destroy(): void {
    this.#retired = true;
    this.#stopTimers();
    this.hosted?.stop();
    this.kv.watch(null);
    this.stallDetector.stop();
    if (!this.#connections.destroyed) void this.#connections.destroy();
  }

  #probeLater(): void {
    const delay = Math.min(slowestProbeMs, firstProbeMs * 2 ** (this.#failures - 1));
    this.nextProbeMs = performance.now() + delay;
    this.#timer = setTimeout(() => void this.#probe(), delay);
    this.#timer.unref();
  }

  async #probe(): Promise<void> {
    // The next request finds out whether a provider answers again.
    if (this.hosted !== null && !this.lacksAccess) return this.#recover();
    const { unhealthyReason, listedOnly } = await this.#health.ask();
    if (this.#retired || this.#healthy) return;
    if (unhealthyReason === null) {
      // Earlier failures may be about single requests or one moment: one client's requests must not keep others away for long. A proxy also
      // lists models whose engine is dead: there only an answer clears the failures, or the engine would attract the retries.
      if (!listedOnly) this.#failures = 0;
      this.#recover();
    } else {
      this.#failures += 1;
      this.#reason = unhealthyReason;
      this.#probeLater();
      if (this.#failures === downAfterFailures) this.#onAvailabilityChange();
    }
  }

  #recover(): void {
    if (this.#healthy) return;
    this.#stopTimers();
    this.#overdue = false;
    this.#healthy = true;
    this.nextProbeMs = null;
    this.#onAvailabilityChange();
  }

  #stopTimers(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#patience);
  }
}

function wayTo({ url, model, servedName, key, caFile, hosted }: GatewayReplica): string {
  return JSON.stringify([url, model, servedName, key, caFile, hosted?.kind]);
}
