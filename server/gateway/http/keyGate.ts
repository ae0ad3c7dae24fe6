import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { clientAddress } from "./clientAddress";
import type { GatewayLimits } from "./limits";
import { WrongKeys } from "./wrongKeys";

/** Answers that are held at once; further ones go out at once, and their connections are closed. */
const mostHeld = 1000;

/** Admits requests by their keys, and makes those who guess keys wait. */
export class KeyGate {
  readonly #wrongKeys = new WrongKeys();
  readonly #heldMs: number;
  #held = 0;

  constructor({ wrongKeySeconds }: Pick<GatewayLimits, "wrongKeySeconds">) {
    this.#heldMs = wrongKeySeconds * 1000;
  }

  /**
   * Counts a request with a key.
   * @param key the name of the right key; null if the key is wrong or missing.
   * @returns the seconds that its sender must wait; 0 if it may be answered by its key.
   */
  waitSeconds({ socket }: IncomingMessage, key: string | null): number {
    const address = clientAddress(socket.remoteAddress);
    const nowMs = performance.now();
    return key === null ? this.#wrongKeys.wrong(address, nowMs) : this.#wrongKeys.right(address, key, nowMs);
  }

  /** Sends a refusal later: a client that sends its next request after the answer can then send few. */
  hold(response: ServerResponse, refuse: (headers: OutgoingHttpHeaders) => void): void {
    if (this.#held >= mostHeld) {
      refuse({ connection: "close" });
      return;
    }
    this.#held += 1;
    const timer = setTimeout(() => refuse({}), this.#heldMs);
    response.once("close", () => {
      this.#held -= 1;
      clearTimeout(timer);
    });
  }
}
