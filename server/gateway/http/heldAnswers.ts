import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { GatewayLimits } from "./limits";

/** Answers that are held at once; further ones go out at once, and their connections are closed. */
const mostHeld = 1000;

/** Refusals that go out late: a client that sends its next request after the answer can then send few. */
export class HeldAnswers {
  readonly #heldMs: number;
  #held = 0;

  constructor({ heldAnswerSeconds }: Pick<GatewayLimits, "heldAnswerSeconds">) {
    this.#heldMs = heldAnswerSeconds * 1000;
  }

  /** Calls `send` later, if the client is still there. */
  hold(response: ServerResponse, send: (headers: OutgoingHttpHeaders) => void): void {
    if (this.#held >= mostHeld) {
      send({ connection: "close" });
      return;
    }
    this.#held += 1;
    const timer = setTimeout(() => send({}), this.#heldMs);
    response.once("close", () => {
      this.#held -= 1;
      clearTimeout(timer);
    });
  }
}
