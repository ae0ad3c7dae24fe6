import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { AddressMemory } from "./addressMemory";
import { TokenBucket } from "./callers";
import { clientAddress } from "./clientAddress";
import type { HeldAnswers } from "./heldAnswers";

/** Bodies of one address that are refused at once, and so many a minute; further refusals come late. */
const promptPerMinute = 20;

/** Slows down who sends bodies that are refused for their size or structure, again and again. */
export class HostileBodies {
  readonly #held: HeldAnswers;
  readonly #addresses = new AddressMemory((nowMs) => new TokenBucket(promptPerMinute, nowMs));

  constructor(held: HeldAnswers) {
    this.#held = held;
  }

  /** Calls `send` at once, or later if the address has sent many such bodies; the rest of the body is not read before. */
  answer({ socket }: IncomingMessage, response: ServerResponse, send: (headers: OutgoingHttpHeaders) => void): void {
    const nowMs = performance.now();
    const isPrompt = this.#addresses.of(clientAddress(socket.remoteAddress).name, nowMs).take(nowMs) === 0;
    if (isPrompt) send({});
    else this.#held.hold(response, send);
  }
}
