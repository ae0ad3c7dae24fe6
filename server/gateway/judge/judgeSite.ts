import type { Dispatcher } from "undici";
import type { CallWatch } from "../engines/engineCall";

/** The target of one judge call. */
export interface JudgePlace {
  readonly pool: Dispatcher;
  readonly path: string;
  /** The engine's own name of the judge's model, if it differs. */
  readonly servedName?: string;
  /** Detects that it hangs; undefined: only the call's own time limit ends it. */
  readonly watch: CallWatch | undefined;
  /** Returns the slot; `cut-off`: the call ended before it showed whether the judge works. */
  leave(how: "answered" | "failed" | "cut-off"): void;
}

/** The judge's location: an endpoint of which the gateway only knows the address, or engines of the configuration. */
export interface JudgeSite {
  /** Most calls for one score, each after the previous one has failed. */
  readonly attempts: number;
  /** Why no call can be made now or soon; null when one can. */
  unavailable(): string | null;
  /** A slot, if one is free and no call waits; else null. */
  tryEnter(): JudgePlace | null;
  /** Whether `trySpare` would give a slot now. */
  hasSpare(): boolean;
  /** A slot at once if half of all stay free, for work with a lower priority; else null. */
  trySpare(): JudgePlace | null;
  /** A slot in turn; null if `signal` fired first, or if no slot will come. */
  enter(signal: AbortSignal): Promise<JudgePlace | null>;
  /** Why calls wait for a slot; the text is followed by the waiting time. */
  full(): string;
  /** Closes its own connections. */
  close(): void;
}
