import { createStore } from "zustand/vanilla";
import type { LiveEvent, SeriesRange } from "@/server/contracts/studio";
import { mergeColumns } from "./mergeColumns";

type DecisionsEvent = Extract<LiveEvent, { readonly kind: "decisions" }>;
type Decision = DecisionsEvent["records"][number];

/** Decision records that a page keeps. */
export const MAX_DECISIONS = 200;

/**
 * The connection of a tab's one stream. `lost` knows since when, and when it is tried again where that is known; `resting`: nobody
 * looks at the page.
 */
export type Connection =
  | { readonly state: "connecting" | "open" | "resting" }
  | { readonly state: "lost"; readonly sinceMs: number; readonly retryAtMs: number | null };

/** Columns of the charts that were asked for in these words. */
interface Columns {
  readonly wanted: string;
  readonly range: SeriesRange;
}

/** Records of the filter that was asked for in these words, newest first. */
export interface Tail {
  readonly wanted: string;
  readonly records: readonly Decision[];
  /** So many of those looked at passed the filter. */
  readonly matched: number;
  readonly looked: number;
}

interface Taken {
  readonly columns: Columns | null;
  readonly tail: Tail | null;
}

export interface StreamState {
  readonly connection: Connection;
  /** Everything that came. Keeps filling while paused. */
  readonly newest: Taken;
  /** What the page shows: `newest`, or what that was when the page was paused; of what was not asked for by then, the first that came. */
  readonly shown: Taken;
  readonly paused: boolean;
}

export interface StreamActions {
  takeColumns(wanted: string, range: SeriesRange, spanMs: number): void;
  takeDecisions(wanted: string, event: DecisionsEvent): void;
  connect(connection: Connection): void;
  pause(): void;
  resume(): void;
}

function withDecisions(known: Tail | null, wanted: string, { records, matched, looked }: DecisionsEvent): Tail {
  const before = known?.wanted === wanted ? known.records : [];
  // A new connection brings again what an earlier one brought.
  const bySequence = new Map([...before, ...records].map((record) => [record.sequence, record]));
  const newest = [...bySequence.values()].sort((a, b) => b.sequence - a.sequence).slice(0, MAX_DECISIONS);
  return { wanted, records: newest, matched, looked };
}

/** What one page's stream carries in addition to frames. Made per mount: nothing of one cluster appears on another's page. */
export function createStreamStore() {
  return createStore<StreamState & { readonly actions: StreamActions }>()((set) => {
    const take = (part: (newest: Taken) => Partial<Taken>) =>
      set(({ newest, shown, paused }) => {
        const next = { ...newest, ...part(newest) };
        if (!paused) return { newest: next, shown: next };
        const holds = (of: keyof Taken) => shown[of]?.wanted === next[of]?.wanted;
        return {
          newest: next,
          shown: { columns: holds("columns") ? shown.columns : next.columns, tail: holds("tail") ? shown.tail : next.tail },
        };
      });
    return {
      connection: { state: "connecting" },
      newest: { columns: null, tail: null },
      shown: { columns: null, tail: null },
      paused: false,
      actions: {
        takeColumns: (wanted, range, spanMs) =>
          take(({ columns }) => ({
            columns: { wanted, range: mergeColumns(columns?.wanted === wanted ? columns.range : null, range, spanMs) },
          })),
        takeDecisions: (wanted, event) => take(({ tail }) => ({ tail: withDecisions(tail, wanted, event) })),
        connect: (connection) => set({ connection }),
        pause: () => set({ paused: true }),
        resume: () => set(({ newest }) => ({ paused: false, shown: newest })),
      },
    };
  });
}

export type StreamStore = ReturnType<typeof createStreamStore>;
