export const gatewayArgs: readonly string[];
