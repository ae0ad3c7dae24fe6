import type { Tone } from "@/components/ui/Badge";
import { formatAge, formatClock, formatCounted } from "@/components/ui/format";
import type { LiveFrame } from "@/server/contracts/studio";

/** One problem of one subject. */
export interface Finding {
  /** Findings of one cause share one line, however many subjects it has. */
  readonly cause: string;
  /** "engine", "gateway": the kind of subject. */
  readonly kind: string;
  readonly subject: string;
  readonly tone: Extract<Tone, "bad" | "warn" | "neutral">;
  readonly word: string;
  /** When it began, or when it happened; null where that is unknown. `before`: it began before the known history. */
  readonly when: Lasting | { readonly is: "at"; readonly atMs: number } | null;
  readonly nextTryAtMs: number | null;
  /** A sentence or a clause about this subject; empty where the action is enough. */
  readonly reason: string;
  /** What it means and what to do, in sentences; the same for all findings of the cause. */
  readonly action: string;
}

/** When something began, or an upper bound of it. */
export interface Lasting {
  readonly is: "since" | "before";
  readonly atMs: number;
}

/** A time for display: how long, and the clock time on demand. */
interface When {
  readonly text: string;
  readonly title: string;
}

/** One line of the attention list. */
export interface Problem {
  /** Stable from frame to frame while it lasts. */
  readonly key: string;
  readonly subject: string;
  readonly word: string;
  readonly tone: Finding["tone"];
  readonly when: When | null;
  readonly nextTry: string | null;
  readonly text: string;
  /** Subjects one by one where there are several, else empty. */
  readonly members: readonly { readonly subject: string; readonly when: When | null; readonly reason: string }[];
  /** A text for screen readers that changes only with the problem. */
  readonly said: string;
}

const RANK: Readonly<Record<Finding["tone"], number>> = { bad: 0, warn: 1, neutral: 2 };

/** Findings as lines: one per cause, worst first, in the given order where they are equally bad. */
export function linesOf(findings: readonly Finding[], nowMs: number): readonly Problem[] {
  return grouped(findings, ({ cause }) => cause)
    .map(([, group]) => lineOf(group, nowMs))
    .sort((a, b) => RANK[a.tone] - RANK[b.tone]);
}

/** Things by what they share, in the order in which that first appears. */
export function grouped<Thing>(things: readonly Thing[], keyOf: (thing: Thing) => string): [key: string, group: readonly Thing[]][] {
  const groups = new Map<string, Thing[]>();
  for (const thing of things) {
    const group = groups.get(keyOf(thing));
    if (group === undefined) groups.set(keyOf(thing), [thing]);
    else group.push(thing);
  }
  return [...groups];
}

function lineOf(group: readonly Finding[], nowMs: number): Problem {
  const [first] = group as readonly [Finding, ...Finding[]];
  const whens = group.flatMap(({ when }) => (when === null ? [] : [when])).sort((a, b) => a.atMs - b.atMs);
  // A lasting state is dated by its beginning, an event by its last time.
  const when = whens.at(first.when?.is === "at" ? -1 : 0) ?? null;
  const tries = group.flatMap(({ nextTryAtMs }) => (nextTryAtMs === null ? [] : [nextTryAtMs]));
  const reasons = new Set(group.map(({ reason }) => reason));
  return {
    key: first.cause,
    subject: group.length === 1 ? first.subject : formatCounted(group.length, first.kind),
    word: first.word,
    tone: first.tone,
    when: when === null ? null : whenText(when, nowMs),
    nextTry: tries.length === 0 ? null : nextTryText(Math.min(...tries), nowMs),
    text: reasons.size === 1 ? sentences(first.reason, first.action) : first.action,
    members:
      group.length === 1
        ? []
        : group.map(({ subject, when, reason }) => ({ subject, when: when === null ? null : whenText(when, nowMs), reason })),
    said: `${first.kind} ${first.word}`,
  };
}

const sentences = (reason: string, action: string): string =>
  reason === "" ? action : `${reason}${/[.!?]$/.test(reason) ? "" : "."} ${action}`;

/** How long something has lasted or how long ago it was, with the clock time as title. */
export function whenText({ is, atMs }: NonNullable<Finding["when"]>, nowMs: number): When {
  const age = formatAge(Math.max(0, nowMs - atMs) / 1000);
  const title = `${is} ${formatClock(new Date(atMs).toISOString())}`;
  if (is === "before") return { text: age === "now" ? "since before now" : `for more than ${age}`, title };
  return { text: age === "now" ? "just now" : is === "since" ? `for ${age}` : `${age} ago`, title };
}

function nextTryText(atMs: number, nowMs: number): string {
  const seconds = (atMs - nowMs) / 1000;
  return seconds < 1.5 ? "trying again now" : `next try in ${formatAge(seconds)}`;
}

/**
 * Since when something has held without interruption; frames that do not tell (null) are skipped. `before` where it holds in all frames
 * that tell: then only a lower bound of its duration is known.
 *
 * @returns null when it does not hold in the newest.
 */
export function heldSince(frames: readonly LiveFrame[], holds: (frame: LiveFrame) => boolean | null): Lasting | null {
  let sinceMs: number | null = null;
  for (const frame of frames.toReversed()) {
    const held = holds(frame);
    if (held === null && sinceMs === null) return null;
    if (held === false) return sinceMs === null ? null : { is: "since", atMs: sinceMs };
    if (held === true) sinceMs = frame.atMs;
  }
  return sinceMs === null ? null : { is: "before", atMs: sinceMs };
}
