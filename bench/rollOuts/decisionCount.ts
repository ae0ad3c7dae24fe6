import { z } from "zod";
import type { AdminClient } from "@/server/clusters/connector/adminClient";
import { gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";

/** The gateway's records of its requests. */
export interface DecisionCount {
  readonly decided: number;
  /** Records of requests that were not answered 200, as `status reason`. */
  readonly failures: readonly string[];
  /** Requests that it rejected on arrival. */
  readonly refused: number;
}

const pageSchema = z.object({
  decisions: z.array(z.object({ sequence: z.int(), status: z.int(), reason: z.string().nullish() })),
  latest: z.int(),
});

const everyMs = 500;

/** Reads every record that a gateway makes, as the studio does. */
export class DecisionReader {
  readonly #gateway: AdminClient;
  readonly #failures: string[] = [];
  #decided = 0;
  #cursor = 0;
  #ended = false;
  readonly #reading: Promise<void>;

  constructor(gateway: AdminClient) {
    this.#gateway = gateway;
    this.#reading = this.#read();
    // Reported at the end.
    this.#reading.catch(() => undefined);
  }

  /** Reads the available records and summarises them. */
  async end(): Promise<DecisionCount> {
    this.#ended = true;
    await this.#reading;
    const status = await this.#gateway("/status", { schema: gatewayStatusSchema });
    const refused = status.ok ? (status.value.value?.refused ?? 0) : Number.NaN;
    return { decided: this.#decided, failures: this.#failures, refused };
  }

  async #read(): Promise<void> {
    for (;;) {
      const last = this.#ended;
      for (let latest = this.#cursor + 1; this.#cursor < latest; ) latest = await this.#page();
      if (last) return;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }

  /** The sequence of the newest record. */
  async #page(): Promise<number> {
    const page = await this.#gateway(`/decisions?after=${this.#cursor}`, { schema: pageSchema });
    if (!page.ok || page.value.value === null) throw new Error(page.ok ? "The gateway answered with nothing." : page.message);
    const { decisions, latest } = page.value.value;
    this.#decided += decisions.length;
    for (const { status, reason } of decisions) if (status !== 200) this.#failures.push(`${status} ${reason ?? ""}`);
    this.#cursor = decisions.at(-1)?.sequence ?? latest;
    return latest;
  }
}
