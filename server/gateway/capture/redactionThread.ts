import { ResidentThread } from "@/server/threads/residentThread";
import { ThreadEnded } from "@/server/threads/workerThread";
import type { RedactionChoice, RedactionCounts } from "@/solver/redaction/redactor";

/** A prompt without what the rules found. */
export interface Redacted {
  readonly text: string;
  readonly counts: RedactionCounts;
}

/** A thread starts within some 50 ms; after ten seconds the machine is considered stuck. */
const startLimitMs = 10_000;

export type RedactionOutcome = Redacted | "too-slow" | "failed";

/** Redacts prompts one after the other in a separate thread, which is ended if one takes too long. */
export class RedactionThread {
  readonly #limitMs: number;
  readonly #thread: ResidentThread<string, Redacted | null>;

  /** @param limitMs for one prompt. */
  constructor(choice: RedactionChoice, limitMs: number) {
    this.#limitMs = limitMs;
    this.#thread = new ResidentThread({ file: "redactionWorker", data: choice, heapMb: 256, startLimitMs, keepsProcess: false });
  }

  /**
   * @param prompts JSON of chat requests' fields. The next batch is sent only after this one has returned.
   * @returns as many outcomes. Never rejects.
   */
  async redact(prompts: readonly string[]): Promise<readonly RedactionOutcome[]> {
    const outcomes: RedactionOutcome[] = [];
    for (const prompt of prompts) {
      const outcome = await this.#redact(prompt);
      if (outcome === "no-thread") return [...outcomes, ...prompts.slice(outcomes.length).map(() => "failed" as const)];
      outcomes.push(outcome);
    }
    return outcomes;
  }

  close(): void {
    void this.#thread.close();
  }

  async #redact(prompt: string): Promise<RedactionOutcome | "no-thread"> {
    try {
      return (await this.#thread.ask(prompt, { limitMs: this.#limitMs })) ?? "failed";
    } catch (problem) {
      // The error's message might quote the prompt.
      const kind = problem instanceof ThreadEnded ? problem.kind : "not-started";
      if (kind === "late") return "too-slow";
      return kind === "crashed" ? "failed" : "no-thread";
    }
  }
}
