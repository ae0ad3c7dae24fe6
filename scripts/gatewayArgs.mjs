/**
 * Options of Node for a gateway. Requests in flight survive every collection of the young generation and are copied: in one of 32 MB, twice
 * Node's own size, collections are half as frequent.
 */
export const gatewayArgs = ["--max-semi-space-size=32"];
