/**
 * A command as typed, as the words it is started with: split at blanks, with single and double quotes around words that hold some. No
 * shell reads it, so that nothing else has a meaning.
 *
 * @example splitCommand("python3 -c 'import answer'") // ["python3", "-c", "import answer"]
 */
export function splitCommand(text: string): readonly string[] {
  return [...text.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double: string | undefined, single: string | undefined) => double ?? single ?? ""),
  );
}
