import { RE2JS, RE2JSException } from "re2js";

/** Maximum number of instructions of a compiled pattern; usual ones have 10 to 60. */
const MOST_INSTRUCTIONS = 200;

/** Number of characters at the end of an answer that are searched, some 4,000 tokens. */
const SEARCHED = 16_384;

/** Maximum distance in characters between the last place at which a pattern matches and the beginning of the match that covers it. */
const LONGEST_LEAD = 256;

/** Flags for case-insensitive patterns. */
const ignoringCase = /\(\?[imsU]*i/;

export interface PatternReader {
  readonly ok: true;
  /** The pattern's last find in a text; null: none. */
  readonly read: (text: string) => string | null;
  /** A text in the form in which it would be found. */
  readonly written: (found: string) => string;
}

/**
 * Reads by a pattern in RE2's syntax, which has neither lookaround nor back references and takes time linear in the text: the first group
 * of the last match that took part in it, or the whole match where the pattern has no group. Only the end of a long text is searched.
 * Surrounding blanks are removed, and case where the pattern ignores it; any other difference distinguishes answers, as it does outputs of
 * programs.
 *
 * @returns one sentence instead where RE2 cannot read the pattern, or it is too large.
 */
export function patternReader(pattern: string): PatternReader | { readonly ok: false; readonly problem: string } {
  try {
    const each = RE2JS.compile(pattern);
    const ignoresCase = ignoringCase.test(pattern);
    // Greedy, so that the find begins as late as a match can.
    const latest = RE2JS.compile(`(?s:.*)(${pattern})`);
    if (each.programSize() > MOST_INSTRUCTIONS) {
      return {
        ok: false,
        problem: `The pattern repeats too much: it is ${each.programSize()} steps long, of ${MOST_INSTRUCTIONS} at most.`,
      };
    }
    const written = (found: string): string => (ignoresCase ? found.trim().toLowerCase() : found.trim());
    const read = (text: string): string | null => {
      const found = lastMatch(each, latest, text.slice(-SEARCHED));
      return found && written(found);
    };
    return { ok: true, read, written };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return { ok: false, problem: `RE2 cannot read the pattern: ${error.message.replace(/^error parsing regexp: /, "")}.` };
  }
}

function lastMatch(each: RE2JS, latest: RE2JS, text: string): string | null {
  const end = latest.matcher(text);
  if (!end.find()) return null;
  const lastStart = end.start(1);
  const matches = each.matcher(text);
  let last: string | null = null;
  // From slightly before it on, match by match: the last place at which digits match is the last digit of a number.
  for (let found = matches.find(Math.max(0, lastStart - LONGEST_LEAD)); found && matches.start() <= lastStart; found = matches.find()) {
    last = firstGroup(matches)?.trim() || last;
  }
  return last;
}

function firstGroup(match: ReturnType<RE2JS["matcher"]>): string | null {
  if (match.groupCount() === 0) return match.group();
  for (let group = 1; group <= match.groupCount(); group += 1) {
    const text = match.group(group);
    if (text !== null) return text;
  }
  return null;
}
