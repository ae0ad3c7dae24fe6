import type { JsonExcess, JsonLimits } from "@/server/contracts/http/jsonScan";
import type { ApiError } from "./apiError";
import { bodyMemoryExhausted } from "./bodyMemoryBudget";
import type { BodyRead } from "./readBody";

/** A body that was not read, whose sender still waits for an answer. */
type Unread = Exclude<BodyRead, { readonly kind: "body" | "ended" | "cut-off" }>;

interface Allowed {
  readonly mostBytes: number;
  readonly json?: JsonLimits;
}

/** The error for a body that was not read. */
export function bodyRefusal(read: Unread, { mostBytes, json }: Allowed): ApiError {
  const type = "invalid_request_error";
  switch (read.kind) {
    case "too-large":
      return { status: 413, message: `The body is longer than ${mostBytes} bytes, the limit here.`, type, code: "body_too_large" };
    case "bomb":
      return { status: 413, message: "The body decompresses to more than 100 times its size.", type, code: "body_too_large" };
    case "too-complex":
      return excesses[read.excess](json?.[read.excess] ?? 0);
    case "unknown-encoding":
      return {
        status: 415,
        message: "The content-encoding is not read here: send the body as gzip, as deflate or not compressed.",
        type,
        code: "unsupported_encoding",
      };
    case "undecodable":
      return { status: 400, message: "The body is not what its content-encoding says.", type, code: "invalid_encoding" };
    case "no-room":
      return bodyMemoryExhausted;
  }
}

const excesses: Readonly<Record<JsonExcess, (most: number) => ApiError>> = {
  depth: (most) => ({
    status: 400,
    message: `The body nests lists and objects more than ${most} deep, the limit here.`,
    type: "invalid_request_error",
    code: "json_too_deep",
  }),
  nodes: (most) => tooMany(`The body has more than ${most} lists, objects and texts, the limit here.`),
  commas: (most) => tooMany(`The body has more than ${most} values, the limit here.`),
};

const tooMany = (message: string): ApiError => ({ status: 413, message, type: "invalid_request_error", code: "json_too_large" });
