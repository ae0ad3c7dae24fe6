import type { z } from "zod";
import type { MirrorSample, mirrorSamplePageSchema } from "@/server/contracts/gateway/gatewayControls";

const keptSamples = 5000;
const pageSize = 1000;

/** The newest mirrored requests that every model has answered, numbered from 1 since the gateway started. Older ones are dropped. */
export class MirrorSamples {
  #samples: readonly MirrorSample[] = [];
  #latest = 0;

  get latest(): number {
    return this.#latest;
  }

  append(sample: Omit<MirrorSample, "sequence">): void {
    this.#latest += 1;
    this.#samples = [...this.#samples.slice(1 - keptSamples), { sequence: this.#latest, ...sample }];
  }

  /** At most 1000 samples whose sequence is above `after`, oldest first. */
  page(after: number): z.infer<typeof mirrorSamplePageSchema> {
    return { samples: this.#samples.filter(({ sequence }) => sequence > after).slice(0, pageSize), latest: this.#latest };
  }
}
