/** Names that clients write end up in records, headers, spans and sentences: what is long or strange is not taken for one. */
const saneName = /^[\x21-\x7e]{1,128}$/;

/** Of what a client wrote where a name belongs, so much is repeated. */
const longestShown = 200;

/** What a client wrote as a name, where it is one. */
export function saneNameOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" && saneName.test(value) ? value : undefined;
}

/** The part of a client's text that is repeated. A copy: a slice would keep the whole string in memory. */
export function shownName(text: string): string {
  return text.length <= longestShown ? text : Buffer.from(text.slice(0, longestShown)).toString();
}
