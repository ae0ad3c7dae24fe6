/** The meaning of a command's exit code, the same for all commands. */
export const EXIT = { done: 0, failed: 1, badInput: 2, infeasible: 3 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command that could not do its work; `weir.ts` prints the message on stderr. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly code: ExitCode = EXIT.badInput,
  ) {
    super(message);
  }
}

/**
 * Ends a command with a reason and an exit code.
 * @throws Refusal
 */
export function refuse(message: string, code?: ExitCode): never {
  throw new Refusal(message, code);
}

type Reading = { readonly ok: true } | { readonly ok: false; readonly message: string };

/**
 * The value that was read.
 * @throws Refusal with the sentence that says why it could not be.
 */
export function must<Read extends Reading>(read: Read): Extract<Read, { readonly ok: true }> {
  return read.ok ? (read as Extract<Read, { readonly ok: true }>) : refuse(read.message);
}
