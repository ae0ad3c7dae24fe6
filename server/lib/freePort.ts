import { createServer } from "node:net";

/** The first port from `from` to `to` on which nothing listens and that is not in `taken`; null if there is none. */
export async function freePort(
  { from, to }: { readonly from: number; readonly to: number },
  taken: ReadonlySet<number>,
): Promise<number | null> {
  for (let port = from; port <= to; port += 1) if (!taken.has(port) && (await isFree(port))) return port;
  return null;
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    // Every address: engines may listen on more than the loopback one.
    probe.listen(port, () => probe.close(() => resolve(true)));
  });
