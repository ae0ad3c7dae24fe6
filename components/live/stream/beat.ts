/** The page is drawn at most twice a second. */
const BEAT_MS = 500;

/** What belongs together comes in several messages, one close upon the other. */
const GATHER_MS = 20;

/** Of the time at most this share is spent on drawing: on a browser so slow that it would be more, beats come further apart. */
const DRAWING_SHARE = 0.5;

/** A piece of the page. */
export interface Piece {
  /** Something newer is there to draw. */
  ask(): void;
  /** What was drawn last is on the screen. */
  drawn(): void;
  /** It is gone from the page. */
  leave(): void;
}

export interface Beat {
  /** `draw` begins to draw the newest there is and says whether that is anything new; the piece says when it is on the screen. */
  join(draw: () => boolean): Piece;
}

/**
 * One beat for all of a page: what is new is drawn in one go, so that it is laid out and painted once. What comes meanwhile waits for the
 * next beat and takes the place of what came before it. While `hidden` says that nobody looks nothing is drawn.
 */
export function createBeat(hidden: () => boolean): Beat {
  const wanted = new Set<() => boolean>();
  const undrawn = new Set<() => boolean>();
  let beganAtMs = Number.NEGATIVE_INFINITY;
  let restMs = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function schedule(): void {
    if (timer !== null || undrawn.size > 0 || wanted.size === 0 || hidden()) return;
    const inMs = Math.max(GATHER_MS, beganAtMs + Math.max(BEAT_MS, restMs) - performance.now());
    timer = setTimeout(beat, inMs);
  }

  function beat(): void {
    timer = null;
    beganAtMs = performance.now();
    const due = [...wanted];
    wanted.clear();
    for (const draw of due) if (draw()) undrawn.add(draw);
  }

  function end(draw: () => boolean): void {
    if (!undrawn.delete(draw) || undrawn.size > 0) return;
    restMs = (performance.now() - beganAtMs) / DRAWING_SHARE;
    schedule();
  }

  return {
    join(draw) {
      return {
        ask() {
          wanted.add(draw);
          schedule();
        },
        drawn: () => end(draw),
        leave() {
          wanted.delete(draw);
          end(draw);
        },
      };
    },
  };
}

/** The beat of a page in a browser: it stops while the tab is hidden. */
export const createPageBeat = (): Beat => createBeat(() => document.hidden);
