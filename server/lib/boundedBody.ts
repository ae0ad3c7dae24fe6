import { type JsonLimits, JsonScan } from "@/server/contracts/http/jsonScan";

interface BodyLimits {
  readonly maxBytes: number;
  /** Structure of the JSON in it, counted while it arrives: what a parser would need long for is refused before it is whole. */
  readonly json: JsonLimits;
}

/**
 * Reads a body as text, and stops at once where it exceeds a limit.
 *
 * @returns null where it does
 */
export async function readBoundedText(body: ReadableStream<Uint8Array> | null, { maxBytes, json }: BodyLimits): Promise<string | null> {
  if (body === null) return "";
  const chunks: Uint8Array[] = [];
  const scan = new JsonScan(json);
  let bytes = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the stream.
    if (bytes > maxBytes || scan.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)) !== null) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
