import { addConfiguration, countOf, emptySet, hasConfiguration, intersection, membersOf } from "./configurationSet";

/** Margins are stored in one byte each, in these steps of a logit. */
const STEP = 1 / 16;
const MOST_STEPS = 127;

/** All that scores may shift a margin by, in steps: a configuration whose margin is at the end of the range is surer than any score. */
const MOST_SHIFT = 120;

/**
 * By how much the logit of each configuration exceeds the least that counts as accurate, by number, as one byte in sixteenths: rounded down,
 * so that none below that least appears to reach it. The last, of the largest models, has no head: it is accurate by definition, and
 * has the highest.
 *
 * @param logits of the heads, one for each configuration but the last.
 */
export function configurationMargins(logits: ArrayLike<number>, least: number): Int8Array {
  const margins = new Int8Array(logits.length + 1).fill(MOST_STEPS);
  for (let head = 0; head < logits.length; head += 1) {
    const steps = Math.floor(((logits[head] ?? Number.NEGATIVE_INFINITY) - least) / STEP);
    margins[head] = Number.isNaN(steps) ? -MOST_STEPS : Math.max(-MOST_STEPS, Math.min(MOST_STEPS, steps));
  }
  return margins;
}

interface Shifted {
  /** What was found accurate before any score. */
  readonly accurate: Uint32Array;
  readonly margins: Int8Array;
  /** Change of all log odds by scores so far; less than half a step, 1/32, is none. */
  readonly shift: number;
  /** Configurations that agree with what was done; at least one. */
  readonly agreeing: Uint32Array;
}

/**
 * The agreeing configurations that still count as accurate after scores, a set of `configurationSet.ts`: where all log odds fell, those of the
 * accurate that keep their margin; where they rose, those that reach it now besides. Where none reaches it any more, not even with the largest
 * models in all that is left, dearer models would cost more and not reach it either: then those found before the scores count, or, where
 * none of them agrees, the surest that does, of equals that of the largest models. But for that, a higher shift never gives fewer.
 */
export function accurateAfter({ accurate, margins, shift, agreeing }: Shifted): Uint32Array {
  const steps = Math.max(-MOST_SHIFT, Math.min(MOST_SHIFT, Math.round(shift / STEP)));
  const found = intersection(accurate, agreeing);
  const isKnown = countOf(found) > 0;
  if (steps === 0 && isKnown) return found;
  const reached = emptySet(margins.length);
  let best = -1;
  for (const configuration of membersOf(agreeing)) {
    const margin = margins[configuration] ?? -MOST_STEPS;
    if (best < 0 || margin >= (margins[best] ?? -MOST_STEPS)) best = configuration;
    const wasFound = hasConfiguration(found, configuration);
    const reaches = steps !== 0 && margin + steps >= 0;
    if (steps > 0 ? wasFound || reaches : wasFound && reaches) addConfiguration(reached, configuration);
  }
  if (countOf(reached) > 0) return reached;
  if (isKnown) return found;
  if (best >= 0) addConfiguration(reached, best);
  return reached;
}
