/** Codes of a disk that takes nothing more. */
const DISK_CODES = /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY)|ENOSPC|EDQUOT)/;

/** Why a batch cannot go on, in sentences with the way out. Of an error nothing but its name: what it says may be of a prompt. */
export function pauseReason(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  const known = String(code ?? name ?? "unknown");
  const wayOut = DISK_CODES.test(known)
    ? "Its disk may be full: resume when it can write again."
    : "Resume to try again, or stop the batch.";
  return `The studio stopped (${known}). ${wayOut}`;
}
