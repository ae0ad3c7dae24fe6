import type { Server } from "node:http";
import { Server as NetServer } from "node:net";
import type { Inherited, LateEffect, ToParent, ToProcess } from "./messages";

/** Interval at which a process that leaves checks whether its last connection has ended. */
const lookMs = 50;

/** What a gateway does for its succession. */
export interface Successor {
  /** Gives its state up: stores it, changes nothing of it any more, and passes on what it counts from then on. It goes on serving. */
  handOver(onLate: (effect: LateEffect) => void): Promise<Inherited>;
  /** Stops listening; resolves when its connections have ended. */
  leave(): Promise<void>;
  /** Counts what the process before it did late. */
  take(effect: LateEffect): void;
}

/**
 * Starts a gateway when the parent of this process says so, and follows the parent then.
 * @param end called when the gateway has left its ports and its last connection has ended.
 */
export function followParent<Started extends Successor>(
  start: (inherited: Inherited | null) => Promise<Started>,
  end: (gateway: Started) => void,
): Promise<Started> {
  const say = (message: ToParent): void => void process.send?.(message);
  return new Promise((resolve, reject) => {
    let started: Started | null = null;
    process.on("message", (message: ToProcess) => {
      if (message.kind === "begin") {
        start(message.inherited).then((gateway) => {
          started = gateway;
          say({ kind: "up" });
          resolve(gateway);
        }, reject);
        return;
      }
      const gateway = started;
      if (gateway === null) return;
      if (message.kind === "late") gateway.take(message.effect);
      else if (message.kind === "leave") void gateway.leave().then(() => end(gateway));
      else void gateway.handOver((effect) => say({ kind: "late", effect })).then((inherited) => say({ kind: "handed-over", inherited }));
    });
    say({ kind: "ready" });
  });
}

/**
 * Stops listening on the ports, which another process has as well, and resolves when all connections have ended. Idle ones are left to their
 * clients and to their idle time: a client may be sending a request on one at this moment.
 */
export async function leavePorts(servers: readonly Server[], withinSeconds: number): Promise<void> {
  // The one of HTTP servers also cuts idle connections.
  for (const server of servers) NetServer.prototype.close.call(server);
  const connections = (server: Server): Promise<number> =>
    new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
  const deadlineMs = performance.now() + withinSeconds * 1000;
  while (performance.now() < deadlineMs) {
    const open = await Promise.all(servers.map(connections));
    if (open.every((count) => count === 0)) return;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}
