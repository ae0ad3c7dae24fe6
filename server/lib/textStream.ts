/** Texts as the body of a response, written as they are read. A client that disconnects ends the reading. */
export function textStream(texts: Iterable<string>): ReadableStream<Uint8Array> {
  const rest = texts[Symbol.iterator]();
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull(controller) {
      const next = rest.next();
      if (next.done) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    cancel() {
      rest.return?.();
    },
  });
}
