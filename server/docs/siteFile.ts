import { readFile } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { sitePolicy } from "./sitePolicy";

const html = "text/html; charset=utf-8";

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": html,
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** A file of the built site, ready to be answered. */
export interface SiteFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  /** Its name holds a digest of its content. */
  readonly immutable: boolean;
  /** Content security policy of a page; null: it is no page. */
  readonly policy: string | null;
}

/**
 * Finds the file of a path of the site: a page by its clean address (`start/ten-minutes`), the front page by an empty path, another file by
 * its name. Null if the site has no such file, and for every path that leads out of its folder.
 */
export async function findSiteFile(folder: string, segments: readonly string[]): Promise<SiteFile | null> {
  if (segments.some((segment) => segment === ".." || segment === "" || /[\\/\0]/.test(segment))) return null;
  const path = segments.length === 0 ? "index.html" : segments.join(sep);
  const extension = extname(path);
  const known = contentTypes[extension];
  const body = await read(join(folder, known === undefined ? `${path}.html` : path));
  if (body === null) return null;
  const contentType = known ?? html;
  const policy = contentType === html ? sitePolicy(new TextDecoder().decode(body)) : null;
  return { body, contentType, immutable: segments[0] === "assets", policy };
}

async function read(file: string): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    return new Uint8Array(await readFile(file));
  } catch {
    return null;
  }
}
