import type { SecretOrigins } from "@/server/contracts/engine/secretOrigins";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { canonicalJson } from "@/solver/plan/canonical";
import { Judge } from "./judge";
import { JudgeEndpoint } from "./judgeEndpoint";
import { JudgeEngines, type JudgeEnginesOptions } from "./judgeEngines";

export interface JudgeLimits {
  readonly timeoutSeconds: number;
  readonly maxInFlight: number;
}

type Ground = Omit<JudgeEnginesOptions, "model">;

/** The judge of the configuration in force. */
export class JudgeInForce {
  readonly #limits: JudgeLimits;
  readonly #origins: SecretOrigins;
  readonly #deps: Ground;
  #judge: { readonly judge: Judge; readonly key: string } | null = null;
  /**
   * The queues for judging engines, by model: calls of a judge with other settings wait in the same queue as those of the previous judge.
   */
  readonly #lines = new Map<string, JudgeEngines>();

  constructor(limits: JudgeLimits, origins: SecretOrigins, deps: Ground) {
    this.#limits = limits;
    this.#origins = origins;
    this.#deps = deps;
  }

  get judge(): Judge | null {
    return this.#judge?.judge ?? null;
  }

  /** Queues of calls for engines of the configuration. */
  get lines(): Iterable<JudgeEngines> {
    return this.#lines.values();
  }

  /** Puts a configuration's judge into force; an unchanged judge continues. */
  install({ judge, settings }: GatewayConfig): void {
    const { timeoutSeconds = this.#limits.timeoutSeconds, maxInFlight = this.#limits.maxInFlight, ...wording } = settings?.judge ?? {};
    const key = judge === null ? null : canonicalJson({ judge, timeoutSeconds, maxInFlight, wording });
    if (key !== null && key === this.#judge?.key) return;
    // The old judge's connections close by themselves when idle; requests in flight may still use it.
    this.#judge = null;
    if (judge === null || key === null) return;
    const { model, url, keyFromEnvironment } = judge;
    const site =
      url === undefined
        ? this.#line(model)
        : new JudgeEndpoint({ url, keyFromEnvironment, maxInFlight, connectSeconds: timeoutSeconds, origins: this.#origins });
    this.#judge = { judge: new Judge({ model, site, timeoutSeconds, wording }), key };
  }

  /** Withdraws calls that wait for engines that are no longer listed. */
  withdraw(): void {
    for (const [model, { driver }] of this.#lines) {
      if (this.#deps.pool.lists(model, { cordoned: true })) continue;
      driver.withdraw(() => false);
      this.#lines.delete(model);
    }
  }

  /** Ends every connection. */
  close(): void {
    this.judge?.close();
  }

  #line(model: string): JudgeEngines {
    const line = this.#lines.get(model) ?? new JudgeEngines({ model, ...this.#deps });
    this.#lines.set(model, line);
    return line;
  }
}
