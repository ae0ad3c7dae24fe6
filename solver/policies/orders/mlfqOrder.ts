import { BoundedMap } from "@/solver/collections/boundedMap";
import type { Order } from "../core/policyParts";

interface Levels {
  /** Service after which a program moves down from each level to the next. */
  readonly quantaSeconds: readonly number[];
  readonly agingThreshold: number;
}

/**
 * Multi-level feedback over programs: a program begins at the top and moves down a level with each quantum of service that its requests
 * have received, on any model; higher levels go first, each first come, first served. Waiting inside an engine is no service. Service is
 * counted as the driver reports it: from entering the batch (simulator), from the first token (gateway, for answers that it streams), or
 * from dispatch where the driver cannot observe either (the gateway's other answers). A dispatched request is not taken back here, and keeps
 * the level with which it was sent: levels change between requests (or stages), and only aging promotes. Chimera's baseline is built into
 * vLLM and promotes and demotes there by service time: with `preempts` engines that can (`engine/feedback.ts`) continue from this level
 * while the request runs, and take it out for one of a higher level.
 */
export function mlfqOrder({ quantaSeconds, agingThreshold }: Levels): Order {
  let sum = 0;
  const endSeconds = quantaSeconds.map((quantum) => (sum += quantum));
  const servedSeconds = new BoundedMap<number>();
  const begun = new Map<string, { readonly programId: string; readonly nowSeconds: number }>();
  return {
    kind: "mlfq",
    needs: ["identifiers"],
    preference: {
      key({ programId }) {
        const served = servedSeconds.get(programId) ?? 0;
        let level = 0;
        while (level < endSeconds.length && served >= (endSeconds[level] ?? 0)) level += 1;
        return level;
      },
      agingThreshold,
    },
    observe(event) {
      if (event.kind === "dispatched") begun.set(event.workId, event);
      else if (event.kind === "ended") servedSeconds.delete(event.programId);
      else if (event.kind === "finished") {
        const from = begun.get(event.workId);
        if (from === undefined) return;
        begun.delete(event.workId);
        const served = event.servedSeconds ?? event.nowSeconds - from.nowSeconds;
        servedSeconds.put(from.programId, (servedSeconds.get(from.programId) ?? 0) + served);
      }
    },
  };
}
