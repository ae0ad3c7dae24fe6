/** A NUL ends an argument, and an unpaired surrogate has no form in UTF-8. */
const impossible = /[\0\p{Cs}]/u;

/**
 * One argument for a POSIX shell. Every text that becomes part of a script goes through this function.
 *
 * @throws RangeError for a text that no argument can hold: one with a NUL or an unpaired surrogate.
 */
export function shellQuoted(argument: string): string {
  if (impossible.test(argument)) throw new RangeError("An argument with a NUL or an unpaired surrogate cannot be written to a script.");
  // A word with = before its command is an assignment; a flag is not.
  return /^(?:-[\w@%+=:,./-]*|[\w@%+:,./-]+)$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}

/** A command with its arguments, for a POSIX shell. @throws RangeError as `shellQuoted`. */
export const shellWords = (command: readonly string[]): string => command.map(shellQuoted).join(" ");

/** Characters that end a line for one reader or another, or that a terminal obeys. */
const notShown = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Text that stays on its line and is only shown: control characters and line separators are written as `\u{...}`. */
export const shownText = (text: string): string => text.replace(notShown, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`);

/** A comment of one line, for shells and YAML. */
export const commentLine = (text: string): string => `# ${shownText(text)}`;
