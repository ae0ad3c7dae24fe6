import type { ServerResponse } from "node:http";
import type { Flow } from "./engineCall";

/** Writes a stream at its client's reading speed: pauses the engine meanwhile, and disconnects a client that reads nothing for too long. */
export class StreamWriter {
  readonly #response: ServerResponse;
  readonly #stallMs: number;
  #held: Flow | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, { stallSeconds }: { readonly stallSeconds: number }) {
    this.#response = response;
    this.#stallMs = stallSeconds * 1000;
    response.on("drain", () => {
      clearTimeout(this.#timer);
      this.#held?.resume();
      this.#held = null;
    });
    response.once("close", () => clearTimeout(this.#timer));
  }

  write(chunk: Buffer, flow: Flow): void {
    if (this.#response.write(chunk) || this.#held !== null) return;
    flow.pause();
    this.#held = flow;
    this.#timer = setTimeout(() => this.#response.destroy(), this.#stallMs);
  }
}
