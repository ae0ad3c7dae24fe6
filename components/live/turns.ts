/** Of the time, at most this share is spent on drawing: the rest is the operator's, however slow the browser is. */
const DRAWING_SHARE = 0.2;

/** No piece is drawn more often than twice a second. */
const LEAST_ROUND_MS = 500;

/** A piece of the page. */
export interface Piece {
  /** Something newer is there to draw. */
  ask(): void;
  /** What was drawn last is on the screen. */
  drawn(): void;
  /** It is gone from the page. */
  leave(): void;
}

export interface Turns {
  /** `draw` begins to draw the newest there is; the piece says when that is done. */
  join(draw: () => void): Piece;
}

interface Member {
  readonly draw: () => void;
  wanted: boolean;
  beganAtMs: number;
}

/**
 * Pieces of one page that are drawn one after the other, each followed by a rest in proportion to what it took. A browser that cannot
 * keep up skips what it did not come to, instead of doing it later. While `held` says so (a dialog is open, nobody looks) nothing is drawn.
 */
export function createTurns(held: () => boolean): Turns {
  const members: Member[] = [];
  let current: Member | null = null;
  let resting = false;

  function next(): void {
    if (current !== null || resting || held()) return;
    const due = members.filter((each) => each.wanted).sort((a, b) => a.beganAtMs - b.beganAtMs)[0];
    if (due === undefined) return;
    const waitMs = due.beganAtMs + LEAST_ROUND_MS - performance.now();
    if (waitMs > 0) {
      rest(waitMs);
      return;
    }
    current = due;
    due.wanted = false;
    due.beganAtMs = performance.now();
    due.draw();
  }

  function rest(forMs: number): void {
    resting = true;
    setTimeout(() => {
      resting = false;
      next();
    }, forMs);
  }

  function end(member: Member): void {
    if (current !== member) return;
    current = null;
    rest((performance.now() - member.beganAtMs) * (1 / DRAWING_SHARE - 1));
  }

  return {
    join(draw) {
      const member: Member = { draw, wanted: false, beganAtMs: Number.NEGATIVE_INFINITY };
      members.push(member);
      return {
        ask() {
          member.wanted = true;
          next();
        },
        drawn: () => end(member),
        leave() {
          members.splice(members.indexOf(member), 1);
          end(member);
        },
      };
    },
  };
}

/** Whether drawing can wait: an operator is in a dialog, or the page is not seen. */
export function isOutOfSight(): boolean {
  return document.hidden || document.querySelector('[role="dialog"][data-state="open"]') !== null;
}
