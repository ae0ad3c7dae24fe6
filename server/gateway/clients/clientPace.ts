import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ApiError } from "../http/apiError";
import { TokenBucket } from "../http/callers";
import { answerSocket } from "../http/dataServer";
import type { GatewayLimits } from "../http/limits";
import { AddressMemory } from "./addressMemory";
import { clientAddress } from "./clientAddress";
import { WrongKeys } from "./wrongKeys";

/** Bodies of one address that are refused at once, and so many a minute; further refusals come late. */
const promptRefusals = 20;
/** Answers that are held at once; further ones go out at once, and their connections are closed. */
const mostHeld = 1000;

type Send = (headers: OutgoingHttpHeaders) => void;

/** What one client may do before it is slowed down, so that it takes nothing from the others. */
export class ClientPace {
  readonly #limits: GatewayLimits;
  readonly #wrongKeys = new WrongKeys();
  readonly #refusals = new AddressMemory((nowMs) => new TokenBucket(promptRefusals, nowMs));
  #held = 0;

  constructor(limits: GatewayLimits) {
    this.#limits = limits;
  }

  /**
   * Counts a request with a key.
   * @param key the name of the right key; null if the key is wrong or missing.
   * @returns the seconds that its sender must wait; 0 if it may be answered by its key.
   */
  keyWaitSeconds({ socket }: IncomingMessage, key: string | null): number {
    const address = clientAddress(socket.remoteAddress);
    const nowMs = performance.now();
    return key === null ? this.#wrongKeys.wrong(address, nowMs) : this.#wrongKeys.right(address, key, nowMs);
  }

  /** Refuses a body that no client has reason to send: at once, or later if the address has sent many. */
  refuseBody({ socket }: IncomingMessage, response: ServerResponse, send: Send): void {
    const nowMs = performance.now();
    const isPrompt = this.#refusals.of(clientAddress(socket.remoteAddress).name, nowMs).take(nowMs) === 0;
    if (isPrompt) send({});
    else this.hold(response, send);
  }

  /** Calls `send` later, if the client is still there: one that sends its next request after the answer can then send few. */
  hold(response: ServerResponse, send: Send): void {
    if (this.#held >= mostHeld) {
      send({ connection: "close" });
      return;
    }
    this.#held += 1;
    const timer = setTimeout(() => send({}), this.#limits.heldAnswerSeconds * 1000);
    response.once("close", () => {
      this.#held -= 1;
      clearTimeout(timer);
    });
  }

  /** Refuses connections of an address that has many, except of one that may be a proxy. */
  boundConnections(server: Server): void {
    const most = this.#limits.connectionsPerAddress;
    const open = new Map<string, number>();
    server.on("connection", (socket: Socket) => {
      const { name, isShared } = clientAddress(socket.remoteAddress);
      if (isShared) return;
      const count = (open.get(name) ?? 0) + 1;
      open.set(name, count);
      socket.once("close", () => {
        const left = (open.get(name) ?? 1) - 1;
        if (left === 0) open.delete(name);
        else open.set(name, left);
      });
      if (count > most) answerSocket(socket, tooManyConnections(most), { "retry-after": "1" }).once("finish", () => socket.destroy());
    });
  }
}

function tooManyConnections(most: number): ApiError {
  const message = `${most} connections of this address are open, the limit for one.`;
  return { status: 429, message, type: "rate_limit_error", code: "too_many_connections" };
}
