/** Most exceptions and, without any, most last lines that are shown. */
const mostErrors = 3;
const mostLines = 5;
/** Lines of one message: the errors of pydantic, which vLLM reads its flags with, say in the second one what is wrong. */
const mostMessageLines = 2;

/** Before a line of vLLM: its process, and level, time and place in the source. The rest is as the process wrote it. */
const vllmPrefix = /^(?:\([\w-]+ pid=\d+\) )?(?:(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d [\d:]{8} \[[^\]]+\] ?)?/;

/** Frames of a stack and their source are indented; the message of an exception is not. */
const isSetIn = (line: string): boolean => /^\s/.test(line);

/** Python's last line of a stack: a class, and mostly a message. */
const exception = /^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:: .*)?$/;
const stackBegins = /^Traceback \(most recent call last\):$/;
/** How argparse and most other command lines refuse an argument. */
const refusal = /^(?:\S+: )?error: /i;

/** What was written without prefixes, empty lines, art and frames of stacks; if nothing is left, all of it. */
export function messagesOf(lines: readonly string[]): readonly string[] {
  const bare = lines.map((line) => line.replace(vllmPrefix, ""));
  const shown = bare.filter((line) => !isSetIn(line) && /[\p{L}\p{N}]/u.test(line));
  return shown.length > 0 ? shown : bare;
}

/**
 * The lines that say why a program ended: its exceptions without their stacks, the first one first, since those of vLLM's other processes
 * only report it; or what it refused; or else the last lines.
 */
export function tellingLines(lines: readonly string[]): readonly string[] {
  const bare = lines.map((line) => line.replace(vllmPrefix, ""));
  const errors = [...new Set(exceptionsOf(bare))];
  if (errors.length > 0) return errors.slice(0, mostErrors);
  const refused = bare.filter((line) => refusal.test(line));
  return refused.length > 0 ? refused.slice(-mostErrors) : messagesOf(lines).slice(-mostLines);
}

function exceptionsOf(lines: readonly string[]): readonly string[] {
  const found: string[] = [];
  let inStack = false;
  for (const [index, line] of lines.entries()) {
    if (stackBegins.test(line)) inStack = true;
    else if (inStack && !isSetIn(line)) {
      inStack = false;
      if (exception.test(line)) found.push(messageAt(lines, index));
    }
  }
  return found;
}

/** A message and its following lines, which are indented. */
function messageAt(lines: readonly string[], index: number): string {
  const more = lines.slice(index + 1, index + mostMessageLines);
  const end = more.findIndex((line) => !isSetIn(line));
  return [lines[index] ?? "", ...(end === -1 ? more : more.slice(0, end))].map((line) => line.trim()).join(" ");
}
