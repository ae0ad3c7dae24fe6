import { Roster } from "@/server/lib/roster";
import type { CallWatch, WatchedCall } from "./engineCall";
import type { EngineRead } from "./engineRead";

interface StallDetectorOptions {
  readonly quietSeconds: number;
  /** Checks the engine's health. */
  readonly health: () => Promise<EngineRead>;
  /** Called when the engine is found to hang, before its calls fail. */
  readonly onStalled: () => void;
}

/** Consecutive health checks without an answer after which an engine counts as hung. */
const unanswered = 2;

/**
 * Detects an engine that took calls and has gone silent, as after its process stopped or its host was lost: no connection ends then. If
 * nothing has come from it for a while although it has calls, its health is checked. An engine that gives any answer is busy and left
 * alone; so is one that refuses the connection: its host is up, and would have ended the calls of a dead process.
 */
export class StallDetector implements CallWatch {
  readonly #options: StallDetectorOptions;
  readonly #calls = new Roster<WatchedCall>();
  #heardMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #asking = false;

  constructor(options: StallDetectorOptions) {
    this.#options = options;
  }

  began(call: WatchedCall): void {
    if (this.#calls.size === 0) this.heard();
    this.#calls.add(call);
    if (this.#timer === undefined && !this.#asking) this.#look();
  }

  heard(): void {
    this.#heardMs = performance.now();
  }

  ended(call: WatchedCall): void {
    this.#calls.remove(call);
  }

  /** Stops watching. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#calls.takeAll();
  }

  #look(): void {
    const quietMs = this.#options.quietSeconds * 1000;
    // One timer serves all calls.
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        if (this.#calls.size === 0) return;
        if (performance.now() - this.#heardMs < quietMs) this.#look();
        else void this.#ask();
      },
      Math.max(1, this.#heardMs + quietMs - performance.now()),
    );
    this.#timer.unref();
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    const sinceMs = this.#heardMs;
    let reason = "";
    for (let asked = 0; asked < unanswered; asked += 1) {
      const read = await this.#options.health();
      if (read.kind !== "failed") {
        this.heard();
        break;
      }
      reason = read.reason;
    }
    this.#asking = false;
    if (this.#heardMs === sinceMs && this.#calls.size > 0) {
      const calls = this.#calls.takeAll();
      this.#options.onStalled();
      const seconds = Math.round((performance.now() - sinceMs) / 1000);
      for (const call of calls) call.fail("silent", `the engine hangs: nothing came from it for ${seconds} s, and ${reason}`);
    } else if (this.#calls.size > 0) this.#look();
  }
}
