import type { ApiError } from "./apiError";

/** The memory for the bodies of all open requests together, and for the answers that runs of workflows keep: each is bounded, and so are connections and queues, but not their product. */
export class BodyRoom {
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Takes room for more bytes; false, and none is taken, where there is not as much. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#mostBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  leave(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** One body's part of the room. */
export class BodyPlace {
  readonly #room: BodyRoom;
  #bytes = 0;
  #left = false;

  constructor(room: BodyRoom) {
    this.#room = room;
  }

  /** False where there is no room for as many bytes more, and once it was left. */
  grow(bytes: number): boolean {
    if (this.#left || !this.#room.take(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** The body is needed no more. */
  leave(): void {
    this.#left = true;
    this.#room.leave(this.#bytes);
    this.#bytes = 0;
  }
}

export const noBodyRoom: ApiError = {
  status: 503,
  message: "The bodies of other requests take all the room the gateway has for them.",
  type: "server_error",
  code: "no_room",
};

export function bodyTooLarge(mostBytes: number): ApiError {
  const message = `The body is longer than the ${mostBytes} bytes this gateway takes.`;
  return { status: 413, message, type: "invalid_request_error", code: "body_too_large" };
}
