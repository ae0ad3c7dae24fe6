import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { reasonOf } from "./reasonOf";

const PRIVATE = 0o700;
/** Rights of the group and of all others. */
const OTHERS = 0o077;
/** On a folder that several users share, such as /tmp. */
const STICKY = 0o1000;

/**
 * Makes a folder for this user alone, with its parents, or takes the rights of others away from one that is there.
 *
 * @returns a sentence about what was repaired or could not be; null: nothing to say.
 * @throws Error with one sentence for a folder that is not the studio's own: the root, or one that users share.
 */
export function ensurePrivateFolder(folder: string): string | null {
  if (!existsSync(folder)) {
    mkdirSync(dirname(folder), { recursive: true });
    mkdirSync(folder, { mode: PRIVATE });
    return null;
  }
  const { mode } = statSync(folder);
  if ((mode & OTHERS) === 0) return null;
  if (resolve(folder) === "/" || (mode & STICKY) !== 0)
    throw new Error(`${folder} is shared with other users: set WEIR_STATE_DIR to a folder of its own.`);
  const had = (mode & 0o777).toString(8);
  try {
    chmodSync(folder, PRIVATE);
    return `${folder} was open to other users of this machine (mode ${had}); its mode is now 700.`;
  } catch (problem) {
    return `${folder} is open to other users of this machine (mode ${had}) and cannot be closed: ${reasonOf(problem)}.`;
  }
}
