import { createServer } from "node:net";

const firstPort = 4_700;
const lastPort = 65_535;

/** Ports for a gateway of the studio: the first two from 4700 on that are free and not assigned. Throws if there are none. */
export async function freeGatewayPorts(given: ReadonlySet<number>): Promise<{ readonly port: number; readonly adminPort: number }> {
  const free: number[] = [];
  for (let port = firstPort; port <= lastPort; port += 1) {
    if (given.has(port) || !(await isFree(port))) continue;
    free.push(port);
    const [data, admin] = free;
    if (data !== undefined && admin !== undefined) return { port: data, adminPort: admin };
  }
  throw new Error("No two ports from 4700 up are free.");
}

/** Whether a gateway that does not run could be started on its previous ports. */
export const arePortsFree = async ({ port, adminPort }: { readonly port: number; readonly adminPort: number }): Promise<boolean> =>
  (await isFree(port)) && (await isFree(adminPort));

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
