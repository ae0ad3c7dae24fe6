/** Names that clients write appear in records, headers, spans and sentences: a long or unusual value is not accepted as a name. */
const saneName = /^[\x21-\x7e]{1,128}$/;

/** Characters of a client's invalid name that are repeated. */
const longestShown = 200;

/** A client's value if it is a valid name. */
export function saneNameOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" && saneName.test(value) ? value : undefined;
}

/** The part of a client's text that is repeated. A copy: a slice would keep the whole string in memory. */
export function shownName(text: string): string {
  return text.length <= longestShown ? text : Buffer.from(text.slice(0, longestShown)).toString();
}
