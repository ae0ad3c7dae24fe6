/** The page is drawn at most twice a second. */
const BEAT_MS = 500;

/** Related data arrives in several messages in close succession. */
const GATHER_MS = 20;

/** Maximum share of the time spent on drawing: on a slower browser beats are further apart. */
const DRAWING_SHARE = 0.5;

/** A part of the page. */
export interface Piece {
  /** There is newer data to draw. */
  ask(): void;
  /** The last drawing is painted. */
  drawn(): void;
  /** It was removed from the page. */
  leave(): void;
}

export interface Beat {
  /** `draw` begins to draw the newest data and returns whether there is any; the part reports when it is painted. */
  join(draw: () => boolean): Piece;
}

/**
 * One beat for a whole page: new data is drawn at once, so that it is laid out and painted once. Data that arrives meanwhile waits for the
 * next beat and replaces older data. While `hidden` returns true nothing is drawn.
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
