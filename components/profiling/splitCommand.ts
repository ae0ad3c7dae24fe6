/**
 * A typed command as a list of arguments: split at blanks, with single and double quotes around arguments that contain blanks. No
 * shell reads it, so that other characters have no special meaning.
 *
 * @example splitCommand("python3 -c 'import answer'") // ["python3", "-c", "import answer"]
 */
export function splitCommand(text: string): readonly string[] {
  return [...text.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double: string | undefined, single: string | undefined) => double ?? single ?? ""),
  );
}
