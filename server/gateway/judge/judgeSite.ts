import type { Dispatcher } from "undici";
import type { CallWatch } from "../engines/engineCall";

/** Where one judge call goes. */
export interface JudgePlace {
  readonly pool: Dispatcher;
  readonly path: string;
  /** What the engine there calls the judge's model, where it has a name of its own for it. */
  readonly servedName?: string;
  /** Notices that it hangs; undefined: only the call's own time ends it. */
  readonly watch: CallWatch | undefined;
  /** Gives the place back; `cut-off`: the call ended before it could tell whether the judge works. */
  leave(how: "answered" | "failed" | "cut-off"): void;
}

/** What judges: an endpoint that the gateway only knows the address of, or engines of the configuration. */
export interface JudgeSite {
  /** Sent with every call. */
  readonly headers: Readonly<Record<string, string>>;
  /** Calls made at most for one score, each after the one before has failed. */
  readonly attempts: number;
  /** Why no call can be made now or soon; null when one can. */
  unavailable(): string | null;
  /** A slot, if one is free and no call waits; else null. */
  tryEnter(): JudgePlace | null;
  /** Whether `trySpare` would give a place now. */
  hasSpare(): boolean;
  /** A place at once of those that leave half of all free, for work that must give way; else null. */
  trySpare(): JudgePlace | null;
  /** A place in turn; null when `signal` fired before, or no place will come. */
  enter(signal: AbortSignal): Promise<JudgePlace | null>;
  /** What keeps those that wait for a place, to be followed by for how long. */
  full(): string;
  /** Ends every connection of its own. */
  close(): void;
}
