import type { IncomingMessage } from "node:http";

export function pathOf({ url }: IncomingMessage): string {
  return (url ?? "/").split("?", 1)[0] ?? "/";
}

/** What stands behind the last slash. */
export function pathEnd(request: IncomingMessage): string {
  const path = pathOf(request);
  return path.slice(path.lastIndexOf("/") + 1);
}
