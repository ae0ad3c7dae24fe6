/** The comment before a field, and what the object or interface that declares it has. */
interface FieldComment extends Declared {
  readonly comment: string;
}

interface Declared {
  readonly fields: ReadonlySet<string>;
  /** Whether a spread or an extension adds fields that are declared elsewhere. */
  readonly isOpen: boolean;
}

/** Fewer fields than these tell an object with spreads from no other. */
const TELLING_FIELDS = 3;

/** The meaning of a field of an object, by the names of all its fields; empty where no comment is surely of it. */
export type Meaning = (field: string, object: ReadonlySet<string>) => string;

/**
 * Looks up the comments right before fields in sources. Objects of different meaning have fields of the same name, so a comment is of an
 * object's field only where the declaring object has the same fields or, where it has spreads, a part of them. Where several comments are left, none is taken.
 */
export function meaningsIn(sources: readonly string[]): Meaning {
  const comments = new Map<string, FieldComment[]>();
  for (const text of sources) {
    const code = withoutComments(text);
    const commented = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:readonly )?(\w+)\??:/g;
    for (const { 1: comment = "", 2: name = "", index, 0: whole } of text.matchAll(commented)) {
      const one = { comment: comment.replace(/\s*\n\s*\*? ?/g, " ").trim(), ...declaredAround(code, index + whole.length - 1) };
      comments.set(name, [...(comments.get(name) ?? []), one]);
    }
  }
  return (field, object) => {
    const own = (comments.get(field) ?? []).filter((one) => isOf(one, object));
    const [first, ...others] = new Set(own.map(({ comment }) => comment));
    return first === undefined || others.length > 0 ? "" : first;
  };
}

const isOf = ({ fields, isOpen }: Declared, object: ReadonlySet<string>): boolean =>
  [...fields].every((name) => object.has(name)) && (isOpen ? fields.size >= TELLING_FIELDS : fields.size === object.size);

/** The same text with every comment blank, so that places stay the same. */
const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\/|(?<!["':])\/\/.*$/gm, (comment) => comment.replace(/[^\n]/g, " "));

/** The fields between the innermost braces around a place. */
function declaredAround(code: string, place: number): Declared {
  let start = place;
  for (let open = 0; start > 0; start--) {
    if (CLOSING.includes(code[start - 1] ?? "")) open++;
    else if (OPENING.includes(code[start - 1] ?? "") && --open < 0) break;
  }
  let own = "";
  for (let at = start, depth = 0; at < code.length; at++) {
    const character = code[at] ?? "";
    if (CLOSING.includes(character) && --depth < 0) break;
    if (depth === 0) own += character;
    if (OPENING.includes(character)) depth++;
  }
  const names = [...own.matchAll(/(?<=^|[,;\n])\s*(?:readonly )?(\w+)\??\s*(?=[:,]|$)/g)].map(([, name = ""]) => name);
  return { fields: new Set(names), isOpen: own.includes("...") || /extend\(\s*\{$|extends [^{}]*\{$/.test(code.slice(0, start)) };
}

const [OPENING, CLOSING] = ["({[", ")}]"];
