import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import type { JsonLimits } from "@/server/contracts/http/jsonScan";
import { type ApiError, badRequest } from "./apiError";
import { bodyRefusal } from "./bodyRefusal";
import { parseJson } from "./parseJson";
import { readBody } from "./readBody";

/** A configuration of ten thousand replicas has two hundred thousand nodes. */
const adminJson: JsonLimits = { depth: 128, nodes: 1_000_000, commas: 2_000_000 };

/** A document with the JSON value it was parsed from, or why there is none. */
export type ReadDocument<T> = { readonly document: T; readonly raw: unknown } | { readonly error: ApiError };

/** Reads a body of the given shape, or returns an error that states the problem in a sentence; null if the client disconnected. */
export async function readDocument<T>(request: IncomingMessage, schema: z.ZodType<T>, limitBytes: number): Promise<ReadDocument<T> | null> {
  const allowed = { mostBytes: limitBytes, json: adminJson };
  const read = await readBody(request, allowed);
  if (read.kind === "ended" || read.kind === "cut-off") return null;
  if (read.kind !== "body") return { error: bodyRefusal(read, allowed) };
  const parsed = await parseJson(read.bytes);
  return "error" in parsed ? parsed : documentOf(parsed.value, schema);
}

/** Reads a body of any bytes, or returns the error; null if the client disconnected. */
export async function readBytes(request: IncomingMessage, mostBytes: number): Promise<Buffer | ApiError | null> {
  const read = await readBody(request, { mostBytes });
  if (read.kind === "ended" || read.kind === "cut-off") return null;
  return read.kind === "body" ? read.bytes : bodyRefusal(read, { mostBytes });
}

/** A value as a document of the given shape, or an error that states the problem in a sentence. */
export function documentOf<T>(value: unknown, schema: z.ZodType<T>): ReadDocument<T> {
  const parsed = schema.safeParse(value);
  return parsed.success ? { document: parsed.data, raw: value } : { error: badRequest(sentenceOf(parsed.error)) };
}

/** The first problem as a sentence. */
function sentenceOf({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join(".") ?? "";
  const what = issue?.message ?? "of the wrong shape";
  return path === "" ? `The body is wrong: ${what}.` : `\`${path}\` is wrong: ${what}.`;
}
