import type { GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import type { AuditNote } from "../lib/auditLog";
import type { Serving } from "./serving";

/** A failing engine may come and go with every probe: a stage counts as back after this time. */
const settledMs = 5_000;

interface LostStage {
  readonly sinceMs: number;
  /** Set while its engines take work again. */
  back: NodeJS.Timeout | undefined;
}

interface StageWatchOptions {
  readonly serving: Pick<Serving, "cascade" | "pool">;
  readonly note: (note: AuditNote) => void;
}

/** Writes audit entries when a stage of the cascade in force loses its last engine and when it is back. */
export class StageWatch {
  readonly #options: StageWatchOptions;
  readonly #lost = new Map<string, LostStage>();
  #closed = false;

  constructor(options: StageWatchOptions) {
    this.#options = options;
  }

  /** The stages of which no engine takes work now, with the time of the loss. */
  get lost(): NonNullable<GatewayStatus["lostStages"]> {
    const { pool } = this.#options.serving;
    return [...this.#lost].flatMap(([model, { sinceMs }]) => (pool.isLost(model) ? [{ model, sinceMs }] : []));
  }

  /** Call this when engines come or go, or another configuration is in force. */
  look(): void {
    // Engines also come and go while requests are drained: an earlier loss of a stage would be noted again.
    if (this.#closed) return;
    const { serving } = this.#options;
    const stages = serving.cascade?.models ?? [];
    for (const [model, stage] of this.#lost) if (!stages.includes(model)) this.#forget(model, stage);
    for (const model of stages) {
      const stage = this.#lost.get(model);
      if (serving.pool.isLost(model)) {
        clearTimeout(stage?.back);
        if (stage === undefined) this.#lose(model);
        else stage.back = undefined;
      } else if (stage !== undefined && stage.back === undefined) {
        const backMs = Date.now();
        stage.back = setTimeout(() => this.#return(model, stage, backMs), settledMs);
        stage.back.unref();
      }
    }
  }

  close(): void {
    this.#closed = true;
    for (const [model, stage] of this.#lost) this.#forget(model, stage);
  }

  #lose(model: string): void {
    this.#lost.set(model, { sinceMs: Date.now(), back: undefined });
    const detail = `No engine of ${model} takes work: the remaining stages answer its requests.`;
    this.#options.note({ by: "gateway", action: "stage lost", detail });
  }

  #return(model: string, stage: LostStage, backMs: number): void {
    this.#forget(model, stage);
    const seconds = Math.round((backMs - stage.sinceMs) / 1000);
    this.#options.note({ by: "gateway", action: "stage back", detail: `Engines of ${model} take work again, after ${seconds} s.` });
  }

  #forget(model: string, { back }: LostStage): void {
    clearTimeout(back);
    this.#lost.delete(model);
  }
}
