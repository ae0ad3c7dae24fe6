/** What a command's exit code means, the same for all commands. */
export const EXIT = { done: 0, failed: 1, badInput: 2, infeasible: 3 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Says why a command ends without doing its work, on stderr, and gives its exit code. */
export function refuse(message: string, code: ExitCode = EXIT.badInput): ExitCode {
  process.stderr.write(`${message}\n`);
  return code;
}
