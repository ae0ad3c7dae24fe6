import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens on loopback only, at a free port if none is given. */
export const listen = (server: Server, port = 0): Promise<number> =>
  new Promise((done) => server.listen(port, "127.0.0.1", () => done((server.address() as AddressInfo).port)));

/** Closes a server and its connections. */
export const close = (server: Server): Promise<void> =>
  new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });

export async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
