/** Why nothing is written for a schema or a pattern, in a sentence. */
export class UnmetSchema extends Error {}

/** Repetitions of a part of a pattern: more are not written. */
const MOST_REPEATS = 1000;
/** Characters of a text: nested repetitions multiply. */
const MOST_CHARACTERS = 10_000;

/** A character of each class. */
const CLASSES: Readonly<Record<string, string>> = { d: "0", w: "a", s: " ", D: "a", W: " ", S: "a", n: "\n", t: "\t", r: "\r" };
/** Candidates for a class that lists what is excluded. */
const COMMON = "a0A _-.~é";

/**
 * A short text that a regular expression matches as a whole: of alternatives the first, of repetitions the fewest.
 * @param least characters that it must have: the first part that may be repeated is repeated more often for that.
 * @throws UnmetSchema for lookarounds, back references and boundaries of words.
 */
export function patternText(pattern: string, least = 0): string {
  const shortest = new PatternReader(pattern, 0).read();
  return shortest.length >= least ? shortest : new PatternReader(pattern, least - shortest.length).read();
}

/** @param members of a class of characters, with its closing bracket. */
function isIn(character: string, members: string): boolean {
  try {
    return new RegExp(`^[${members}$`).test(character);
  } catch {
    return true;
  }
}

class PatternReader {
  readonly #pattern: string;
  #at = 0;
  /** Repetitions that may still be added. */
  #spare: number;

  constructor(pattern: string, spare: number) {
    this.#pattern = pattern;
    this.#spare = spare;
  }

  read(): string {
    const text = this.#alternatives();
    if (this.#at < this.#pattern.length) throw this.#unread();
    return text;
  }

  #alternatives(): string {
    const first = this.#sequence();
    while (this.#takes("|")) {
      // Read for its end only.
      const spare = this.#spare;
      this.#spare = 0;
      this.#sequence();
      this.#spare = spare;
    }
    return first;
  }

  #sequence(): string {
    let text = "";
    while (this.#at < this.#pattern.length && !"|)".includes(this.#pattern.charAt(this.#at))) {
      if (this.#takes("^") || this.#takes("$")) continue;
      text += this.#repeated(this.#atom());
      if (text.length > MOST_CHARACTERS) throw this.#unread();
    }
    return text;
  }

  #repeated(atom: string): string {
    const [fewest, most] = this.#quantifier();
    this.#takes("?");
    const added = atom === "" ? 0 : Math.min(Math.ceil(this.#spare / atom.length), most - fewest);
    this.#spare -= added * atom.length;
    if (fewest + added > MOST_REPEATS) throw this.#unread();
    return atom.repeat(fewest + added);
  }

  #quantifier(): readonly [fewest: number, most: number] {
    if (this.#takes("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#takes("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#takes("?")) return [0, 1];
    const [all, fewest, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(this.#pattern.slice(this.#at)) ?? [];
    if (all === undefined) return [1, 1];
    this.#at += all.length;
    if (comma === "") return [Number(fewest), Number(fewest)];
    return [Number(fewest), most === "" ? Number.POSITIVE_INFINITY : Number(most)];
  }

  #atom(): string {
    if (this.#takes("(")) {
      const [named] = /^\?(?::|<[A-Za-z]\w*>)/.exec(this.#pattern.slice(this.#at)) ?? [""];
      this.#at += named.length;
      if (this.#pattern.charAt(this.#at) === "?") throw this.#unread();
      const text = this.#alternatives();
      if (!this.#takes(")")) throw this.#unread();
      return text;
    }
    if (this.#takes("[")) return this.#class();
    if (this.#takes("\\")) return this.#escaped();
    const character = this.#next();
    return character === "." ? "a" : character;
  }

  /** A character of a class whose bracket was read. */
  #class(): string {
    const isNegated = this.#takes("^");
    const start = this.#at;
    let first: string | null = null;
    while (!this.#takes("]")) {
      const member = this.#takes("\\") ? this.#escaped() : this.#next();
      if (member === "") throw this.#unread();
      first ??= member;
    }
    if (!isNegated) {
      if (first === null) throw this.#unread();
      return first;
    }
    const excluded = this.#pattern.slice(start, this.#at);
    const other = [...COMMON].find((character) => !isIn(character, excluded));
    if (other === undefined) throw this.#unread();
    return other;
  }

  /** A character of a class, or the character itself, whose backslash was read. */
  #escaped(): string {
    const character = this.#next();
    const known = CLASSES[character];
    if (known !== undefined) return known;
    if (/[A-Za-z0-9]/.test(character) || character === "") throw this.#unread();
    return character;
  }

  #next(): string {
    const character = this.#pattern.charAt(this.#at);
    this.#at += 1;
    return character;
  }

  #takes(character: string): boolean {
    if (this.#pattern.charAt(this.#at) !== character) return false;
    this.#at += 1;
    return true;
  }

  #unread(): UnmetSchema {
    return new UnmetSchema(`Emulated engines do not write texts of the pattern ${JSON.stringify(this.#pattern.slice(0, 100))}.`);
  }
}
