/**
 * Headers that the studio's HTTP front sets on a request after it has removed what the sender wrote there: route handlers and pages see no
 * socket. Behind a trusted proxy they describe the proxy's client.
 */
export const verifiedHeaders = {
  /** IP address of the sender. */
  clientAddress: "x-weir-client-address",
  /** "1": the browser's connection is encrypted. */
  secure: "x-weir-secure",
} as const;

/** The IP address of whoever sent a request, for the audit. */
export const clientAddressOf = (headers: Headers): string => headers.get(verifiedHeaders.clientAddress) ?? "unknown";

/** Whether the browser's connection is encrypted, so that cookies are marked `Secure`. */
export const isSecure = (headers: Headers): boolean => headers.get(verifiedHeaders.secure) === "1";
