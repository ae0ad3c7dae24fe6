const space = /\s*/y;
const text = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const word = /[^\s,:{}[\]"]+/y;

/**
 * The members of a JSON object, each value in its original text: a number that JavaScript would write differently, such as `1.0` or one
 * beyond 2^53, is unchanged. The argument must be valid JSON.
 */
export function rawMembers(json: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let at = json.indexOf("{") + 1;
  for (;;) {
    const begin = end(space, json, at);
    if (json[begin] !== '"') return members;
    const named = end(text, json, begin);
    const value = end(space, json, json.indexOf(":", named) + 1);
    const after = valueEnd(json, value);
    members.set(JSON.parse(json.slice(begin, named)) as string, json.slice(value, after));
    const next = end(space, json, after);
    if (json[next] !== ",") return members;
    at = next + 1;
  }
}

/** The elements of a JSON array, each in its original text, as `rawMembers` reads members. */
export function rawElements(json: string): readonly string[] {
  const elements: string[] = [];
  let at = json.indexOf("[") + 1;
  for (;;) {
    const begin = end(space, json, at);
    const after = valueEnd(json, begin);
    if (json[begin] === "]" || after === begin) return elements;
    elements.push(json.slice(begin, after));
    const next = end(space, json, after);
    if (json[next] !== ",") return elements;
    at = next + 1;
  }
}

function valueEnd(json: string, at: number): number {
  if (json[at] === '"') return end(text, json, at);
  if (json[at] !== "{" && json[at] !== "[") return end(word, json, at);
  let depth = 0;
  for (let here = at; here < json.length; here += 1) {
    const sign = json[here];
    if (sign === '"') here = end(text, json, here) - 1;
    else if (sign === "{" || sign === "[") depth += 1;
    else if (sign === "}" || sign === "]") depth -= 1;
    if (depth === 0) return here + 1;
  }
  return json.length;
}

/** The end of a match that begins at `at`. */
function end(pattern: RegExp, json: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(json) ? pattern.lastIndex : at;
}
