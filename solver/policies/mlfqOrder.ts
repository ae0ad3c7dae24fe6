import type { Order } from "./policyParts";
import { RecentMap } from "./recentMap";

interface Levels {
  /** Service after which a program sinks from each level to the next. */
  readonly quantaSeconds: readonly number[];
  readonly agingReleases: number;
}

/**
 * Multi-level feedback over programs: a program begins at the top and sinks a level with each quantum of service that its requests have
 * received, counted from dispatch to finish, on whichever model; higher levels go first, each first come, first served. What an engine
 * has begun is not taken back, so a program sinks between its requests (or stages), never within one.
 */
export function mlfqOrder({ quantaSeconds, agingReleases }: Levels): Order {
  let sum = 0;
  const endSeconds = quantaSeconds.map((quantum) => (sum += quantum));
  const servedSeconds = new RecentMap<number>();
  const begun = new Map<string, { readonly programId: string; readonly nowSeconds: number }>();
  return {
    kind: "mlfq",
    needs: ["identifiers"],
    preference: {
      key({ programId }) {
        const served = servedSeconds.get(programId) ?? 0;
        return endSeconds.reduce((level, end) => level + (served >= end ? 1 : 0), 0);
      },
      agingReleases,
    },
    observe(event) {
      if (event.kind === "dispatched") begun.set(event.workId, event);
      else if (event.kind === "ended") servedSeconds.delete(event.programId);
      else if (event.kind === "finished") {
        const from = begun.get(event.workId);
        if (from === undefined) return;
        begun.delete(event.workId);
        servedSeconds.set(from.programId, (servedSeconds.get(from.programId) ?? 0) + event.nowSeconds - from.nowSeconds);
      }
    },
  };
}
