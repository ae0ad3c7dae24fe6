import { parsedOr } from "@/server/lib/parsedOr";
import { isRecord } from "@/solver/collections/isRecord";

/** An error of the chat endpoint, its own or an engine's. */
export interface ChatError {
  /** HTTP status; null for one inside of a stream. */
  readonly status: number | null;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** Reads the body of an error, or its event, in the form that the gateway gives to all. Text that is not JSON is the message itself. */
export function chatErrorOf(text: string, status: number | null): ChatError {
  const document = parsedOr(text, undefined);
  const { message, type, param, code } = isRecord(document) && isRecord(document.error) ? document.error : {};
  return {
    status,
    message: typeof message === "string" ? message : text,
    type: typeof type === "string" ? type : "server_error",
    param: typeof param === "string" ? param : null,
    code: typeof code === "string" || typeof code === "number" ? String(code) : null,
  };
}

/** The error for an engine's answer that has no form in the client's API. */
export const unreadable = (message: string): ChatError => ({
  status: 502,
  message,
  type: "server_error",
  param: null,
  code: "answer_not_carried",
});

export const isChatError = (value: object): value is ChatError => isRecord(value) && "message" in value && "status" in value;
