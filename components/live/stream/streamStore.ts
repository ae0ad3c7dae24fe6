import { createStore } from "zustand/vanilla";
import type { LiveEvent, SeriesRange } from "@/server/contracts/studio";
import { mergeColumns } from "./mergeColumns";

type DecisionsEvent = Extract<LiveEvent, { readonly kind: "decisions" }>;
type Decision = DecisionsEvent["records"][number];

/** Decision records that a page keeps. */
export const MAX_DECISIONS = 200;

/**
 * The connection of a tab's one stream. `lost` has since when, and when it is tried again where that is known; `resting`: the page
 * is not visible.
 */
export type Connection =
  | { readonly state: "connecting" | "open" | "resting" }
  | { readonly state: "lost"; readonly sinceMs: number; readonly retryAtMs: number | null };

/** Columns of the charts requested under this key. */
interface Columns {
  readonly wanted: string;
  readonly range: SeriesRange;
}

/** Records of the filter requested under this key, newest first. */
export interface Tail {
  readonly wanted: string;
  readonly records: readonly Decision[];
  /** How many of the checked records passed the filter. */
  readonly matched: number;
  readonly looked: number;
}

interface Taken {
  readonly columns: Columns | null;
  readonly tail: Tail | null;
}

export interface StreamState {
  readonly connection: Connection;
  /** All received data. Keeps filling while paused. */
  readonly newest: Taken;
  /** The displayed data: `newest`, or its state when the page was paused; for data requested later, the first that arrived. */
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
  // A new connection sends again what an earlier one sent.
  const bySequence = new Map([...before, ...records].map((record) => [record.sequence, record]));
  const newest = [...bySequence.values()].sort((a, b) => b.sequence - a.sequence).slice(0, MAX_DECISIONS);
  return { wanted, records: newest, matched, looked };
}

/** The data that one page's stream carries in addition to frames. Made per mount: nothing of one cluster appears on another's page. */
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
