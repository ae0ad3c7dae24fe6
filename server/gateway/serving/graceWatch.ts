import type { AuditNote } from "../lib/auditLog";
import type { Serving } from "./serving";

/** Interval at which thresholds are looked at, in wall milliseconds. */
const lookMs = 250;

type Lowered = ReturnType<NonNullable<Serving["cascade"]>["driver"]["grace"]>;

interface GraceWatchOptions {
  readonly serving: { readonly cascade?: { readonly driver: { grace(): Lowered } } | undefined };
  readonly note: (note: AuditNote) => void;
}

/** One period of lowered thresholds. */
interface Period {
  readonly sinceMs: number;
  /** The lowest threshold of each model so far, with that of the plan. */
  readonly lowest: Map<string, { readonly planned: number; readonly inForce: number }>;
}

/** Writes audit entries when overload begins to lower thresholds of the cascade in force and when all are the plan's again. */
export class GraceWatch {
  readonly #options: GraceWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #period: Period | null = null;

  constructor(options: GraceWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.look(), lookMs);
    this.#timer.unref();
  }

  /** Thresholds also return while nothing happens, so that it looks by itself, too. */
  look(): void {
    const { serving, note } = this.#options;
    const lowered = serving.cascade?.driver.grace() ?? [];
    if (lowered.length === 0) {
      this.#end();
      return;
    }
    if (this.#period === null) {
      this.#period = { sinceMs: Math.min(...lowered.map(({ sinceMs }) => sinceMs)), lowest: new Map() };
      const which = lowered.map(({ model, planned }) => `of ${model}, ${planned} in the plan`).join(" and ");
      const detail = `Too many requests wait for a later stage: the threshold ${which}, falls inside its approved range.`;
      note({ by: "gateway", action: "grace began", detail });
    }
    for (const { model, planned, inForce } of lowered) {
      const lowest = Math.min(inForce, this.#period.lowest.get(model)?.inForce ?? inForce);
      this.#period.lowest.set(model, { planned, inForce: lowest });
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #end(): void {
    if (this.#period === null) return;
    const { sinceMs, lowest } = this.#period;
    this.#period = null;
    const seconds = Math.round((Date.now() - sinceMs) / 1000);
    const fell = [...lowest].map(([model, { planned, inForce }]) => `${model} from ${planned} to ${inForce}`).join(", ");
    const detail = `The thresholds are those of the plan in force, after ${seconds} s. Lowest since: ${fell}.`;
    this.#options.note({ by: "gateway", action: "grace ended", detail });
  }
}
