import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { type ApiError, badRequest } from "./apiError";
import { readBody } from "./readBody";

/** A document with the JSON value it was parsed from, or why there is none. */
export type ReadDocument<T> = { readonly document: T; readonly raw: unknown } | { readonly error: ApiError };

/** Reads a body of the given shape, or returns an error that states the problem in a sentence; null if the client disconnected. */
export async function readDocument<T>(request: IncomingMessage, schema: z.ZodType<T>, limitBytes: number): Promise<ReadDocument<T> | null> {
  const read = await readBody(request, { mostBytes: limitBytes });
  if (read.kind === "too-large") {
    const message = `The body may have at most ${limitBytes} bytes.`;
    return { error: { status: 413, message, type: "invalid_request_error", code: "body_too_large" } };
  }
  return read.kind === "body" ? parsedDocument(read.bytes, schema) : null;
}

/** Parses a body as a document of the given shape, or returns an error that states the problem in a sentence. */
export function parsedDocument<T>(bytes: Buffer, schema: z.ZodType<T>): ReadDocument<T> {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString("utf8"));
  } catch {
    return { error: badRequest("The body is not valid JSON.") };
  }
  const parsed = schema.safeParse(body);
  return parsed.success ? { document: parsed.data, raw: body } : { error: badRequest(sentenceOf(parsed.error)) };
}

/** The first problem as a sentence. */
function sentenceOf({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join(".") ?? "";
  const what = issue?.message ?? "of the wrong shape";
  return path === "" ? `The body is wrong: ${what}.` : `\`${path}\` is wrong: ${what}.`;
}
