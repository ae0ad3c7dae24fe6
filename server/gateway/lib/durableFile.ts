import { mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Replaces a file that only this user may read. Durable when it returns: a crash at any moment leaves the old file or the new one, whole.
 */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const directory = dirname(path);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const written = `${path}.new`;
  const file = await open(written, "w", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(written, path);
  const parent = await open(directory, "r");
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
}

/** Whether a file could not be read because it does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
