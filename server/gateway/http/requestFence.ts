import type { IncomingHttpHeaders } from "node:http";
import { type FenceRefusal, fenceRefusal } from "@/server/contracts/http/browserFence";
import type { ApiError } from "./apiError";
import { shownName } from "./clientNames";

/** Types of bodies; a page of another origin cannot send one without being asked first, and the gateway answers no such question. */
const bodyTypes: ReadonlySet<string> = new Set(["application/json", "application/octet-stream"]);

/** Why a request is not read, whoever sends it; null if it is. */
export function requestRefusal(headers: IncomingHttpHeaders, hosts: ReadonlySet<string>): ApiError | null {
  const refusal = fenceRefusal(headers, hosts);
  if (refusal !== null) return fenceErrors[refusal](headers);
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return hasBody && !bodyTypes.has(type) ? wrongType : null;
}

const fenceErrors: Readonly<Record<FenceRefusal, (headers: IncomingHttpHeaders) => ApiError>> = {
  "unknown-host": ({ host }) => ({
    status: 421,
    message: `The gateway is not known as ${JSON.stringify(shownName(host ?? ""))}: use its address, or name the host in WEIR_GATEWAY_HOSTS.`,
    type: "invalid_request_error",
    code: "unknown_host",
  }),
  "other-origin": () => ({
    status: 403,
    message: "The gateway takes no requests that a browser makes for a page of another origin.",
    type: "invalid_request_error",
    code: "other_origin",
  }),
};

const wrongType: ApiError = {
  status: 415,
  message: "The body must be JSON, with the header content-type: application/json.",
  type: "invalid_request_error",
  code: "unsupported_media_type",
};
