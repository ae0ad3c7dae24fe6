// Finds words that the project no longer uses, by glossary.json: old word -> the field's word.
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * How each kind of old word is found in the text of a file.
 * `names`: the word as a whole name or as a part of a longer one. `exports`: an exported name, whole. `methods`: a method or a call of one.
 * `procedures`: a procedure of the API. `texts`: metric, header and screen texts.
 */
const patterns = {
  names: (word) => {
    const [first, rest] = [word[0], escaped(word.slice(1))];
    if (first === first.toUpperCase()) return new RegExp(`\\b${escaped(word)}\\b`, "g");
    return new RegExp(`(?:(?<![A-Za-z])${first}|${first.toUpperCase()})${rest}(?![a-z])`, "g");
  },
  exports: (word) =>
    new RegExp(
      `\\bexport (?:default )?(?:abstract )?(?:async )?(?:const|let|function\\*?|class|interface|type|enum) ${escaped(word)}\\b`,
      "g",
    ),
  methods: (word) => new RegExp(`(?<![\\w$])${escaped(word)}\\(`, "g"),
  procedures: (word) => new RegExp(`^\\s+${escaped(word)}: \\w*procedure\\b`, "gim"),
  texts: (word) => new RegExp(`${escaped(word)}(?![\\w-])`, "g"),
};

/**
 * Counts old words in a text.
 * @returns {Record<string, number>} old word -> how often it is found; words that are not found are left out.
 */
export function oldWords(text, glossary) {
  const found = Object.entries(patterns).flatMap(([kind, patternOf]) =>
    Object.keys(glossary[kind]).map((word) => [word, text.match(patternOf(word))?.length ?? 0]),
  );
  return Object.fromEntries(found.filter(([, count]) => count > 0));
}
