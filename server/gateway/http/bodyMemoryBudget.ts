import type { ApiError } from "./apiError";

/**
 * The memory budget for the bodies of all open requests and for the answers that workflow runs hold. Each body, connection count and queue
 * is bounded, but not their product.
 */
export class BodyMemoryBudget {
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Reserves bytes; returns false and reserves nothing if fewer are free. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#mostBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  leave(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** The bytes that one body has reserved. */
export class BodyReservation {
  readonly #room: BodyMemoryBudget;
  #bytes = 0;
  #left = false;

  constructor(room: BodyMemoryBudget) {
    this.#room = room;
  }

  /** Reserves more bytes; false if the budget is used up or the reservation was released. */
  grow(bytes: number): boolean {
    if (this.#left || !this.#room.take(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Releases the bytes when the body is no longer needed. */
  leave(): void {
    this.#left = true;
    this.#room.leave(this.#bytes);
    this.#bytes = 0;
  }
}

export const bodyMemoryExhausted: ApiError = {
  status: 503,
  message: "The memory for request bodies is full.",
  type: "server_error",
  code: "no_room",
};
