import { formatCount, formatCounted, formatSeconds, formatShare } from "@/components/ui/format";
import type { MemoryForecast, NextPlacement, ReplicaMemory } from "@/solver/policies/core/memoryForecast";
import { agentText } from "../graph/agentIdentity";

/** More replicas are not drawn at once; the selected one always is. */
const MOST_REPLICAS = 12;
/** Slots that are drawn even where nothing is expected. */
const FEWEST_SLOTS = 10;
/** Slots beyond these, fifteen seconds, are too many to read as bars. */
const MOST_SLOTS = 30;

export interface DrawnReplica {
  readonly id: string;
  readonly model: string;
  readonly isChosen: boolean;
  /**
   * Shares of the height. The axis ends at the capacity, or at the highest slot where that is higher or no capacity is known; where all that is
   * expected is far below the capacity, a little above the highest slot.
   */
  readonly bars: readonly { readonly at: number; readonly height: number; readonly over: boolean; readonly text: string }[];
  /** Width of a bar with its gap, as a share of the total. */
  readonly slotWidth: number;
  /** Height of the capacity; null: not known, or far above the axis. */
  readonly capacity: number | null;
  /** The end of the axis, where that is far below the capacity: `axis to 34,000 tokens`; null elsewhere. */
  readonly axis: string | null;
  readonly says: string;
  /** `12 of 256 requests`. */
  readonly load: string;
  /** Whether it has its maximum number of requests. */
  readonly isFull: boolean;
  readonly suspended: string | null;
  /** Its requests by agent, most first. */
  readonly agents: readonly { readonly agent: string; readonly requests: string; readonly until: string }[];
  /** The end of the drawn time, such as `15 s`. */
  readonly span: string;
  /** Number of later slots, which are not drawn. */
  readonly cut: boolean;
}

interface NextRow {
  readonly key: string;
  readonly agent: string;
  readonly waited: string;
  /** The replica that it would go to now; null: it is held back. */
  readonly replica: string | null;
  /** What it waits for; null: nothing. */
  readonly held: string | null;
  readonly peak: string;
}

export interface MemoryPicture {
  readonly replicas: readonly DrawnReplica[];
  readonly left: number;
  readonly next: readonly NextRow[];
  readonly slot: string;
}

/** Below this share of the capacity, bars on an axis up to the capacity are too low to be distinguished. */
const LOW_USE = 0.25;

/** Slightly above, in two digits. */
function axisAbove(tokens: number): number {
  const digit = 10 ** Math.max(0, Math.floor(Math.log10(tokens * 1.1)) - 1);
  return Math.ceil((tokens * 1.1) / digit) * digit;
}

/** Prepares the expected memory of replicas, and the next request. */
export function prepareMemory(memory: MemoryForecast, chosen: string | null): MemoryPicture {
  const { replicas, nowSeconds, slotSeconds } = memory;
  const shown = replicas.filter(({ replicaId }, at) => at < MOST_REPLICAS || replicaId === chosen);
  const byId = new Map(replicas.map((replica) => [replica.replicaId, replica]));
  const slots = Math.min(MOST_SLOTS, Math.max(FEWEST_SLOTS, ...shown.map(({ slotTokens }) => slotTokens.length)));
  return {
    replicas: shown.map((replica) => drawReplica(replica, { nowSeconds, slotSeconds, slots, isChosen: replica.replicaId === chosen })),
    left: replicas.length - shown.length,
    next: memory.next.map((placement) => ({
      key: placement.workId,
      agent: agentText(placement.agent),
      waited: formatSeconds(Math.max(0, nowSeconds - placement.queuedSinceSeconds)),
      replica: placement.replicaId,
      held: heldText(placement, byId.get(placement.laterReplicaId ?? "")),
      peak: placement.peakTokens === null ? "–" : formatCounted(Math.round(placement.peakTokens), "token"),
    })),
    slot: formatSeconds(slotSeconds),
  };
}

function heldText({ held, laterReplicaId }: NextPlacement, later: ReplicaMemory | undefined): string | null {
  switch (held) {
    case null:
      return null;
    case "seats":
      return `to ${laterReplicaId} when a request there ends${later === undefined ? "" : ` (${loadText(later)})`}`;
    case "memory":
      return "held: no replica has enough memory now";
    case "pressure":
      return "held: all replicas are under pressure";
    case "closed":
      return "held: no replica takes work now";
    case "behind":
      return laterReplicaId === null
        ? "held behind requests that were passed over"
        : `to ${laterReplicaId}, kept for a request that was passed over`;
  }
}

/** A value above this means no bound. */
const MOST_SEATS = 1e6;

const loadText = ({ inFlight, seats }: ReplicaMemory): string =>
  seats === 0
    ? `${formatCounted(inFlight, "request")}, takes no more`
    : seats > MOST_SEATS
      ? formatCounted(inFlight, "request")
      : `${formatCount(inFlight)} of ${formatCounted(seats, "request")}`;

interface Slotting {
  readonly nowSeconds: number;
  readonly slotSeconds: number;
  readonly slots: number;
  readonly isChosen: boolean;
}

function drawReplica(replica: ReplicaMemory, { nowSeconds, slotSeconds, slots, isChosen }: Slotting): DrawnReplica {
  const { replicaId, model, capacityTokens, slotTokens, suspended, requests } = replica;
  const peak = slotTokens.reduce((most, tokens) => Math.max(most, tokens), 0);
  const isLow = capacityTokens !== null && peak > 0 && peak < LOW_USE * capacityTokens;
  const top = isLow ? axisAbove(peak) : Math.max(capacityTokens ?? 0, peak) || 1;
  return {
    ...{ id: replicaId, model, isChosen, suspended },
    bars: slotTokens.slice(0, slots).map((tokens, at) => ({
      at: at / slots,
      height: tokens / top,
      over: capacityTokens !== null && tokens > capacityTokens,
      text: `${formatCount(Math.round(tokens))} tokens expected from ${formatSeconds(at * slotSeconds)} to ${formatSeconds((at + 1) * slotSeconds)} from now`,
    })),
    slotWidth: 1 / slots,
    capacity: capacityTokens === null || isLow ? null : capacityTokens / top,
    axis: isLow ? `axis to ${formatCount(top)} tokens` : null,
    says: saysOf(peak, capacityTokens),
    load: loadText(replica),
    isFull: replica.inFlight >= replica.seats,
    agents: byAgent(requests, nowSeconds),
    span: formatSeconds(slots * slotSeconds),
    cut: slotTokens.length > slots,
  };
}

function saysOf(peak: number, capacityTokens: number | null): string {
  const expected = peak === 0 ? "no tokens expected" : `at most ${formatCount(Math.round(peak))} tokens expected`;
  if (capacityTokens === null) return `${expected}, its capacity is unknown and counts as unlimited`;
  const holds = formatCount(capacityTokens);
  return peak === 0
    ? `${expected}, it holds ${holds} tokens`
    : `${expected}, ${formatShare(peak / Math.max(1, capacityTokens))} of ${holds}`;
}

function byAgent(requests: ReplicaMemory["requests"], nowSeconds: number): DrawnReplica["agents"] {
  const agents = new Map<string, { count: number; last: number }>();
  for (const { agent, untilSeconds } of requests) {
    const text = agentText(agent);
    const before = agents.get(text) ?? { count: 0, last: Number.NEGATIVE_INFINITY };
    agents.set(text, { count: before.count + 1, last: Math.max(before.last, untilSeconds ?? Number.POSITIVE_INFINITY) });
  }
  return Array.from(agents, ([agent, { count, last }]) => ({
    agent,
    count,
    requests: formatCounted(count, "request"),
    until:
      last === Number.POSITIVE_INFINITY
        ? "end not known"
        : last < nowSeconds
          ? "runs late"
          : `until ${formatSeconds(last - nowSeconds)} from now, expected`,
  }))
    .sort((a, b) => b.count - a.count)
    .map(({ count: _, ...row }) => row);
}
