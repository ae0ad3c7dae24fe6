import { ResidentThread } from "@/server/threads/residentThread";
import type { AgentLine, LineAgent } from "@/solver/workflow/learning/agentLine";

/** Delay between two starts of a thread that fails. */
const againMs = 10_000;
/** Five thousand agents take half a second on an idle core. */
const limitMs = 30_000;

/** Places agents on their line in a separate thread, which starts at the first call and again after it ended. */
export class LineThread {
  readonly #thread = new ResidentThread<readonly LineAgent[], AgentLine>({
    ...{ file: "lineWorker", heapMb: 512, restartAfterMs: againMs, keepsProcess: false },
  });

  /** The line of these agents; null if there is no thread, or it fails. Never rejects. */
  async place(agents: readonly LineAgent[]): Promise<AgentLine | null> {
    return this.#thread.ask(agents, { limitMs }).catch(() => null);
  }

  close(): void {
    void this.#thread.close();
  }
}
