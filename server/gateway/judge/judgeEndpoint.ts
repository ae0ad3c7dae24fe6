import { type Dispatcher, Pool } from "undici";
import { engineConnector, withEngineKey } from "@/server/contracts/engine/engineConnection";
import { EngineAccessReader } from "@/server/contracts/engine/readEngineAccess";
import type { SecretOrigins } from "@/server/contracts/engine/secretOrigins";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { Semaphore } from "@/server/lib/semaphore";
import type { JudgePlace, JudgeSite } from "./judgeSite";

interface JudgeEndpointOptions {
  readonly url: string;
  /** Environment variable that holds its API key; undefined where it needs none. */
  readonly keyFromEnvironment: string | undefined;
  readonly maxInFlight: number;
  readonly connectSeconds: number;
  readonly origins: SecretOrigins;
}

/** Why the required key of a configuration's judge is missing, in one sentence; null if it is present or not needed. */
export function missingJudgeKey(judge: GatewayConfig["judge"]): string | null {
  const name = judge?.keyFromEnvironment;
  return name === undefined || process.env[name] ? null : `The judge's key is read from ${name}, which is not set for the gateway.`;
}

/** A judge at an address: a limited number of concurrent calls, the others wait here. */
export class JudgeEndpoint implements JudgeSite {
  readonly attempts = 1;
  readonly #slots: Semaphore;
  readonly #access: EngineAccessReader;
  readonly #origin: string;
  readonly #maxInFlight: number;
  readonly #pool: Pool;
  readonly #place: JudgePlace;

  constructor({ url: given, keyFromEnvironment: name, maxInFlight, connectSeconds, origins }: JudgeEndpointOptions) {
    const url = new URL(given);
    this.#origin = url.origin;
    this.#access = new EngineAccessReader(name === undefined ? {} : { key: { environment: name } }, { origins });
    this.#maxInFlight = maxInFlight;
    this.#slots = new Semaphore(maxInFlight);
    this.#pool = new Pool(url.origin, { headersTimeout: 0, bodyTimeout: 0, connect: engineConnector(this.#access, connectSeconds * 1000) });
    const pool: Dispatcher = name === undefined ? this.#pool : this.#pool.compose(withEngineKey(this.#access, url.origin));
    const path = `${url.pathname.replace(/\/$/, "")}/v1/chat/completions`;
    this.#place = { pool, path, watch: undefined, leave: () => this.#slots.release() };
  }

  unavailable(): string | null {
    const reading = this.#access.at(this.#origin);
    return reading.ok ? null : reading.error.message.replace(/^T/, "t");
  }

  tryEnter(): JudgePlace | null {
    return this.#slots.tryAcquire() ? this.#place : null;
  }

  hasSpare(): boolean {
    return 2 * (this.#slots.held + 1) <= this.#maxInFlight;
  }

  trySpare(): JudgePlace | null {
    return this.hasSpare() ? this.tryEnter() : null;
  }

  async enter(signal: AbortSignal): Promise<JudgePlace | null> {
    return this.#slots.acquire(signal).then(
      () => this.#place,
      () => null,
    );
  }

  full(): string {
    return `${this.#maxInFlight} judge calls were in progress`;
  }

  close(): void {
    void this.#pool.destroy();
  }
}
