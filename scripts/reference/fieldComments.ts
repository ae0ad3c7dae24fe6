/** The comment before a field, and the names of all fields of the object or interface that declares it. */
interface FieldComment {
  readonly comment: string;
  readonly fields: ReadonlySet<string>;
}

/** The meaning of a field of an object, by the names of all its fields; empty where no comment is surely of it. */
export type Meaning = (field: string, object: ReadonlySet<string>) => string;

/**
 * Looks up the comments right before fields in sources. Objects of different meaning have fields of the same name, so a comment is of an
 * object's field only where the declaring object has no field that the object lacks, or the other way round: spreads add fields, picks leave
 * some out. Where several comments are left, none is taken.
 */
export function meaningsIn(sources: readonly string[]): Meaning {
  const comments = new Map<string, FieldComment[]>();
  for (const text of sources) {
    const code = withoutComments(text);
    const commented = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:readonly )?(\w+)\??:/g;
    for (const { 1: comment = "", 2: name = "", index, 0: whole } of text.matchAll(commented)) {
      const one = { comment: comment.replace(/\s*\n\s*\*? ?/g, " ").trim(), fields: fieldsAround(code, index + whole.length - 1) };
      comments.set(name, [...(comments.get(name) ?? []), one]);
    }
  }
  return (field, object) => {
    const own = (comments.get(field) ?? []).filter(({ fields }) => isWithin(fields, object) || isWithin(object, fields));
    const [first, ...others] = new Set(own.map(({ comment }) => comment));
    return first === undefined || others.length > 0 ? "" : first;
  };
}

const isWithin = (some: ReadonlySet<string>, all: ReadonlySet<string>): boolean => [...some].every((name) => all.has(name));

/** The same text with every comment blank, so that places stay the same. */
const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\/|(?<!["':])\/\/.*$/gm, (comment) => comment.replace(/[^\n]/g, " "));

/** Names of the fields between the innermost braces around a place. */
function fieldsAround(code: string, place: number): ReadonlySet<string> {
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
  return new Set([...own.matchAll(/(?<=^|[,;\n])\s*(?:readonly )?(\w+)\??\s*(?=[:,]|$)/g)].map(([, name = ""]) => name));
}

const [OPENING, CLOSING] = ["({[", ")}]"];
